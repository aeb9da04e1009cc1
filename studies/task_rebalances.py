"""Rebalances of streams groups: all of small groups, and those of applications in a week.

In small groups, processes and threads join and leave in every order. Applications go through a
week of deployments, scaling and crashes.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from msgspec.structs import replace

from compare.promises.promise import NOT_TESTED, Judgement
from compare.promises.task_promises import TASK_PROMISES, Placement
from groups import Failed
from groups.documents.assay_streams import StreamsDocument, StreamsMember, Subtopology, Tasks
from heuristics.child import Lost

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from heuristics.shipped.task_assignor import TaskLimit

THREADS = 2
BATCH = 1000
AGAIN = "nothing changes"
# Stateful tasks, stateless tasks, standbys of each stateful task, processes at most.
SHAPES = (
    *((2, 0, 0, 3), (2, 0, 1, 3), (2, 1, 0, 2), (3, 0, 0, 2)),
    *((4, 0, 0, 2), (5, 0, 0, 2), (2, 2, 0, 2), (3, 2, 0, 2)),
    *((3, 0, 1, 2), (4, 0, 1, 2), (2, 2, 1, 2), (3, 1, 1, 2)),
)


@dataclass(frozen=True)
class Rebalance:
    """A rebalance of a streams group.

    Attributes
    ----------
    event : the event that led to it
    before, after : the group before and after it
    earlier : the previous rebalance
    restores_known : whether the group shows all state that each process has
    """

    event: str
    before: StreamsDocument
    after: StreamsDocument
    earlier: Rebalance | None = None
    restores_known: bool = True

    @property
    def history(self) -> list[str]:
        """All events, from a group without members on."""
        return [*([] if self.earlier is None else self.earlier.history), self.event]

    def judged(self) -> Mapping[str, Judgement]:
        """Return the judgement of each promise; "stays" only if nothing has changed."""
        before, after = Placement(self.before), Placement(self.after)
        found = {name: one.judge(before, after) for name, one in TASK_PROMISES.items()}
        if not self.restores_known:
            found["fewest-restores"] = NOT_TESTED
        if self.event == AGAIN:
            found["stays"] = Judgement(self.before == self.after, {})
        return found


def topology(stateful: int, stateless: int, standbys: int) -> StreamsDocument:
    """Return a group without members, with a subtopology of each kind that has tasks."""
    kinds = {"plain": Subtopology(stateless, False), "state": Subtopology(stateful, True)}
    return StreamsDocument(
        format="assay-streams/1",
        group="hunted",
        standby_replicas=standbys,
        subtopologies={name: one for name, one in kinds.items() if one.tasks},
        members={},
    )


def joined(group: StreamsDocument, process: str, threads: int) -> StreamsDocument:
    """Return the group with more threads of a process, which have no tasks yet."""
    free = [f"{process}{n}" for n in range(1, THREADS + 1) if f"{process}{n}" not in group.members]
    more = {name: StreamsMember(process=process, tasks=Tasks()) for name in free[:threads]}
    return replace(group, members=dict(sorted((group.members | more).items())))


def without(group: StreamsDocument, gone: str) -> StreamsDocument:
    """Return the group without a member, or without the members of a process."""
    left = {m: s for m, s in group.members.items() if gone not in (m, s.process)}
    return replace(group, members=left)


def events(group: StreamsDocument, processes: str) -> Iterator[tuple[str, StreamsDocument]]:
    """Yield (event, group after it) of everything that may happen next."""
    threads = Placement(group).threads
    if group.members:
        yield AGAIN, group
    for process in processes:
        for more in range(1, THREADS - threads[process] + 1):
            what = "another thread" if threads[process] else ("1 thread", "2 threads")[more - 1]
            yield f"{what} of {process} joins", joined(group, process, more)
        if threads[process] and len(threads) > 1:
            yield f"process {process} leaves", without(group, process)
        if threads[process] > 1:
            for member in [m for m, said in group.members.items() if said.process == process]:
                yield f"thread {member} leaves", without(group, member)


def planned(groups: Sequence[StreamsDocument], limit: TaskLimit) -> Iterator[StreamsDocument]:
    """Yield each group with its new tasks.

    Raises
    ------
    Failed
        If the assignor fails on one.
    """
    for before, after in zip(groups, limit.plans(groups), strict=True):
        if isinstance(after, Lost):
            raise Failed(f"{after.reason}: {before}")
        yield after


def rebalances(start: StreamsDocument, limit: TaskLimit, processes: int) -> Iterator[Rebalance]:
    """Yield all rebalances that events lead to from a group, fewest events first.

    Raises
    ------
    Failed
        If the assignor fails on one.
    """
    seen, asked, frontier = {repr(start)}, set[str](), [Rebalance("", start, start)]
    while frontier:
        coming = []
        for found in frontier:
            for event, group in events(found.after, "abc"[:processes]):
                if event == AGAIN or repr(group) not in asked:
                    asked.add(repr(group))
                    coming.append((event, group, found if found.event else None))
        frontier = []
        for first in range(0, len(coming), BATCH):
            part = coming[first : first + BATCH]
            made = planned([group for _, group, _ in part], limit)
            for (event, before, earlier), after in zip(part, made, strict=True):
                # After a thread has left, its process still has the state, which no member shows.
                rebalance = Rebalance(
                    event, before, after, earlier, "thread " not in event or "joins" in event
                )
                if repr(after) not in seen:
                    seen.add(repr(after))
                    frontier.append(rebalance)
                yield rebalance


PARTITIONS = (4, 6, 8, 12, 16, 24, 32, 48)
DAYS, DEPLOYS, CRASHES, SCALED_DAILY, MORE_THREADS = 7, 2, 1, 0.5, 0.25


@dataclass(frozen=True)
class Stage:
    """A group at one rebalance, without tasks: the event, and the process of each member."""

    event: str
    members: dict[str, str]


@dataclass(frozen=True)
class Application:
    """An application: a group without members, and the stages of its week."""

    group: StreamsDocument
    stages: tuple[Stage, ...]


def application(seed: int, number: int) -> Application:
    """Draw an application: the same for the same seed and number.

    It has one to four subtopologies, two in three of them stateful; two to eight pods of one to
    four threads; no standby or one. In the week there are two rolling deployments, pod by pod, in
    which a pod comes back with its process id and new members (in a quarter of the applications,
    with one more thread the second time); a crash of a pod, which comes back; and, in half of the
    applications, more pods in the morning and fewer in the evening.
    """
    draw = Random(f"{seed} {number}")
    subtopologies = {
        f"{s}": Subtopology(draw.choice(PARTITIONS), draw.random() < 2 / 3)
        for s in range(draw.randint(1, 4))
    }
    group = StreamsDocument(
        format="assay-streams/1",
        group=f"application-{number}",
        standby_replicas=draw.randint(0, 1),
        subtopologies=subtopologies,
        members={},
    )
    return Application(group, tuple(_Week(draw).stages()))


class _Week:
    def __init__(self, draw: Random) -> None:
        self._draw = draw
        self._threads = draw.randint(1, 4)
        self._pods: dict[str, list[str]] = {}
        for _ in range(draw.randint(2, 8)):
            self._start(self._id())

    def stages(self) -> Iterator[Stage]:
        """Yield the stages in their order."""
        draw, fewest = self._draw, len(self._pods)
        deploys = sorted(draw.randrange(DAYS) for _ in range(DEPLOYS))
        crashes = [draw.randrange(DAYS) for _ in range(CRASHES)]
        more, daily = draw.random() < MORE_THREADS, draw.random() < SCALED_DAILY
        surge = draw.randint(1, fewest)
        yield self._stage("starts")
        for day in range(DAYS):
            for _ in range(surge * daily):
                self._start(self._id())
                yield self._stage("a pod is added")
            for deploy, planned in enumerate(deploys):
                if planned == day:
                    self._threads += more and deploy == len(deploys) - 1
                    for pod in list(self._pods):
                        yield from self._restart(pod)
            for _ in range(crashes.count(day)):
                yield from self._restart(draw.choice(list(self._pods)))
            for _ in range(surge * daily):
                del self._pods[draw.choice(list(self._pods))]
                yield self._stage("a pod is removed")

    def _restart(self, pod: str) -> Iterator[Stage]:
        del self._pods[pod]
        if self._pods:
            yield self._stage("a pod leaves to come back")
        self._start(pod)
        yield self._stage("a pod comes back")

    def _start(self, pod: str) -> None:
        self._pods[pod] = [self._id() for _ in range(self._threads)]

    def _id(self) -> str:
        return f"{self._draw.getrandbits(64):016x}"

    def _stage(self, event: str) -> Stage:
        return Stage(event, {m: pod for pod, members in self._pods.items() for m in members})


def weeks(
    applications: Sequence[Application], limit: TaskLimit
) -> Iterator[tuple[Application, Rebalance]]:
    """Yield all rebalances of the applications, each from the assignment of the last one.

    Raises
    ------
    Failed
        If the assignor fails on one.
    """
    groups = {one.group.group: one.group for one in applications}
    for at in range(max(len(one.stages) for one in applications)):
        here = [one for one in applications if at < len(one.stages)]
        asked = []
        for one in here:
            last = groups[one.group.group]
            # Members of the last stage keep their tasks.
            members = {
                name: last.members.get(name) or StreamsMember(process=process, tasks=Tasks())
                for name, process in one.stages[at].members.items()
            }
            asked.append(replace(last, members=members))
        for one, before, after in zip(here, asked, planned(asked, limit), strict=True):
            event = one.stages[at].event
            groups[one.group.group] = after
            # A pod that comes back has state on its disk, which the group does not show.
            yield one, Rebalance(event, before, after, None, event != "a pod comes back")
