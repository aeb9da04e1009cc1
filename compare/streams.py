"""Streams: how even the tasks of a Kafka Streams group are, and whether standbys are missing."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from compare.sentences import spread
from groups import Assignment, values
from groups.documents.assay_group import pairs
from groups.documents.assay_streams import StreamsDocument, held
from groups.wording import counted, few, listed
from optimal.solve import solve
from optimal.standbys import standbys_beside

if TYPE_CHECKING:
    from collections.abc import Iterator

    from groups.group import Group

Task = tuple[str, int]
OBJECTIVE = "kip-1071"
SECONDS = 1.0
# The tiers of that objective on even loads, in words.
EVEN = {
    "balance": "threads",
    "host_balance": "processes",
    "stateful_balance": "stateful tasks",
}


class Tasks(NamedTuple):
    """The tasks of a group, as they are after a rebalance that is under way.

    Attributes
    ----------
    active : number of active tasks of each process
    stateful, stateful_by_process : number of active tasks known to keep state, of each thread and
        of each process
    standbys, warmups : number of standbys and warm-ups, and of the warm-ups among them
    misplaced : (task, process) of tasks with a standby or warm-up beside another copy in one
        process, which are lost together with it
    missing : stateful tasks with fewer standbys than they should and could have; None if
        `standby_replicas` is unknown
    unknown : subtopologies that may or may not keep state
    """

    active: dict[str, int]
    stateful: tuple[int, ...]
    stateful_by_process: dict[str, int]
    standbys: int
    warmups: int
    misplaced: tuple[tuple[Task, str], ...]
    missing: tuple[Task, ...] | None
    unknown: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        """Return the key ``tasks`` of ``assay-scores/1``."""
        return {
            "active_by_process": self.active,
            "stateful_by_process": self.stateful_by_process,
            "standbys": self.standbys,
            "misplaced": [[*task, process] for task, process in self.misplaced],
            "missing": None if self.missing is None else [[*task] for task in self.missing],
            "unknown": list(self.unknown),
        }

    def sentences(self) -> Iterator[str]:
        """Yield sentences on the spread of tasks and on standbys."""
        processes = "1 process" if len(self.active) == 1 else f"{len(self.active):,} processes"
        yield f"Active tasks: {spread([*self.active.values()])} a process, of {processes}."
        if any(self.stateful):
            yield (
                f"Stateful tasks: {spread(self.stateful)} a thread, "
                f"{spread([*self.stateful_by_process.values()])} a process."
            )
        if self.unknown:
            keep = "subtopologies {} keep" if len(self.unknown) > 1 else "subtopology {} keeps"
            asked = "state is not known: assay capture asks the broker."
            yield f"Whether {keep.format(listed(self.unknown))} {asked}"
        if self.misplaced:
            named = few([f"{name}_{n} on {process}" for (name, n), process in self.misplaced])
            yield f"Standbys that bring nothing, with another copy in their process: {named}."
        if self.missing:
            named = few([f"{name}_{number}" for name, number in self.missing])
            yield f"{counted(len(self.missing), 'task')} without all standbys: {named}."
        if self.standbys and not self.misplaced and not self.missing:
            sure = "" if self.missing is not None else "; how many there should be is not known"
            rest = self.standbys - self.warmups
            found = ((rest, "standby"), (self.warmups, "warm-up"))
            said = listed([counted(number, noun) for number, noun in found if number])
            yield f"{said}, none beside another copy{sure}."


def tasks_sentences(group: Group) -> Iterator[str]:
    """Yield sentences on the tasks of a group; none if it is no Kafka Streams group."""
    if group.streams is not None and group.members:
        tasks = tasks_of(group.streams)
        yield from tasks.sentences()
        if (said := _more_even_tasks(group)) is not None:
            yield said
        if not tasks.misplaced and (said := _more_even_standbys(group)) is not None:
            yield said


def _more_even_tasks(group: Group) -> str | None:
    """Return a sentence on what could be more even by ``kip-1071``, and the tasks to restore.

    None if it is unknown which tasks keep state, or if nothing was found in time.
    """
    now = Assignment.current(group)
    if group.copies is None or not now.is_valid:
        return None
    best = solve(group, OBJECTIVE, time_limit=SECONDS)
    found = dict(zip(best.objective, values(now, best.objective), strict=True))
    least = {term.name: term.value for term in best.terms}
    uneven = [what for tier, what in EVEN.items() if least and found[tier] > least[tier]]
    if best.assignment is None or (not uneven and best.status != "optimal"):
        return None
    if not uneven:
        return f"{listed([*EVEN.values()])} are as even as can be together.".capitalize()
    # While a rebalance is under way, tasks that do not move may restore state, too.
    moved = best.assignment.moved
    restored = int(group.copies.misses(best.assignment.owner[moved], moved).sum())
    state = f"the state of {restored:,}" if restored else "no state"
    is_least = best.status == "optimal" and restored == least["restores"]
    no_fewer = ", and no fewer do both" if is_least else ""
    moves = f"moving {counted(len(moved), 'task')} does that and restores {state}{no_fewer}"
    return f"{listed(uneven)} could be more even: {moves} (objective {OBJECTIVE}).".capitalize()


def _more_even_standbys(group: Group) -> str | None:
    """Return a sentence on how even standbys could make the threads, with active tasks fixed.

    None if they are as even as can be, or if there are too few or too many of them.
    """
    now, streams = Assignment.current(group), group.streams
    if group.copies is None or streams is None or not streams.standby_replicas:
        return None
    best = standbys_beside(now, streams.standby_replicas) if now.is_valid else None
    if best is None:
        return None
    spare = [held(streams.members[name]) for name in group.members]
    standing = np.array([sum(map(len, tasks.standby.values())) for tasks in spare])
    loads = now.loads + standing
    least = now.loads + np.bincount(best.member, minlength=len(loads))
    if any(tasks.warmup for tasks in spare) or standing.sum() != len(best.task):
        return None
    if (loads**2).sum() <= best.terms[0].value:
        return None
    return (
        f"Standbys could be more even: with them threads have {spread(loads.tolist())} tasks, and "
        f"could have {spread(least.tolist())} beside the same active tasks."
    )


def tasks_of(group: StreamsDocument) -> Tasks:
    """Return how the tasks of a group are spread, and which standbys are missing."""
    stateful = {name: one.stateful for name, one in group.subtopologies.items()}
    processes = sorted({member.process for member in group.members.values()})
    active, keeping = dict.fromkeys(processes, 0), dict.fromkeys(processes, 0)
    by_thread, standbys, warmups = [], 0, 0
    copies: dict[Task, Counter[str]] = defaultdict(Counter)
    standing, spares = Counter[Task](), set[tuple[Task, str]]()
    for member in group.members.values():
        tasks = held(member)
        own = pairs(tasks.active)
        spare = pairs(tasks.standby) + pairs(tasks.warmup)
        kept = sum(bool(stateful[name]) for name, _ in own)
        active[member.process] += len(own)
        keeping[member.process] += kept
        by_thread.append(kept)
        standbys += len(spare)
        warmups += len(pairs(tasks.warmup))
        standing.update(pairs(tasks.standby))
        for task in (*own, *spare):
            copies[task][member.process] += 1
        spares |= {(task, member.process) for task in spare}
    misplaced = [(task, process) for task, process in spares if copies[task][process] > 1]
    return Tasks(
        active,
        tuple(by_thread),
        keeping,
        standbys,
        warmups,
        tuple(sorted(misplaced)),
        _missing(group, standing, len(processes)),
        tuple(name for name, keeps in sorted(stateful.items()) if keeps is None),
    )


def _missing(
    group: StreamsDocument, standing: Counter[Task], processes: int
) -> tuple[Task, ...] | None:
    if group.standby_replicas is None:
        return None
    wanted = min(group.standby_replicas, max(processes - 1, 0))
    return tuple(
        (name, number)
        for name, one in sorted(group.subtopologies.items())
        if one.stateful
        for number in range(one.tasks)
        if standing[name, number] < wanted
    )
