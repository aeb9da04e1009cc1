"""Task promises: what an assignor of Kafka Streams tasks should keep over a rebalance.

A promise is checked on the placement of a group's tasks before and after a rebalance. The best
value is one that some assignment of the group reaches; the docstrings say why.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from compare.promises.promise import NOT_TESTED, Judgement
from groups import Group
from groups.documents.assay_group import pairs
from groups.documents.assay_streams import held
from optimal import solve

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from groups.documents.assay_streams import StreamsDocument

EVEN_THEN_RESTORES = "balance > host_balance > stateful_balance > restores"
Task: TypeAlias = tuple[str, int]


@dataclass(frozen=True)
class Placement:
    """The tasks of each member of a group, as the assignor sees them."""

    group: StreamsDocument

    @cached_property
    def tasks(self) -> list[Task]:
        """All tasks of the topology, sorted by subtopology and number."""
        return [
            (s, n) for s, one in sorted(self.group.subtopologies.items()) for n in range(one.tasks)
        ]

    @cached_property
    def active(self) -> dict[Task, list[str]]:
        """The members that have each task as active."""
        return self._holders("active")

    @cached_property
    def standby(self) -> dict[Task, list[str]]:
        """The members that have each task as standby."""
        return self._holders("standby")

    @cached_property
    def threads(self) -> Counter[str]:
        """The number of members of each process."""
        return Counter(member.process for member in self.group.members.values())

    @cached_property
    def warmup(self) -> dict[Task, list[str]]:
        """The members on which each task warms up, to become active there."""
        return self._holders("warmup")

    def _holders(self, role: str) -> dict[Task, list[str]]:
        found: dict[Task, list[str]] = defaultdict(list)
        for name, member in self.group.members.items():
            for task in pairs(getattr(held(member), role)):
                found[task].append(name)
        return dict(found)

    def is_stateful(self, task: Task) -> bool:
        """Return whether a task keeps state."""
        one = self.group.subtopologies.get(task[0])
        return bool(one and one.stateful)

    def process(self, member: str) -> str:
        """Return the process of a member."""
        return self.group.members[member].process

    def copies(self, task: Task) -> list[str]:
        """Return the processes that hold a task in any role, once for each copy."""
        roles = (self.active, self.standby, self.warmup)
        return [self.process(m) for of in roles for m in of.get(task, ())]

    def loads(self, *, stateful: bool = False, standbys: bool = False) -> Counter[str]:
        """Return the number of active tasks of each member.

        Parameters
        ----------
        stateful : count only tasks that keep state
        standbys : count standby tasks, too
        """
        found = Counter(dict.fromkeys(self.group.members, 0))
        for of in (self.active, self.standby)[: 1 + standbys]:
            for task, members in of.items():
                if self.is_stateful(task) or not stateful:
                    found.update(members)
        return found


class TaskPromise(NamedTuple):
    """A promise in one line, and the function that judges the placements before and after."""

    text: str
    judge: Callable[[Placement, Placement], Judgement]


def _valid(before: Placement, after: Placement) -> Judgement:
    wrong = [f"{t} does not exist" for t in {*after.active, *after.standby} - {*after.tasks}]
    copies = min(after.group.standby_replicas or 0, len(after.threads) - 1)
    for task in after.tasks:
        expected = copies if after.is_stateful(task) else 0
        actives, standbys = len(after.active.get(task, [])), len(after.standby.get(task, []))
        if actives != 1:
            wrong.append(f"{task} has {actives} actives")
        if standbys != expected:
            wrong.append(f"{task} has {standbys} standbys, expected {expected}")
        counts = Counter(after.copies(task))
        wrong += [f"{process} has {task} twice" for process in counts if counts[process] > 1]
    return Judgement(not wrong, {"wrong": sorted(wrong)[:3]})


def _even(loads: Counter[str]) -> Judgement:
    counts = sorted(loads.values(), reverse=True)
    return Judgement(counts[0] - counts[-1] <= 1, {"loads": counts}) if counts else NOT_TESTED


def _processes_even(before: Placement, after: Placement) -> Judgement:
    """Judge the sum over processes of load² / threads against its minimum."""
    found: Counter[str] = Counter()
    for member, load in after.loads().items():
        found[after.process(member)] += load
    measured = {
        "loads": dict(sorted(found.items())),
        "threads": dict(sorted(after.threads.items())),
    }
    return Judgement(_spread(found, after) == _spread(_even_loads(after), after), measured)


def _even_loads(group: Placement) -> Counter[str]:
    """Return loads of processes that are as even per thread as can be.

    The greedy method is optimal for separable convex costs (Fox 1966,
    doi:10.1287/opre.14.2.210). It gives each thread of a process the mean of the group, rounded
    up or down, so that the loads of threads are as even as can be, too.
    """
    least = Counter(dict.fromkeys(group.threads, 0))
    for _ in group.tasks:
        # By how much one task more adds to the sum of load² / threads.
        cost = {p: Fraction(2 * load + 1, group.threads[p]) for p, load in least.items()}
        least[min(least, key=lambda p: (cost[p], p))] += 1
    return least


def _spread(loads: Counter[str], group: Placement) -> Fraction:
    squares = (Fraction(load * load, group.threads[p]) for p, load in loads.items())
    return sum(squares, Fraction())


def _standbys_even(before: Placement, after: Placement) -> Judgement:
    """Judge whether a standby could move to a member with at least two tasks fewer."""
    totals = after.loads(standbys=True)
    for task, members in after.standby.items():
        taken = set(after.copies(task))
        for member in members:
            for other in sorted(totals, key=lambda m: (totals[m], m)):
                if totals[member] - totals[other] < 2:
                    break
                if after.process(other) not in taken - {after.process(member)}:
                    moved = {"from": [member, totals[member]], "to": [other, totals[other]]}
                    return Judgement(False, {"task": "_".join(map(str, task)), **moved})
    return Judgement(True, {}) if after.standby else NOT_TESTED


def moves(before: Placement, after: Placement) -> int:
    """Return how many active tasks leave a member that stays in the group."""
    remaining = after.group.members
    return sum(
        member not in after.active.get(task, ())
        for task, members in before.active.items()
        for member in members
        if member in remaining and task in after.active
    )


def fewest_moves(before: Placement) -> int:
    """Return the fewest moves to loads that differ by at most one.

    With T tasks and M members, T mod M members may have one more than the others. Each member
    keeps its tasks up to that load.
    """
    loads = [
        sum(member in before.active.get(task, ()) for task in before.tasks)
        for member in before.group.members
    ]
    share, more = divmod(len(before.tasks), len(loads))
    above = sum(load > share for load in loads)
    return sum(loads) - sum(min(load, share) for load in loads) - min(above, more)


def _fewest_moves(before: Placement, after: Placement) -> Judgement:
    if not before.group.members or not before.active:
        return NOT_TESTED
    found, best = moves(before, after), fewest_moves(before)
    return Judgement(found <= best, {"moves": found, "enough": best})


def restores(before: Placement, after: Placement) -> int:
    """Return how many stateful tasks become active in a process without a copy of them.

    Tasks without any copy before do not count.
    """
    return sum(
        after.process(member) not in copies
        for task, members in after.active.items()
        if after.is_stateful(task) and (copies := before.copies(task))
        for member in members
    )


def fewest_restores(before: Placement) -> int:
    """Return the fewest restores if threads, processes and stateful tasks have to be even first.

    It is the value of the optimum, minus the tasks without any copy.
    """
    solution = solve(Group.of_document(before.group), EVEN_THEN_RESTORES)
    new = sum(before.is_stateful(task) and not before.copies(task) for task in before.tasks)
    return solution.terms[-1].value - new


def _fewest_restores(before: Placement, after: Placement) -> Judgement:
    if not before.group.members or not any(map(before.is_stateful, before.active)):
        return NOT_TESTED
    found = restores(before, after)
    enough = fewest_restores(before) if found else 0
    return Judgement(found <= enough, {"restores": found, "enough": enough})


TASK_PROMISES: Mapping[str, TaskPromise] = {
    "valid": TaskPromise(
        "every task has one active; a stateful one has its standbys, as far as processes suffice, "
        "each copy on a process of its own",
        _valid,
    ),
    "threads-even": TaskPromise(
        "active tasks of two members differ by at most one",
        lambda before, after: _even(after.loads()),
    ),
    "processes-even": TaskPromise(
        "active tasks per thread are as even between processes as can be", _processes_even
    ),
    "stateful-even": TaskPromise(
        "stateful active tasks of two members differ by at most one",
        lambda before, after: _even(after.loads(stateful=True)),
    ),
    "standbys-even": TaskPromise(
        "no standby could move to a member with two tasks less", _standbys_even
    ),
    "fewest-moves": TaskPromise(
        "no more active tasks leave their member than even threads take", _fewest_moves
    ),
    "fewest-restores": TaskPromise(
        "no more stateful tasks are restored than even threads, processes and stateful tasks take",
        _fewest_restores,
    ),
}
