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
    """Child processes in which assignors run with a time limit.

    Each client has a process of its own, so that one that hangs does not affect the others. Use it
    as a context manager and over many groups: see `heuristics.child.Child`.

    Parameters
    ----------
    seconds : time of the assignor for each group, more than 0; enforced to about a tenth of a
        second. A client that has to join a group gets a further minute each time.
    memory_bytes : memory that each process may use; see `heuristics.child.Child`
    """

    @taking
    def __init__(self, seconds: float, *, memory_bytes: int | None = None) -> None:
        self.seconds = math.inf if (limit := seconds_of(seconds)) is None else limit
        self.memory_bytes = memory_bytes
        self._processes: dict[str, _ClientProcess] = {}
        self._by_name: dict[str, Assignor] = {}
        self._pickles: WeakKeyDictionary[Group, bytes] = WeakKeyDictionary()

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
        """Start the processes of some assignors in parallel, without waiting for them.

        A later call waits until its own process is ready; it also reports what could not start.

        Raises
        ------
        BadInput
            If no assignor has a name.
        """
        for assignor in map(self._named, names):
            process = self._process_of(assignor)
            if process.starting is None and assignor.missing() is None:
                process.starting = Thread(target=process.prepare, args=[assignor])
                process.starting.start()

    def know(self, assignor: Assignor) -> None:
        """Use this assignor for its name from now on, instead of the catalogue's."""
        self._by_name[assignor.name] = assignor

    @taking
    def plan(self, group: Group, name: str | AssignorFunction) -> Outcome:
        """Run the assignor of that name, or a function of the user's, on the group.

        Starting what it needs, such as a JVM, does not count as its time.

        Raises
        ------
        BadInput
            If no assignor has that name, a member's subscription is unknown, or another
            process could not import the function.
        """
        return self.plan_many([group], name)[0]

    @taking
    def plan_many(self, groups: Sequence[Group], name: str | AssignorFunction) -> list[Outcome]:
        """Run the assignor of that name on many groups; return their outcomes in order.

        The time limit is that of each group. A group on which the assignor hangs, dies or raises
        does not affect the outcomes of the others.

        Raises
        ------
        BadInput
            As :meth:`plan` does.
        """
        assignor = self._named(name)
        for group in groups:
            group.require_subscriptions()
        if assignor.kind == "probed":
            # The client is another process already, and the probe limits its time.
            return [attempt(assignor.function, group) for group in groups]
        process = self._process_of(assignor)
        process.wait()
        outcomes: list[Outcome] = []
        for portion in in_portions(
            groups, lambda group: group.n_partitions, most=PARTITIONS_PER_CALL
        ):
            done = 0
            while done < len(portion):
                unready = process.prepare(assignor)
                if unready is not None:
                    return [*outcomes, *[unready] * (len(groups) - len(outcomes))]
                answered = self._call(process, assignor, portion[done:])
                outcomes += answered
                done += len(answered)
        return outcomes

    def call(self, function: Callable[[Group], Plan], group: Group) -> Outcome:
        """Run a function, which the child must be able to import, on the group."""
        own = Assignor("", "written", "", None, function)
        return self._call(self._process_of(own), own, [group])[0]

    def _named(self, name: str | AssignorFunction) -> Assignor:
        """Return an assignor; shipped ones are cached, as looking for their versions is slow."""
        if isinstance(name, str) and name in self._by_name:
            return self._by_name[name]
        assignor = assignor_named(name)
        if assignor.kind == "shipped" and isinstance(name, str):
            self._by_name[name] = assignor
        return assignor

    def _process_of(self, assignor: Assignor) -> _ClientProcess:
        """Return the process in which an assignor runs: one for each client.

        All classes of Kafka share one, with one JVM; each function of the user's has its own.
        """
        client = "" if assignor.kind == "written" else assignor.name.partition("/")[0]
        key = "kafka" if client in ("kafka-java", "kafka-broker") else client
        return self._processes.setdefault(key, _ClientProcess(Child(self.memory_bytes), set()))

    def _call(
        self, process: _ClientProcess, assignor: Assignor, groups: Sequence[Group]
    ) -> list[Outcome]:
        """Return the outcomes of groups, up to the first on which the process ends."""
        asked = [(self._packed(group),) for group in groups]
        function, seconds = assignor.function, self.seconds
        if assignor.keeps_time:
            function, seconds = partial(function, seconds=seconds), math.inf
        answers = process.child.call_each(partial(answer, function), asked, seconds=seconds)
        if isinstance(answers[-1], Lost):
            process.prepared.clear()
        return [
            self._lost(one) if isinstance(one, Lost) else outcome_of(group, one)
            for group, one in zip(groups, answers, strict=False)
        ]

    def _lost(self, lost: Lost) -> Outcome:
        if lost.timed_out:
            return Outcome("timed-out", None, lost.reason, self.seconds)
        return Outcome("failed", None, lost.reason, 0.0)

    def _packed(self, group: Group) -> bytes:
        """Return a pickled group, cached because several assignors get the same groups."""
        pickled = self._pickles.get(group)
        if pickled is None:
            pickled = packed(group)
            if len(pickled) <= MOST_BYTES_KEPT:
                self._pickles[group] = pickled
        return pickled


@dataclass
class _ClientProcess:
    """A child process, the names of assignors prepared in it, and the thread that starts it."""

    child: Child
    prepared: set[str]
    starting: Thread | None = None

    def wait(self) -> None:
        """Wait until it is ready, if it is being started."""
        if self.starting is not None:
            self.starting.join()

    def prepare(self, assignor: Assignor) -> Outcome | None:
        """Start what an assignor needs, once; return why it cannot be called, or None."""
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


def plan(group: Group, name: str | AssignorFunction) -> Plan:
    """Return the assignor's plan for the group: its assignment, and the rounds until then.

    A function of yours counts as an assignor. Like a shipped one, it runs in a process of its own
    for at most 10 s; for many groups or another limit use a `TimeLimit`.

    Raises
    ------
    BadInput
        If no assignor has that name, it cannot be called here, or a member's subscription is
        unknown.
    Refused
        If the assignor does not cover the group.
    Failed
        If the assignor breaks down on the group, or does not come back.
    """
    assignor = assignor_named(name)
    group.require_subscriptions()
    if assignor.kind == "written":
        return assignor.function(group)
    with TimeLimit(SHIPPED_SECONDS) as limit:
        outcome = limit.plan(group, name)
    if outcome.plan is not None:
        return outcome.plan
    error = {"unavailable": BadInput, "refused": Refused}.get(outcome.status, Failed)
    raise error(f"{assignor.name}: {outcome.reason}")


def assign(group: Group, name: str | AssignorFunction) -> Assignment:
    """Return the final assignment that the assignor of that name makes of the group.

    A function of yours counts as an assignor. `plan` also returns the rounds.

    Raises
    ------
    BadInput
        If no assignor has that name, it cannot be called here, or a member's subscription is
        unknown.
    Refused
        If the assignor does not cover the group.
    Failed
        If the assignor breaks down on the group, or does not come back.

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
