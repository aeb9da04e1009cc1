"""TimeLimit: assignors in a child process, which is killed when their time is up."""

from __future__ import annotations

import sys
from concurrent.futures import TimeoutError as TimeUp
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.context import SpawnContext, SpawnProcess
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

from pebble import ProcessExpired, ProcessPool

from groups import Assignment, Failed, Refused
from heuristics import assignor_named
from heuristics.assignor import Plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from groups import Group
    from groups.group import Int32

START_SECONDS = 60.0


@dataclass(frozen=True)
class Outcome:
    """How an assignor fared on a group.

    Attributes
    ----------
    status : "planned", "refused" (does not cover the group), "failed" (broke down) or "timed-out"
    plan : what it made of the group; None unless planned
    reason : why there is no plan; None where there is one
    seconds : time inside the assignor; the limit where that was reached
    """

    status: Literal["planned", "refused", "failed", "timed-out"]
    plan: Plan | None
    reason: str | None
    seconds: float


class TimeLimit:
    """A child process in which assignors run, one after the other, for so many seconds each.

    Use it as a context manager and over many groups: starting the child takes some tenths of a
    second, a call after that about a millisecond. A child that was killed or died is replaced.
    It starts as a new interpreter and without the caller's main module, so it shares nothing with
    threads, a JVM or a Spark session of the parent, and scripts need no guard around their main
    part.

    Parameters
    ----------
    seconds : time for each call, more than 0; enforced to about a tenth of a second
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._pool: ProcessPool | None = None

    def __enter__(self) -> TimeLimit:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the child process; the next call starts a new one."""
        if self._pool is not None:
            self._pool.stop()  # type: ignore[no-untyped-call]
            self._pool.join()
            self._pool = None

    def plan(self, group: Group, name: str) -> Outcome:
        """Run the assignor of that name on the group.

        Raises
        ------
        BadInput
            Where no assignor has that name, or a member's subscription is unknown.
        """
        assignor = assignor_named(name)
        group.require_subscriptions()
        return self.call(assignor.function, group)

    def call(self, function: Callable[[Group], Plan], group: Group) -> Outcome:
        """Run a function, which the child must be able to import, on the group."""
        if self._pool is not None and not self._pool.active:
            self.close()
        if self._pool is None:
            self._pool = ProcessPool(max_workers=1, context=_Spawn())
        future = self._pool.schedule(_answer, args=[function, group], timeout=self.seconds)
        try:
            answer = future.result(self.seconds + START_SECONDS)
        except TimeUp:
            if future.done():
                reason = f"no answer within {self.seconds:g} s"
                return Outcome("timed-out", None, reason, self.seconds)
            self.close()
            return Outcome("failed", None, "the child process did not start", 0.0)
        except ProcessExpired as death:
            reason = f"the child process died (exit code {death.exitcode})"
            return Outcome("failed", None, reason, 0.0)
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
    seconds = perf_counter() - started
    assignment, counts = made.assignment, (made.rounds, made.revoked, made.ownerless)
    return _Answer("planned", None, seconds, assignment.owner, assignment.strays, counts)


@contextmanager
def _main_module_hidden() -> Iterator[None]:
    main = vars(sys.modules["__main__"])
    kept: dict[str, Any] = {k: main[k] for k in ("__file__", "__spec__") if k in main}
    main.pop("__file__", None)
    main["__spec__"] = None
    try:
        yield
    finally:
        main.update(kept)


class _Child(SpawnProcess):
    def start(self) -> None:
        # A spawned process runs the parent's main module again: a script without a guard would
        # start itself anew, and one that imports Spark would import it in the child.
        with _main_module_hidden():
            super().start()


class _Spawn(SpawnContext):
    Process = _Child
