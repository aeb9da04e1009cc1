"""TimeLimit: assignors in child processes, which are killed when their time is up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from groups import BadInput, Failed, Refused
from groups.arguments import taking
from groups.portions import in_portions
from groups.seconds import seconds_of
from heuristics.assignor import (
    MOST_BYTES_KEPT,
    Assignor,
    Outcome,
    answer,
    attempt,
    outcome_of,
    packed,
    start,
)
from heuristics.catalogue import assignor_named
from heuristics.child import Child, Lost

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from groups import Assignment, Group
    from heuristics.assignor import Plan
    from heuristics.own import AssignorFunction


PARTITIONS_PER_CALL = 200_000
SHIPPED_SECONDS = 10.0
NOT_STARTED = "it does not start: "


class TimeLimit:
    """Child processes in which assignors run, one after the other, for so many seconds each.

    Each client has a process of its own, so that a hang of one leaves the others where they are.
    Use it as a context manager and over many groups: see `heuristics.child.Child`.

    Parameters
    ----------
    seconds : time of the assignor for each group, more than 0; enforced to about a tenth of a
        second. A client that joins a group for that has a minute each time, which does not count.
    memory_bytes : what each process may hold; see `heuristics.child.Child`
    """

    @taking
    def __init__(self, seconds: float, *, memory_bytes: int | None = None) -> None:
        self.seconds = math.inf if (limit := seconds_of(seconds)) is None else limit
        self.memory_bytes = memory_bytes
        self._processes: dict[str, _ClientProcess] = {}
        self._shipped: dict[str, Assignor] = {}
        self._travelled: WeakKeyDictionary[Group, bytes] = WeakKeyDictionary()

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
        for assignor in map(self._named, names):
            process = self._process_of(assignor)
            if process.starting is None and assignor.missing() is None:
                process.starting = Thread(target=process.prepare, args=[assignor])
                process.starting.start()

    def know(self, assignor: Assignor) -> None:
        """Take an assignor by its name from now on, whatever the catalogue says of that."""
        self._shipped[assignor.name] = assignor

    @taking
    def plan(self, group: Group, name: str | AssignorFunction) -> Outcome:
        """Run the assignor of that name, or a function of the user's, on the group.

        What it needs to run, such as a JVM, starts before its time does.

        Raises
        ------
        BadInput
            Where no assignor has that name, a member's subscription is unknown, or another
            process could not import the function.
        """
        return self.plan_many([group], name)[0]

    @taking
    def plan_many(self, groups: Sequence[Group], name: str | AssignorFunction) -> list[Outcome]:
        """Run the assignor of that name on many groups; an outcome each, in their order.

        The limit is that of each group. One that hangs, dies or raises has an outcome of its own,
        and the others keep theirs.

        Raises
        ------
        BadInput
            As :meth:`plan` does.
        """
        assignor = self._named(name)
        for group in groups:
            group.require_subscriptions()
        if assignor.kind == "probed":
            # What may hang or die is elsewhere already, and has a limit of its own.
            return [attempt(assignor.function, group) for group in groups]
        process = self._process_of(assignor)
        process.wait()
        outcomes: list[Outcome] = []
        for some in in_portions(
            groups, lambda group: group.n_partitions, most=PARTITIONS_PER_CALL
        ):
            done = 0
            while done < len(some):
                unready = process.prepare(assignor)
                if unready is not None:
                    return [*outcomes, *[unready] * (len(groups) - len(outcomes))]
                came = self._call(process, assignor, some[done:])
                outcomes += came
                done += len(came)
        return outcomes

    def call(self, function: Callable[[Group], Plan], group: Group) -> Outcome:
        """Run a function, which the child must be able to import, on the group."""
        own = Assignor("", "written", "", None, function)
        return self._call(self._process_of(own), own, [group])[0]

    def _named(self, name: str | AssignorFunction) -> Assignor:
        """Return an assignor; looking for the versions that are here takes a while."""
        if isinstance(name, str) and name in self._shipped:
            return self._shipped[name]
        assignor = assignor_named(name)
        if assignor.kind == "shipped" and isinstance(name, str):
            self._shipped[name] = assignor
        return assignor

    def _process_of(self, assignor: Assignor) -> _ClientProcess:
        """Return where an assignor runs: its client's process; Kafka's classes share a JVM.

        A function of the user's has one of its own.
        """
        client = "" if assignor.kind == "written" else assignor.name.partition("/")[0]
        key = "kafka" if client in ("kafka-java", "kafka-broker") else client
        return self._processes.setdefault(key, _ClientProcess(Child(self.memory_bytes), set()))

    def _call(
        self, process: _ClientProcess, assignor: Assignor, groups: Sequence[Group]
    ) -> list[Outcome]:
        """Ask about groups, up to the first that ends the process; those after it are left."""
        asked = [(self._packed(group),) for group in groups]
        function, seconds = assignor.function, self.seconds
        if assignor.keeps_time:
            function, seconds = partial(function, seconds=seconds), math.inf
        came = process.child.call_each(partial(answer, function), asked, seconds=seconds)
        if isinstance(came[-1], Lost):
            process.prepared.clear()
        return [
            self._lost(one) if isinstance(one, Lost) else outcome_of(group, one)
            for group, one in zip(groups, came, strict=False)
        ]

    def _lost(self, lost: Lost) -> Outcome:
        if lost.timed_out:
            return Outcome("timed-out", None, lost.reason, self.seconds)
        return Outcome("failed", None, lost.reason, 0.0)

    def _packed(self, group: Group) -> bytes:
        """Return a group as it travels; the next assignor is mostly asked about the same ones."""
        found = self._travelled.get(group)
        if found is None:
            found = packed(group)
            if len(found) <= MOST_BYTES_KEPT:
                self._travelled[group] = found
        return found


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

    def prepare(self, assignor: Assignor) -> Outcome | None:
        """Start what an assignor needs, unless that is done; return why it cannot be called."""
        if assignor.kind == "written" or assignor.name in self.prepared:
            return None
        reason = assignor.missing()
        if reason is not None:
            return Outcome("unavailable", None, reason, 0.0)
        reason = start(self.child, assignor.prepare)
        if reason is not None:
            self.prepared.clear()
            return Outcome("failed", None, f"{NOT_STARTED}{reason}", 0.0)
        self.prepared.add(assignor.name)
        return None

    def close(self) -> None:
        """Stop it, also while it is being started."""
        self.child.close()
        while self.starting is not None and self.starting.is_alive():
            self.child.close()
            self.starting.join(0.01)


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


def plan(group: Group, name: str | AssignorFunction) -> Plan:
    """Return what the assignor of that name makes of the group, round by round.

    A function of yours counts as an assignor. It runs in a process of its own, as one that ships
    does, for 10 s at most; for many groups or another limit keep a
    `TimeLimit`.

    Raises
    ------
    BadInput
        Where no assignor has that name, it cannot be called here, or a member's subscription is
        unknown.
    Refused
        Where the assignor does not cover the group.
    Failed
        Where the assignor breaks down on the group, or does not come back.
    """
    assignor = assignor_named(name)
    group.require_subscriptions()
    if assignor.kind == "written":
        return assignor.function(group)
    outcome = limited(group, name, SHIPPED_SECONDS)
    if outcome.plan is not None:
        return outcome.plan
    error = {"unavailable": BadInput, "refused": Refused}.get(outcome.status, Failed)
    raise error(f"{assignor.name}: {outcome.reason}")


def assign(group: Group, name: str | AssignorFunction) -> Assignment:
    """Return the final assignment that the assignor of that name makes of the group.

    A function of yours counts as an assignor. As `plan`, which tells the rounds too.

    Raises
    ------
    BadInput
        Where no assignor has that name, it cannot be called here, or a member's subscription is
        unknown.
    Refused
        Where the assignor does not cover the group.
    Failed
        Where the assignor breaks down on the group, or does not come back.

    Examples
    --------
    >>> from assay import Group, assign
    >>> group = Group.from_dict(
    ...     {
    ...         "format": "assay-group/1",
    ...         "group": "orders",
    ...         "topics": {"t0": 2, "t1": 3},
    ...         "members": {
    ...             "c0": {"subscription": ["t0", "t1"], "owned": {"t0": [0, 1], "t1": [0, 1, 2]}},
    ...             "c1": {"subscription": ["t1"]},
    ...         },
    ...     }
    ... )
    >>> assign(group, "roundrobin").to_dict()
    {'c0': {'t0': [0, 1], 't1': [1]}, 'c1': {'t1': [0, 2]}}
    """
    return plan(group, name).assignment
