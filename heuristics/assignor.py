"""Assignor, Plan and Outcome, and how they travel to a child process and back."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter
from typing import TYPE_CHECKING, Literal, TypeAlias

from groups import Assignment, Failed, Refused
from groups.errors import AssayError, in_one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from groups import Group
    from groups.arrays import Int32
    from heuristics.child import Child


@dataclass(frozen=True)
class Plan:
    """What an assignor makes of a group.

    Attributes
    ----------
    assignment : the final assignment; it need not be valid
    rounds : rebalances until nothing changes any more, at least 1
    revoked : partitions taken from a member that still owned them, over all rounds
    ownerless : partition-rounds without an owner: each partition that somebody reads counts once
        for each round that leaves it without an owner
    seconds : time inside the assignor, over all rounds; None if only the whole call was measured
    """

    assignment: Assignment
    rounds: int = 1
    revoked: int = 0
    ownerless: int = 0
    seconds: float | None = None


def nothing_missing() -> str | None:
    """Return None, as an assignor of this package is always available."""
    return None


def nothing_to_prepare() -> None:
    """Do nothing, as an assignor of this package needs no start."""


@dataclass(frozen=True)
class Assignor:
    """One way to distribute the partitions of a group.

    Attributes
    ----------
    name : as users write it
    kind : "written": implemented here from a KIP; "shipped": the code that people run; "own": the
        user's function; "probed": a client that joined a probe of this process
    source : one line that says where it comes from
    version : number of the KIP, or release of the code; None if there is none
    function : returns the plan of a group whose subscriptions are known; raises Refused if the
        assignor does not cover the group
    missing : returns why it cannot be called here; None if it can
    prepare : starts or imports what it needs, which may take longer than a call
    keeps_time : whether `function` takes the time limit as `seconds` and keeps it itself, because
        the call takes time that is not the assignor's
    balances : whether a "written" one promises balance over all topics and few moves
    """

    name: str
    kind: Literal["written", "shipped", "own", "probed"]
    source: str
    version: str | None
    function: Callable[..., Plan]
    missing: Callable[[], str | None] = nothing_missing
    prepare: Callable[[], object] = nothing_to_prepare
    keeps_time: bool = False
    balances: bool = True

    def __call__(self, group: Group) -> Plan:
        """Return its plan of a group, so that it can be used as a function."""
        made: Plan = self.function(group)
        return made


Status = Literal["planned", "refused", "failed", "timed-out", "unavailable"]
# An Outcome that travels back without its group: status, reason, seconds; owner, strays, and
# (rounds, revoked, ownerless).
Answer: TypeAlias = (
    "tuple[Status, str | None, float, Int32 | None, tuple[tuple[int, str, int], ...],"
    " tuple[int, int, int]]"
)


class TimedOut(Failed):
    """An assignor in another process did not answer in time.

    Parameters
    ----------
    seconds : time inside the assignor; None if only that of the whole call is known
    """

    def __init__(self, reason: str, seconds: float | None = None) -> None:
        super().__init__(reason)
        self.seconds = seconds


class Unavailable(AssayError):
    """An assignor in another process is no longer there."""


@dataclass(frozen=True)
class Outcome:
    """The result of an assignor on a group.

    Attributes
    ----------
    status : "planned", "refused" (does not cover the group), "failed" (broke down), "timed-out" or
        "unavailable" (cannot be called here)
    plan : its plan; None unless planned
    reason : why there is no plan; None if there is one
    seconds : time inside the assignor; the limit if that was reached
    """

    status: Status
    plan: Plan | None
    reason: str | None
    seconds: float


def attempt(function: Callable[[Group], Plan], group: Group) -> Outcome:
    """Call an assignor's function in this process; exceptions become outcomes."""
    started = perf_counter()
    try:
        made = function(group)
    except Refused as refusal:
        return Outcome("refused", None, str(refusal), perf_counter() - started)
    except Unavailable as absence:
        return Outcome("unavailable", None, str(absence), perf_counter() - started)
    except TimedOut as late:
        took = perf_counter() - started if late.seconds is None else late.seconds
        return Outcome("timed-out", None, str(late), took)
    except Failed as failure:
        return Outcome("failed", None, str(failure), perf_counter() - started)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        return Outcome("failed", None, reason, perf_counter() - started)
    seconds = perf_counter() - started if made.seconds is None else made.seconds
    return Outcome("planned", made, None, seconds)


PREPARE_SECONDS = 120.0


def start(child: Child, prepare: Callable[[], object]) -> str | None:
    """Start what an assignor needs, such as a JVM, in a child process; return why that failed."""
    reason = child.call(_prepare, prepare, seconds=PREPARE_SECONDS)
    return reason if reason is None or isinstance(reason, str) else reason.reason


def _prepare(prepare: Callable[[], object]) -> str | None:
    try:
        prepare()
    except Exception as error:
        return str(error) if isinstance(error, AssayError) else in_one_line(error)
    return None


# Several assignors usually get the same groups, so a child keeps unpickled groups; large ones not.
GROUPS_KEPT = 2048
MOST_BYTES_KEPT = 1 << 14


def packed(group: Group) -> bytes:
    """Return a pickled group.

    Raises
    ------
    Exception
        If a part of it cannot be pickled.
    """
    return pickle.dumps(group, pickle.HIGHEST_PROTOCOL)


def answer(function: Callable[[Group], Plan], group: bytes) -> Answer:
    """Call an assignor's function on a pickled group; return the outcome without its group."""
    outcome = attempt(function, _kept(group) if len(group) <= MOST_BYTES_KEPT else _read(group))
    if outcome.plan is None:
        return outcome.status, outcome.reason, outcome.seconds, None, (), (1, 0, 0)
    plan, assignment = outcome.plan, outcome.plan.assignment
    counts = (plan.rounds, plan.revoked, plan.ownerless)
    return "planned", None, outcome.seconds, assignment.owner, assignment.strays, counts


def outcome_of(group: Group, answered: Answer) -> Outcome:
    """Return an answer of :func:`answer` as the outcome of its group."""
    status, reason, seconds, owner, strays, counts = answered
    if owner is None:
        return Outcome(status, None, reason, seconds)
    return Outcome(status, Plan(Assignment(group, owner, strays), *counts), None, seconds)


def _read(group: bytes) -> Group:
    found: Group = pickle.loads(group)
    return found


_kept = lru_cache(GROUPS_KEPT)(_read)
