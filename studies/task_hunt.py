"""Task hunt: every small streams group that processes and threads reach as they come and go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from compare.promises.promise import NOT_TESTED, Judgement
from compare.promises.task_promises import TASK_PROMISES, Placement
from groups import Failed
from groups.documents.assay_streams import StreamsDocument, StreamsMember, Subtopology, Tasks
from heuristics.child import Lost

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
    """A rebalance: the event that led to it, the group before and after it, the one before it.

    Attributes
    ----------
    restores_known : whether the group says which process has the state of what
    """

    event: str
    before: StreamsDocument
    after: StreamsDocument
    earlier: Rebalance | None = None
    restores_known: bool = True

    @property
    def history(self) -> list[str]:
        """The events from a group without members on."""
        return [*([] if self.earlier is None else self.earlier.history), self.event]

    def judged(self) -> Mapping[str, Judgement]:
        """Return the judgement of each promise; "stays" is asked where nothing changes."""
        before, after = Placement(self.before), Placement(self.after)
        found = {name: one.judge(before, after) for name, one in TASK_PROMISES.items()}
        if not self.restores_known:
            found["fewest-restores"] = NOT_TESTED
        if self.event == AGAIN:
            found["stays"] = Judgement(self.before == self.after, {})
        return found


def topology(stateful: int, stateless: int, standbys: int) -> StreamsDocument:
    """Return a group without members: a subtopology of each kind that has tasks."""
    kinds = {"plain": Subtopology(stateless, False), "state": Subtopology(stateful, True)}
    return StreamsDocument(
        format="assay-streams/1",
        group="hunted",
        standby_replicas=standbys,
        subtopologies={name: one for name, one in kinds.items() if one.tasks},
        members={},
    )


def joined(group: StreamsDocument, process: str, threads: int) -> StreamsDocument:
    """Return the group with more threads of a process, which have nothing yet."""
    free = [f"{process}{n}" for n in range(1, THREADS + 1) if f"{process}{n}" not in group.members]
    more = {name: StreamsMember(process=process, tasks=Tasks()) for name in free[:threads]}
    return replace(group, members=dict(sorted((group.members | more).items())))


def without(group: StreamsDocument, gone: str) -> StreamsDocument:
    """Return the group without a member, or without the members of a process."""
    left = {m: s for m, s in group.members.items() if gone not in (m, s.process)}
    return replace(group, members=left)


def events(group: StreamsDocument, processes: str) -> Iterator[tuple[str, StreamsDocument]]:
    """Return what may happen next, and the group then."""
    threads = Placement(group).threads
    if group.members:
        yield AGAIN, group
    for process in processes:
        for more in range(1, THREADS - threads[process] + 1):
            what = (
                f"{'another thread' if threads[process] else ('1 thread', '2 threads')[more - 1]}"
            )
            yield f"{what} of {process} joins", joined(group, process, more)
        if threads[process] and len(threads) > 1:
            yield f"process {process} leaves", without(group, process)
        if threads[process] > 1:
            for member in [m for m, said in group.members.items() if said.process == process]:
                yield f"thread {member} leaves", without(group, member)


def rebalances(start: StreamsDocument, limit: TaskLimit, processes: int) -> Iterator[Rebalance]:
    """Return every rebalance that is reached from a group by events, fewest events first.

    Raises
    ------
    Failed
        Where the assignor does, on any.
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
            made = limit.plans([group for _, group, _ in part])
            for (event, before, earlier), after in zip(part, made, strict=True):
                if isinstance(after, Lost):
                    raise Failed(f"{after.reason}: {before}")
                # A process that is left by a thread still has the state that the thread had.
                rebalance = Rebalance(
                    event, before, after, earlier, "thread " not in event or "joins" in event
                )
                if repr(after) not in seen:
                    seen.add(repr(after))
                    frontier.append(rebalance)
                yield rebalance
