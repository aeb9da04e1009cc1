"""The plan of a rebalance: the optimum, or a fallback if there is none in time."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

from groups.errors import Failed
from live.assignor.rebalance import LAST_GENERATION, Claim, Note, Rebalance, claim_after, packed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from live.assignor.rebalance import Joined, Plan

    Solver = Callable[[Rebalance], Plan]


T = TypeVar("T")
log = logging.getLogger(__name__)


def planned(rebalance: Rebalance, solver: Solver, *, time_limit: float) -> Plan:
    """Return a valid plan: the solver's, or the fallback with a warning in the log.

    Parameters
    ----------
    time_limit : seconds to wait for the solver
    """
    try:
        plan = within(time_limit, partial(solver, rebalance))
        rebalance.require_valid(plan)
    except Exception as error:
        reason = reason_of(error)
        log.warning("no optimal assignment, a sticky and balanced one is given (%s)", reason)
        return fallback(rebalance)
    return plan


def reason_of(error: Exception) -> str:
    """Return the kind and the message of an exception, in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def within(seconds: float, call: Callable[[], T]) -> T:
    """Return the result of a call that takes at most so many seconds.

    A call that takes longer goes on in a background thread, and its result is dropped.

    Raises
    ------
    Failed
        If the time is up.
    Exception
        Whatever the call raises.
    """
    results: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:
            failed.append(error)

    thread = Thread(target=run, name="assay-assignor", daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not results:
        raise Failed(f"no answer within {seconds:g} s")
    return results[0]


def optimum(rebalance: Rebalance, *, time_limit: float) -> Plan:
    """Return the plan with balanced loads and, of these, the fewest moves: proved, and checked.

    Raises
    ------
    AssayError
        If the time is up, or the checker rejects the solver's answer.
    """
    from optimal.solve import solve

    solution = solve(rebalance.group(), "balance > stickiness", time_limit=time_limit)
    if solution.assignment is None:
        raise Failed(f"no answer within {time_limit:g} s")
    return rebalance.plan_of(solution.assignment)


def fallback(rebalance: Rebalance) -> Plan:
    """Return a valid plan in which members keep what they own unless others have less.

    If all members read the same topics, loads differ by at most one, with the fewest moves.
    Otherwise each partition moves at most once. The time is linear in the partitions.
    """
    from groups import Assignment
    from heuristics.written.kip54 import hand_out, reassign
    from heuristics.written.sticky_that_ends import even_out, reads_alike

    group = rebalance.group()
    owner = hand_out(group, group.owner)
    if reads_alike(group):
        even_out(group, owner)
    else:
        owner = reassign(group, owner)
    return rebalance.plan_of(Assignment(group, owner))


# A member's assignment: (topic, partition numbers) pairs, and user data.
Given = tuple[list[tuple[str, list[int]]], bytes]


@dataclass
class Memory:
    """A consumer's last assignment, and the topics it knew if it led the last rebalance.

    Attributes
    ----------
    claim : its last assignment
    led : topics of the last plan if this consumer made it; else empty
    """

    claim: Claim = field(default_factory=Claim)
    led: frozenset[str] = frozenset()
    _has_led: bool = False

    def user_data(self, topics: Collection[str], *, holds: bool) -> bytes:
        """Return the user data with which the consumer joins.

        Parameters
        ----------
        holds : whether it keeps its partitions while it joins (cooperative)
        """
        return packed(self.claim.about(topics, holds=holds))

    def remember(self, partitions: Iterable[tuple[str, Iterable[int]]], user_data: object) -> None:
        """Remember an assignment."""
        self.claim = claim_after(partitions, user_data)
        if not self._has_led:
            self.led = frozenset()
        self._has_led = False

    def lead(
        self,
        members: Mapping[str, Joined],
        numbers_of: Callable[[str], Collection[int] | None],
        solver: Solver,
        *,
        time_limit: float,
    ) -> dict[str, Given]:
        """Return each member's assignment, as the leader of the group.

        Parameters
        ----------
        numbers_of : as in :meth:`live.assignor.rebalance.Rebalance.of`
        time_limit : seconds for the solver
        """
        rebalance = Rebalance.of(members, numbers_of, gone=self.led)
        self.led, self._has_led = frozenset(rebalance.numbers), True
        plan = planned(rebalance, solver, time_limit=time_limit)
        now = rebalance.allowed_now(plan)
        note = partial(
            Note,
            generation=min(rebalance.generation + 1, LAST_GENERATION),
            unfinished=now != plan,
        )
        return {
            member: (
                sorted((topic, numbers) for topic, numbers in topics.items() if numbers),
                packed(note(member=member)),
            )
            for member, topics in now.items()
        }


@cache
def warm_up(modules: tuple[str, ...]) -> Thread:
    """Load modules in a background thread, once in a process."""
    thread = Thread(target=_load, args=[modules], name="assay-warm-up", daemon=True)
    thread.start()
    return thread


def _load(modules: tuple[str, ...]) -> None:
    # The plan that needs a missing module will fail with the reason.
    with suppress(ImportError):
        for module in modules:
            import_module(module)
