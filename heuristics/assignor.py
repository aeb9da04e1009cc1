"""Assignor, Plan and Outcome: who distributes the partitions, what comes out, how it travels."""

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
    assignment : the final assignment, as it is: it need not be valid
    rounds : rebalances until nothing changes any more, at least 1
    revoked : partitions taken from a member that still owned them, over all rounds
    ownerless : partition-rounds without an owner: each partition that somebody reads counts once
        for each round that leaves it with nobody
    seconds : time inside the assignor, over all rounds, where it was measured closer than around
        the whole call; None where it was not
    """

    assignment: Assignment
    rounds: int = 1
    revoked: int = 0
    ownerless: int = 0
    seconds: float | None = None


def nothing_missing() -> str | None:
    """Return None: what is part of this package is always there."""
    return None


def nothing_to_prepare() -> None:
    """Do nothing: what is part of this package needs no start."""


@dataclass(frozen=True)
class Assignor:
    """One way to distribute the partitions of a group.

    Attributes
    ----------
    name : as users write it
    kind : "written": from a KIP alone; "shipped": the code that people run; "own": a function of
        the user's; "probed": a client that joined a probe, asked from this process
    source : one line that says where it comes from
    version : number of the KIP, or release of the code; None where there is none
    function : makes the plan of a group whose subscriptions are known; raises Refused where the
        assignor does not cover the group
    missing : says why it cannot be called here; None where it can
    prepare : starts what it needs
    keeps_time : whether `function` takes the time limit as `seconds`, and keeps it by itself:
        the time of the whole call is not the assignor's
    balances : whether it promises balance over all topics, and few moves; of those as written
    """

    name: str
    kind: Literal["written", "shipped", "own", "probed"]
    source: str
    version: str | None
    function: Callable[..., Plan]
    missing: Callable[[], str | None] = nothing_missing
    prepare: Callable[[], None] = nothing_to_prepare
    keeps_time: bool = False
    balances: bool = True

    def __call__(self, group: Group) -> Plan:
        """Return what it makes of a group, so that it can stand where a function does."""
        made: Plan = self.function(group)
        return made


Status = Literal["planned", "refused", "failed", "timed-out", "unavailable"]
# An Outcome whose plan comes without its group: status, reason, seconds; owner, strays, and the
# counts of a Plan.
Answer: TypeAlias = (
    "tuple[Status, str | None, float, Int32 | None, tuple[tuple[int, str, int], ...],"
    " tuple[int, int, int]]"
)


class TimedOut(Failed):
    """An assignor that is asked elsewhere did not come back in time.

    Parameters
    ----------
    seconds : of its time; None where only that of the whole call is known
    """

    def __init__(self, reason: str, seconds: float | None = None) -> None:
        super().__init__(reason)
        self.seconds = seconds


class Unavailable(AssayError):
    """An assignor that is asked elsewhere is not there any more."""


@dataclass(frozen=True)
class Outcome:
    """How an assignor fared on a group.

    Attributes
    ----------
    status : "planned", "refused" (does not cover the group), "failed" (broke down), "timed-out" or
        "unavailable" (cannot be called here)
    plan : what it made of the group; None unless planned
    reason : why there is no plan; None where there is one
    seconds : time inside the assignor; the limit where that was reached
    """

    status: Status
    plan: Plan | None
    reason: str | None
    seconds: float


def attempt(function: Callable[[Group], Plan], group: Group) -> Outcome:
    """Call an assignor's function in this process, and take what becomes of it."""
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


def start(child: Child, prepare: Callable[[], None]) -> str | None:
    """Start what an assignor needs, such as a JVM, in a child process; return why that failed."""
    reason = child.call(_prepare, prepare, seconds=PREPARE_SECONDS)
    return reason if reason is None or isinstance(reason, str) else reason.reason


def _prepare(prepare: Callable[[], None]) -> str | None:
    try:
        prepare()
    except Exception as error:
        return str(error) if isinstance(error, AssayError) else in_one_line(error)
    return None


# The next assignor is mostly asked about the same groups; large ones are not worth their memory.
GROUPS_KEPT = 2048
MOST_BYTES_KEPT = 1 << 14


def packed(group: Group) -> bytes:
    """Return a group as it travels.

    Raises
    ------
    Exception
        Where a part of it cannot be pickled.
    """
    return pickle.dumps(group, pickle.HIGHEST_PROTOCOL)


def answer(function: Callable[[Group], Plan], group: bytes) -> Answer:
    """Call an assignor's function on a group that came, and return what goes back."""
    came = attempt(function, _kept(group) if len(group) <= MOST_BYTES_KEPT else _read(group))
    if came.plan is None:
        return came.status, came.reason, came.seconds, None, (), (1, 0, 0)
    made, assignment = came.plan, came.plan.assignment
    counts = (made.rounds, made.revoked, made.ownerless)
    return "planned", None, came.seconds, assignment.owner, assignment.strays, counts


def outcome_of(group: Group, came: Answer) -> Outcome:
    """Return what came back, as the outcome of its group."""
    status, reason, seconds, owner, strays, counts = came
    if owner is None:
        return Outcome(status, None, reason, seconds)
    return Outcome(status, Plan(Assignment(group, owner, strays), *counts), None, seconds)


def _read(group: bytes) -> Group:
    found: Group = pickle.loads(group)
    return found


_kept = lru_cache(GROUPS_KEPT)(_read)
