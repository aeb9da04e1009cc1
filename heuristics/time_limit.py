"""TimeLimit: assignors in a child process, which is killed when their time is up."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Literal

from groups import AssayError, Assignment, Failed, Refused
from heuristics import assignor_named
from heuristics.assignor import Plan
from heuristics.child import Child, Lost

if TYPE_CHECKING:
    from collections.abc import Callable

    from groups import Group
    from groups.group import Int32

PREPARE_SECONDS = 120.0


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

    status: Literal["planned", "refused", "failed", "timed-out", "unavailable"]
    plan: Plan | None
    reason: str | None
    seconds: float


class TimeLimit:
    """A child process in which assignors run, one after the other, for so many seconds each.

    Use it as a context manager and over many groups: see :class:`~heuristics.child.Child`.

    Parameters
    ----------
    seconds : time for each call, more than 0; enforced to about a tenth of a second
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._child = Child()
        self._prepared: set[str] = set()

    def __enter__(self) -> TimeLimit:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the child process; the next call starts a new one."""
        self._child.close()
        self._prepared.clear()

    def plan(self, group: Group, name: str) -> Outcome:
        """Run the assignor of that name on the group.

        What it needs to run, such as a JVM, starts before its time does.

        Raises
        ------
        BadInput
            Where no assignor has that name, or a member's subscription is unknown.
        """
        assignor = assignor_named(name)
        group.require_subscriptions()
        if assignor.kind == "shipped" and assignor.name not in self._prepared:
            reason = assignor.missing()
            if reason is not None:
                return Outcome("unavailable", None, reason, 0.0)
            lost = self._child.call(_prepare, assignor.prepare, seconds=PREPARE_SECONDS)
            if lost is not None:
                return Outcome("failed", None, f"it does not start: {_reason(lost)}", 0.0)
            self._prepared.add(assignor.name)
        return self.call(assignor.function, group)

    def call(self, function: Callable[[Group], Plan], group: Group) -> Outcome:
        """Run a function, which the child must be able to import, on the group."""
        answer = self._child.call(_answer, function, group, seconds=self.seconds)
        if isinstance(answer, Lost):
            self._prepared.clear()
            if answer.timed_out:
                return Outcome("timed-out", None, answer.reason, self.seconds)
            return Outcome("failed", None, answer.reason, 0.0)
        if answer.owner is None:
            return Outcome(answer.status, None, answer.reason, answer.seconds)
        assignment = Assignment(group, answer.owner, answer.strays)
        return Outcome("planned", Plan(assignment, *answer.counts), None, answer.seconds)


def limited(group: Group, name: str, seconds: float) -> Outcome:
    """Run the assignor of that name on one group, in a child process of its own.

    For many groups keep a :class:`TimeLimit`.

    Raises
    ------
    BadInput
        Where no assignor has that name, or a member's subscription is unknown.
    """
    with TimeLimit(seconds) as limit:
        return limit.plan(group, name)


@dataclass(frozen=True)
class _Answer:
    """What travels back: an Outcome whose plan comes without its group."""

    status: Literal["planned", "refused", "failed"]
    reason: str | None
    seconds: float
    owner: Int32 | None = None
    strays: tuple[tuple[int, str, int], ...] = ()
    counts: tuple[int, int, int] = (1, 0, 0)


def _prepare(prepare: Callable[[], None]) -> str | None:
    """Start what an assignor needs; return why that failed."""
    try:
        prepare()
    except Exception as error:
        return str(error) if isinstance(error, AssayError) else f"{type(error).__name__}: {error}"
    return None


def _reason(lost: str | Lost) -> str:
    return lost.reason if isinstance(lost, Lost) else lost


def _answer(function: Callable[[Group], Plan], group: Group) -> _Answer:
    started = perf_counter()
    try:
        made = function(group)
    except Refused as refusal:
        return _Answer("refused", str(refusal), perf_counter() - started)
    except Failed as failure:
        return _Answer("failed", str(failure), perf_counter() - started)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        return _Answer("failed", reason, perf_counter() - started)
    seconds = perf_counter() - started if made.seconds is None else made.seconds
    assignment, counts = made.assignment, (made.rounds, made.revoked, made.ownerless)
    return _Answer("planned", None, seconds, assignment.owner, assignment.strays, counts)
