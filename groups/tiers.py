"""The objective tiers, their values and presets, and the grammar ``balance > stickiness``.

An objective is a tuple of tier names in order of precedence; every tier is an integer to be
minimised.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from groups.arrays import Bools, Int64
    from groups.assignment import Assignment
    from groups.group import Group

Objective = tuple[str, ...]
SAFE_TOTAL = 2**62
# What people call moves.
MOVES = "stickiness"
# Of the busiest member: those of lag, and all.
LAG_PEAKS = ("peak_lag", "peak_time")
PEAKS = (*LAG_PEAKS, "peak_weight")
# What follows from how many partitions each member holds, and is least where balance is.
OF_COUNTS = ("load_spread", "idle_members")
MANY = 100


@dataclass(frozen=True)
class Tier:
    """One tier of an objective.

    Attributes
    ----------
    value : what an assignment costs
    greatest : what no assignment of a group, nor a sum that stands for its cost, is above
    needs : the column that a group must have; `peak_time` needs the members' `capacity`, too
    is_flow : whether the exact network method serves it
    """

    name: str
    value: Callable[[Assignment], int]
    greatest: Callable[[Group], int]
    needs: Literal["lag", "weight", "racks"] | None = None
    is_flow: bool = True


def pairwise_difference(values: Sequence[int]) -> int:
    """Return the sum over all pairs of the difference of their values (KIP-54's score)."""
    last = len(values) - 1
    return sum((2 * i - last) * value for i, value in enumerate(sorted(values)))


def _balance(assignment: Assignment) -> int:
    loads, members = assignment.loads, len(assignment.loads)
    if members < MANY or members * len(assignment.owner) >= SAFE_TOTAL:
        return pairwise_difference(loads.tolist())
    return int(((2 * np.arange(members) - (members - 1)) * np.sort(loads)).sum())


def _load_spread(assignment: Assignment) -> int:
    loads = assignment.loads
    return int(loads.max() - loads.min()) if len(loads) else 0


def _idle_members(assignment: Assignment) -> int:
    """Return how many members hold nothing, less those for whom there are too few partitions."""
    return _most_idle(assignment.group) - int((assignment.loads > 0).sum())


def _topic_balance(assignment: Assignment) -> int:
    member, partition = assignment.holdings
    width = len(assignment.group.members)
    _, held = np.unique(
        assignment.group.topic[partition].astype(np.int64) * width + member, return_counts=True
    )
    return int((held * held).sum())


def _stickiness(assignment: Assignment) -> int:
    return len(assignment.moved)


def _moved_weight(assignment: Assignment) -> int:
    weight = assignment.group.weight
    return 0 if weight is None else int(weight[assignment.moved].sum())


def _racks(assignment: Assignment) -> int:
    racks = assignment.group.racks
    return 0 if racks is None else int(racks.misses(*assignment.holdings).sum())


def load_of(assignment: Assignment, column: Int64 | None) -> list[int]:
    """Return the sum of a column, (all partitions,) int64, over what each member holds."""
    members = len(assignment.group.members)
    if column is None:
        return [0] * members
    member, partition = assignment.holdings
    known = np.maximum(column[partition], 0)
    fits = known.sum(dtype=float) < SAFE_TOTAL
    load = np.zeros(members, np.int64 if fits else object)
    np.add.at(load, member, known if fits else known.astype(object))
    return list(map(int, load.tolist()))


def _read(group: Group) -> int:
    """Return how many partitions somebody reads."""
    return int(group.partitions[group.readers > 0].sum())


def _most_balance(group: Group) -> int:
    """Return the greatest of KIP-54's score and the sum of squared loads that stands for it."""
    return _read(group) * max(len(group.members) - 1, _read(group))


def _most_idle(group: Group) -> int:
    return min(len(group.members), _read(group))


def _most_topic_balance(group: Group) -> int:
    return sum(count**2 for count in group.partitions[group.readers > 0].tolist())


def _total(column: Int64 | None, wanted: Bools) -> int:
    return 0 if column is None else int(np.maximum(column[wanted], 0).sum())


def _most_moved_weight(group: Group) -> int:
    return _total(group.weight, group.owner >= 0)


def _sums(name: str, needs: Literal["lag", "weight"]) -> tuple[Tier, Tier, Tier]:
    def column(group: Group) -> Int64 | None:
        return group.lag_records if needs == "lag" else group.weight

    def loads(assignment: Assignment) -> list[int]:
        return load_of(assignment, column(assignment.group))

    def total(group: Group) -> int:
        return _total(column(group), group.readers[group.topic] > 0)

    def total_of_pairs(group: Group) -> int:
        return total(group) * max(1, len(group.members) - 1)

    def peak(assignment: Assignment) -> int:
        return max(loads(assignment), default=0)

    def spread(assignment: Assignment) -> int:
        return max(loads(assignment), default=0) - min(loads(assignment), default=0)

    def balance(assignment: Assignment) -> int:
        return pairwise_difference(loads(assignment))

    return (
        Tier(f"peak_{name}", peak, total, needs, is_flow=False),
        Tier(f"{name}_spread", spread, total, needs, is_flow=False),
        Tier(f"{name}_balance", balance, total_of_pairs, needs, is_flow=False),
    )


def _peak_time(assignment: Assignment) -> int:
    """Return the seconds that the last member takes to catch up, 0 for one of no capacity."""
    group = assignment.group
    behind = zip(load_of(assignment, group.lag_records), group.capacity.tolist(), strict=True)
    return max((-(-lag // rate) for lag, rate in behind if rate > 0), default=0)


def _most_time(group: Group) -> int:
    """Return the total lag, which seconds are no more than, and which stands for their cost."""
    return _total(group.lag_records, group.readers[group.topic] > 0)


TIERS = {
    tier.name: tier
    for tier in (
        Tier("balance", _balance, _most_balance),
        Tier("topic_balance", _topic_balance, _most_topic_balance),
        Tier("stickiness", _stickiness, _read),
        Tier("moved_weight", _moved_weight, _most_moved_weight, "weight"),
        Tier("racks", _racks, _read, "racks"),
        Tier("load_spread", _load_spread, _read, is_flow=False),
        Tier("idle_members", _idle_members, _most_idle, is_flow=False),
        *_sums("lag", "lag"),
        Tier("peak_time", _peak_time, _most_time, "lag", is_flow=False),
        *_sums("weight", "weight"),
    )
}

PRESETS: dict[str, Objective] = {
    "kip-54": ("balance", "stickiness"),
    "kip-54-fairest": ("stickiness", "balance"),
    "kip-169": ("topic_balance", "peak_lag"),
    "kip-881": ("balance", "racks", "stickiness"),
}


def tier_named(name: str) -> str:
    """Return the tier of a name: ``moves``, as the tables say, is `stickiness`."""
    return "stickiness" if name == "moves" else name


def parse_objective(objective: str | Sequence[str]) -> Objective:
    """Return the tiers of a preset, of ``"balance > stickiness"`` or of a sequence of names.

    Raises
    ------
    BadInput
        Where a tier is not known, comes twice, or none is named.
    """
    if isinstance(objective, str):
        if objective.strip() in PRESETS:
            return PRESETS[objective.strip()]
        names = [name.strip() for name in objective.split(">")]
    else:
        names = list(objective)
    names = [tier_named(name) for name in names]
    for name in names:
        if name not in TIERS:
            known = ", ".join((*PRESETS, *TIERS))
            raise BadInput(f"objective: unknown tier {name!r}, expected one of {known}")
    if not names:
        raise BadInput("objective: no tier named")
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"objective: tier {name!r} appears twice")
    return tuple(names)


def is_flow(objective: Sequence[str]) -> bool:
    """Say whether the exact network method serves every tier."""
    return all(TIERS[tier].is_flow for tier in objective)


def values(assignment: Assignment, objective: Objective) -> tuple[int, ...]:
    """Return the value of each tier, in the objective's order."""
    return tuple(TIERS[name].value(assignment) for name in objective)
