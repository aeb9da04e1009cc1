"""TimeLimit: assignors in child processes, which are killed when their time is up."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Thread
from time import perf_counter
from typing import TYPE_CHECKING, Literal

from groups import Assignment, Failed, Refused
from heuristics.assignor import Plan
from heuristics.catalogue import assignor_named
from heuristics.child import Child, Lost
from heuristics.start import start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from groups import Group
    from groups.arrays import Int32
    from heuristics.assignor import Assignor
    from heuristics.own import AssignorFunction

Status = Literal["planned", "refused", "failed", "timed-out", "unavailable"]


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


class TimeLimit:
    """Child processes in which assignors run, one after the other, for so many seconds each.

    Each client has a process of its own, so that a hang of one leaves the others where they are.
    Use it as a context manager and over many groups: see `heuristics.child.Child`.

    Parameters
    ----------
    seconds : time for each call, more than 0; enforced to about a tenth of a second
    memory_bytes : what each process may hold; see `heuristics.child.Child`
    """

    def __init__(self, seconds: float, *, memory_bytes: int | None = None) -> None:
        self.seconds = seconds
        self.memory_bytes = memory_bytes
        self._processes: dict[str, _ClientProcess] = {}

    def __enter__(self) -> TimeLimit:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the child processes; the next call starts a new one."""
        for process in self._processes.values():
            process.close()
        self._processes.clear()

    def warm_up(self, names: Iterable[str | AssignorFunction]) -> None:
        """Begin to start the processes of some assignors, side by side, without waiting.

        A call waits until its own process is ready. What cannot be called or started is said by
        that call.

        Raises
        ------
        BadInput
            Where no assignor has a name.
        """
        for assignor in map(assignor_named, names):
            process = self._process_of(assignor)
            if process.starting is None and assignor.missing() is None:
                process.starting = Thread(target=_start, args=[process, assignor])
                process.starting.start()

    def plan(self, group: Group, name: str | AssignorFunction) -> Outcome:
        """Run the assignor of that name, or a function of the user's, on the group.

        What it needs to run, such as a JVM, starts before its time does.

        Raises
        ------
        BadInput
            Where no assignor has that name, a member's subscription is unknown, or another
            process could not import the function.
        """
        assignor = assignor_named(name)
        group.require_subscriptions()
        process = self._process_of(assignor)
        process.wait()
        if assignor.kind != "written" and assignor.name not in process.prepared:
            reason = assignor.missing()
            if reason is not None:
                return Outcome("unavailable", None, reason, 0.0)
            reason = start(process.child, assignor)
            if reason is not None:
                process.prepared.clear()
                return Outcome("failed", None, f"it does not start: {reason}", 0.0)
            process.prepared.add(assignor.name)
        return self._call(process, assignor.function, group)

    def plan_many(self, groups: Sequence[Group], name: str | AssignorFunction) -> list[Outcome]:
        """Run the assignor of that name on many groups; an outcome each, in their order.

        The limit is that of each group. One that hangs, dies or raises has an outcome of its own,
        and the others keep theirs.

        Raises
        ------
        BadInput
            As :meth:`plan` does.
        """
        return [self.plan(group, name) for group in groups]

    def call(self, function: Callable[[Group], Plan], group: Group) -> Outcome:
        """Run a function, which the child must be able to import, on the group."""
        return self._call(self._process_of(None), function, group)

    def _process_of(self, assignor: Assignor | None) -> _ClientProcess:
        """Return where an assignor runs: its client's process; Kafka's classes share a JVM.

        A function of the user's has one of its own.
        """
        ours = assignor is None or assignor.kind == "written"
        client = "" if assignor is None or ours else assignor.name.partition("/")[0]
        key = "kafka" if client in ("kafka-java", "kafka-broker") else client
        return self._processes.setdefault(key, _ClientProcess(Child(self.memory_bytes), set()))

    def _call(
        self, process: _ClientProcess, function: Callable[[Group], Plan], group: Group
    ) -> Outcome:
        answer = process.child.call(_answer, function, group, seconds=self.seconds)
        if isinstance(answer, Lost):
            process.prepared.clear()
            if answer.timed_out:
                return Outcome("timed-out", None, answer.reason, self.seconds)
            return Outcome("failed", None, answer.reason, 0.0)
        if answer.owner is None:
            return Outcome(answer.status, None, answer.reason, answer.seconds)
        assignment = Assignment(group, answer.owner, answer.strays)
        return Outcome("planned", Plan(assignment, *answer.counts), None, answer.seconds)


@dataclass
class _ClientProcess:
    """A child process, the names of what has been started in it, and who starts it."""

    child: Child
    prepared: set[str]
    starting: Thread | None = None

    def wait(self) -> None:
        """Wait until it is ready, if it is being started."""
        if self.starting is not None:
            self.starting.join()

    def close(self) -> None:
        """Stop it, also while it is being started."""
        self.child.close()
        while self.starting is not None and self.starting.is_alive():
            self.child.close()
            self.starting.join(0.01)


def _start(process: _ClientProcess, assignor: Assignor) -> None:
    if start(process.child, assignor) is None:
        process.prepared.add(assignor.name)


def limited(group: Group, name: str | AssignorFunction, seconds: float) -> Outcome:
    """Run the assignor of that name, or a function, on one group, in a child process of its own.

    For many groups keep a `TimeLimit`.

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

    status: Status
    reason: str | None
    seconds: float
    owner: Int32 | None = None
    strays: tuple[tuple[int, str, int], ...] = ()
    counts: tuple[int, int, int] = (1, 0, 0)


def attempt(function: Callable[[Group], Plan], group: Group) -> Outcome:
    """Call an assignor's function in this process, and take what becomes of it."""
    started = perf_counter()
    try:
        made = function(group)
    except Refused as refusal:
        return Outcome("refused", None, str(refusal), perf_counter() - started)
    except Failed as failure:
        return Outcome("failed", None, str(failure), perf_counter() - started)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        return Outcome("failed", None, reason, perf_counter() - started)
    seconds = perf_counter() - started if made.seconds is None else made.seconds
    return Outcome("planned", made, None, seconds)


def _answer(function: Callable[[Group], Plan], group: Group) -> _Answer:
    came = attempt(function, group)
    if came.plan is None:
        return _Answer(came.status, came.reason, came.seconds)
    made, assignment = came.plan, came.plan.assignment
    counts = (made.rounds, made.revoked, made.ownerless)
    return _Answer("planned", None, came.seconds, assignment.owner, assignment.strays, counts)
