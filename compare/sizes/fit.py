"""Fit: the fewest members that hold a group's weights within a capacity, and the moves for it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from compare.what_if import all_alike, new_names
from groups.errors import BadInput
from groups.framed import Framed
from groups.wording import counted, whole_number
from optimal.elastic import Elastic, Packing, frontier

if TYPE_CHECKING:
    from collections.abc import Iterator

    from groups.group import Group

FORMAT = "assay-fit/1"


@dataclass(frozen=True)
class FitRow:
    """The moves with a number of members.

    Attributes
    ----------
    members : the number
    moved_weight : weight that leaves its member
    moved_weight_bound : lower bound on it; None if fewer members may be enough
    moves : how many partitions leave their member
    most_weight : weight of the member with most
    proof : `certificate`, `solver`, or `none` if value and bound differ
    """

    members: int
    moved_weight: int
    moved_weight_bound: int | None
    moves: int
    most_weight: int
    proof: str


@dataclass(frozen=True)
class Fit(Framed):
    """How many members a group needs to hold its weights within a capacity.

    Attributes
    ----------
    group : its name
    capacity : the greatest weight of a member, in the unit of the weights
    members_now, above_now : number of members, and of those above the capacity
    partitions, weight : number of partitions, and their total weight
    too_heavy : number of partitions that weigh more than the capacity; each fills a member
    fewest, fewest_bound : the number of members that is enough, and a lower bound on it
    rows : from the fewest members on, each number with which less weight moves
    assignment : partitions by member and topic, with the fewest members
    assumed : the group's own assumptions
    """

    group: str
    capacity: int
    members_now: int
    above_now: int
    partitions: int
    weight: int
    too_heavy: int
    fewest: int
    fewest_bound: int
    rows: tuple[FitRow, ...]
    assignment: dict[str, dict[str, list[int]]]
    assumed: tuple[str, ...] = ()

    def to_rows(self) -> Iterator[dict[str, object]]:
        """Return one row for each number of members, with the columns of `FitRow`."""
        yield from map(asdict, self.rows)

    @property
    def in_a_line(self) -> str:
        """The group and the number of members that is enough, as a line."""
        enough = counted(self.fewest, "member")
        least = "" if self.fewest == self.fewest_bound else f", at least {self.fewest_bound:,}"
        return f"{self.group}: within {self.capacity:,} a member: {enough}{least}"

    def to_dict(self) -> dict[str, object]:
        """Return the ``assay-fit/1`` document."""
        return {"format": FORMAT, **asdict(self)}


def parse_capacity(text: str) -> int:
    """Return the capacity of ``400k`` or ``8``.

    Raises
    ------
    BadInput
        If it is not such a number, or 0.
    """
    found = whole_number(text)
    if not found:
        raise BadInput(f"capacity {text}: expected a number of 1 or more as in 8 or 400k")
    return found


def fit(
    group: Group,
    capacity: int,
    *,
    time_limit: float | None = 10.0,
    assume_equal: bool = False,
) -> Fit:
    """Return the fewest members that hold a group's weights within a capacity, and the moves.

    It also has a row for each greater number of members with which less weight moves. New members
    read what the others read. A partition that weighs more than the capacity fills a member.

    Parameters
    ----------
    capacity : weight that a member takes, in the unit of the partitions' `weight`
    time_limit : seconds for all numbers of members together
    assume_equal : take unknown subscriptions as all topics of the group

    Raises
    ------
    BadInput
        If a weight is unknown, members differ in their topics or their own `capacity`, or the
        capacity is below 1.

    Examples
    --------
    >>> from assay import Group, fit
    >>> document = {"format": "assay-group/1", "group": "orders"}
    >>> document["topics"] = {"t0": {"partitions": 4, "weight": [60, 50, 30, 20]}}
    >>> document["members"] = {"c0": {"owned": {"t0": [0, 1]}}, "c1": {"owned": {"t0": [2, 3]}}}
    >>> found = fit(Group.from_dict(document), 100, assume_equal=True)
    >>> [(row.members, row.moved_weight, row.most_weight) for row in found.rows]
    [(2, 50, 100)]
    >>> found.assignment
    {'c0': {'t0': [0]}, 'c1': {'t0': [1, 2, 3]}}
    """
    if assume_equal:
        group = group.with_equal_subscriptions()
    group.require_subscriptions()
    if group.members and not all_alike(group):
        raise BadInput("members: they read different topics or at different rates, expected alike")
    read = (group.readers > 0) if group.members else np.ones(len(group.topics), bool)
    chosen = np.flatnonzero(read[group.topic])
    weight = np.full(group.n_partitions, -1) if group.weight is None else group.weight
    for p in chosen[weight[chosen] < 0].tolist():
        number, topic = p - int(group.first[group.topic[p]]), group.topics[group.topic[p]]
        raise BadInput(f"topics.{topic}.weight.{number}: unknown, but a capacity needs it")
    owner = group.owner[chosen].tolist()
    elastic = Elastic(tuple(weight[chosen].tolist()), capacity, tuple(owner))
    points = frontier(elastic, time_limit=time_limit)
    fewest = points[0]
    loads = {m: sum(elastic.speeds[p] for p in held) for m, held in elastic.held.items()}
    return Fit(
        group=group.name,
        capacity=capacity,
        members_now=len(group.members),
        above_now=sum(load > capacity for load in loads.values()),
        partitions=len(chosen),
        weight=sum(elastic.speeds),
        too_heavy=sum(speed > capacity for speed in elastic.speeds),
        fewest=fewest.members,
        fewest_bound=fewest.terms[0].bound or 0,
        rows=tuple(_row(elastic, point) for point in points),
        assignment=_assignment(group, chosen.tolist(), fewest),
        assumed=group.assumed,
    )


def _row(elastic: Elastic, point: Packing) -> FitRow:
    moved = point.terms[-1]
    loads = dict.fromkeys(point.owner, 0)
    for speed, member in zip(elastic.speeds, point.owner, strict=True):
        loads[member] += speed
    pairs = zip(elastic.owner, point.owner, strict=True)
    return FitRow(
        members=point.at_most,
        moved_weight=moved.value,
        moved_weight_bound=moved.bound,
        moves=sum(old not in (-1, new) for old, new in pairs),
        most_weight=max(loads.values(), default=0),
        proof=str(point.proof),
    )


def _assignment(
    group: Group, chosen: list[int], packing: Packing
) -> dict[str, dict[str, list[int]]]:
    """Return partitions by member and topic; new members are named new-1 and so on."""
    highest = max(packing.owner, default=-1)
    names = [*group.members, *new_names(group, max(0, highest + 1 - len(group.members)))]
    found: dict[str, dict[str, list[int]]] = {}
    for p, member in sorted(zip(chosen, packing.owner, strict=True), key=lambda pair: pair[::-1]):
        topic = int(group.topic[p])
        number = p - int(group.first[topic])
        found.setdefault(names[member], {}).setdefault(group.topics[topic], []).append(number)
    return found
