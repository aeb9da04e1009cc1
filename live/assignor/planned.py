"""The plan of a rebalance: the optimum, or what is given where there is none in time."""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from heapq import heapify, heappop, heapreplace
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

from groups.errors import Failed
from live.assignor.rebalance import LAST_GENERATION, Claim, Note, Rebalance, claim_after, packed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from live.assignor.rebalance import Joined, Plan

    Solver = Callable[[Rebalance], Plan]


T = TypeVar("T")
log = logging.getLogger(__name__)


def planned(rebalance: Rebalance, solver: Solver, *, time_limit: float) -> Plan:
    """Return a valid plan: what the solver finds, or the fallback and a line in the log.

    Parameters
    ----------
    time_limit : seconds for the solver; when they are up nobody waits for it any more
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
    """Return what a call returns within so many seconds.

    A call that takes longer goes on in a thread of its own and comes to nothing.

    Raises
    ------
    Failed
        Where the seconds are up.
    Exception
        Whatever the call raises.
    """
    came: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            came.append(call())
        except BaseException as error:
            failed.append(error)

    thread = Thread(target=run, name="assay-assignor", daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not came:
        raise Failed(f"no answer within {seconds:g} s")
    return came[0]


def optimum(rebalance: Rebalance, *, time_limit: float) -> Plan:
    """Return the plan with balanced loads and, of these, the fewest moves: proved, and checked.

    Raises
    ------
    AssayError
        Where the time is up, or the checker rejects the solver's answer.
    """
    from optimal.solve import solve

    solution = solve(rebalance.group(), "balance > stickiness", time_limit=time_limit)
    if solution.assignment is None:
        raise Failed(f"no answer within {time_limit:g} s")
    return rebalance.plan_of(solution.assignment)


Partition = tuple[str, int]
# Moves between pools may need several turns; no group needs to be served better than this here.
TURNS = 4


def fallback(rebalance: Rebalance) -> Plan:
    """Return a valid plan in which members keep what they own unless others have less.

    Where all members read the same topics, loads differ by at most one.
    """
    owner = owners(rebalance)
    loads = Counter(owner.values())
    pools = _pools(rebalance)
    for readers, pool in pools.items():
        _deal(readers, pool, owner, loads)
    for _ in range(TURNS):
        if not sum(_even_out(readers, pool, owner, loads) for readers, pool in pools.items()):
            break
    plan: Plan = {member: {} for member in rebalance.members}
    for (topic, number), member in sorted(owner.items()):
        plan[member].setdefault(topic, []).append(number)
    return plan


def owners(rebalance: Rebalance) -> dict[Partition, str]:
    """Return who validly owns which partitions, by their claims.

    The newest generation wins, two claims of one generation void each other, and a winner that
    does not read the topic any more owns nothing there.
    """
    newest: dict[Partition, int] = {}
    owner: dict[Partition, str | None] = {}
    exists = {topic: frozenset(numbers) for topic, numbers in rebalance.numbers.items()}
    for member, joined in rebalance.members.items():
        generation = joined.claim.generation
        for topic, numbers in joined.claim.owned.items():
            reader = member if topic in joined.topics else None
            for number in exists.get(topic, frozenset()).intersection(numbers):
                partition = (topic, number)
                if generation > newest.get(partition, -2):
                    newest[partition], owner[partition] = generation, reader
                elif generation == newest[partition]:
                    owner[partition] = None
    return {partition: member for partition, member in owner.items() if member is not None}


def _pools(rebalance: Rebalance) -> Mapping[tuple[str, ...], Sequence[Partition]]:
    """Return the partitions that the same members read, those with the fewest readers first."""
    readers: defaultdict[str, list[str]] = defaultdict(list)
    for member, joined in rebalance.members.items():
        for topic in joined.topics & rebalance.numbers.keys():
            readers[topic].append(member)
    pools: defaultdict[tuple[str, ...], list[Partition]] = defaultdict(list)
    for topic, numbers in rebalance.numbers.items():
        pools[tuple(readers[topic])] += [(topic, number) for number in numbers]
    return dict(sorted(pools.items(), key=lambda pool: (len(pool[0]), pool[0])))


def _deal(
    readers: Sequence[str],
    pool: Sequence[Partition],
    owner: dict[Partition, str],
    loads: Counter[str],
) -> None:
    """Give what nobody owns to the readers that have least."""
    queue = [(loads[member], member) for member in readers]
    heapify(queue)
    for partition in pool:
        if partition not in owner:
            load, member = queue[0]
            owner[partition] = member
            loads[member] = load + 1
            heapreplace(queue, (load + 1, member))


def _even_out(
    readers: Sequence[str],
    pool: Sequence[Partition],
    owner: dict[Partition, str],
    loads: Counter[str],
) -> int:
    """Move partitions from who has most to who has least; return how many moved."""
    held: defaultdict[str, list[Partition]] = defaultdict(list)
    for partition in pool:
        held[owner[partition]].append(partition)
    most = [(-loads[member], member) for member in held]
    least = [(loads[member], member) for member in readers]
    heapify(most)
    heapify(least)
    moved = 0
    while most and -most[0][0] - least[0][0] > 1:
        giver, taker = most[0][1], least[0][1]
        owner[held[giver].pop()] = taker
        moved += 1
        loads[giver] -= 1
        loads[taker] += 1
        heapreplace(least, (loads[taker], taker))
        if held[giver]:
            heapreplace(most, (-loads[giver], giver))
        else:
            heappop(most)
    return moved


# What a member gets: its topics, each with the numbers of its partitions, and user data.
Given = tuple[list[tuple[str, list[int]]], bytes]


@dataclass
class Memory:
    """What a consumer was given last, and what it knew if it led the last rebalance.

    Attributes
    ----------
    claim : what it was given last
    led : the topics of the plan that it made last; none where another member made the last one
    """

    claim: Claim = field(default_factory=Claim)
    led: frozenset[str] = frozenset()
    _has_led: bool = False

    def said(self, topics: Collection[str], *, holds: bool) -> bytes:
        """Return the user data with which the consumer joins.

        Parameters
        ----------
        holds : whether it goes on reading what it has (cooperative)
        """
        return packed(self.claim.about(topics, holds=holds))

    def given(self, partitions: Iterable[tuple[str, Iterable[int]]], user_data: object) -> None:
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
        """Return what each member gets, as the leader of the group.

        Parameters
        ----------
        numbers_of : as :meth:`live.assignor.rebalance.Rebalance.of` takes it
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
    """Begin to load modules, once in a process, in a thread of its own."""
    thread = Thread(target=_load, args=[modules], name="assay-warm-up", daemon=True)
    thread.start()
    return thread


def _load(modules: tuple[str, ...]) -> None:
    # What cannot be loaded is said by the plan that needs it.
    with suppress(ImportError):
        for module in modules:
            import_module(module)
