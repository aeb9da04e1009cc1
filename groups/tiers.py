"""The objective tiers, their values and presets, and the grammar ``balance > stickiness``.

An objective is a tuple of tier names in order of precedence; every tier is an integer to be
minimised.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise, permutations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from groups.arguments import shown
from groups.arrays import exact_sums, greatest, least, sums
from groups.columns.places import PLACE_KINDS
from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from groups.arrays import Bools, Int64
    from groups.assignment import Assignment
    from groups.columns.places import PlaceKind
    from groups.columns.racks import Racks
    from groups.fleet import Fleet
    from groups.group import Group

Objective = tuple[str, ...]
# int64, or Python integers where a sum may leave 64 bits.
Exact = npt.NDArray[Any]
SAFE_TOTAL = 2**62
# The tier that counts moves.
MOVES = "stickiness"
# Tiers of the busiest member: those of lag, and all.
LAG_PEAKS = ("peak_lag", "peak_time")
PEAKS = (*LAG_PEAKS, "peak_weight")
# Tiers of how many partitions each member holds; they are least if balance is.
OF_COUNTS = ("load_spread", "idle_members")


@dataclass(frozen=True)
class Cost:
    """What one partition costs in a tier; it depends on its member only, not on other partitions.

    Attributes
    ----------
    leaving : whether a partition costs something if it leaves its owner
    weight : that cost, (partitions,) int64, -1 where unknown; None: 1 each
    far : whether a partition costs 1 with a member whose rack holds no replica of it, or whose
        host no copy of its state
    """

    leaving: bool = False
    weight: Callable[[Group], Int64 | None] | None = None
    far: bool = False

    def of_leaving(self, group: Group, partitions: Int64 | slice) -> Int64:
        """Return what `partitions` cost if they leave their owners, int64, one for each."""
        weight = None if self.weight is None else self.weight(group)
        if weight is not None:
            return weight[partitions]
        unit = int(self.leaving and self.weight is None)
        return np.full(len(group.owner[partitions]), unit, np.int64)

    def greatest(self, group: Group) -> int:
        """Return an upper bound on what one partition costs."""
        if self.weight is None:
            return 1
        weight = self.weight(group)
        return 0 if weight is None else int(weight.max(initial=0))

    def dearest(self, group: Group) -> Int64 | Bools:
        """(all partitions,) int64 or bool: an upper bound on what each costs."""
        weight = None if self.weight is None else self.weight(group)
        if weight is None:
            return np.full(group.n_partitions, self.weight is None)
        return np.where(group.owner >= 0, np.maximum(weight, 0), 0)


@dataclass(frozen=True)
class Tier:
    """One tier of an objective: everything about it except its formulations for solvers.

    Attributes
    ----------
    sentence : what the tier asks for, in a sentence for users
    value : the value of an assignment for each group of a fleet, (groups,); the assignment is one
        of the fleet's `group`, and need not be valid
    greatest : an upper bound on the value of every assignment of a group, and on the sum that
        a solver minimises for it
    needs : the column that a group must have; `peak_time` needs the members' `capacity`, too
    cost : what one partition costs; None if that depends on other partitions
    is_convex : whether flows minimise it as a sum of squares: of partitions per member (all, of
        one topic, or those that keep state) or of partitions per place
    place : the kind of place
    unit : what its value counts
    """

    name: str
    sentence: str
    value: Callable[[Assignment, Fleet], Exact]
    greatest: Callable[[Group], int]
    needs: Literal["lag", "weight", "racks", "copies"] | None = None
    cost: Cost | None = None
    is_convex: bool = False
    place: PlaceKind | None = None
    unit: str = "partitions"

    @property
    def is_flow(self) -> bool:
        """Whether the exact network method serves it."""
        return self.is_convex or self.cost is not None


def pairwise_difference(values: Sequence[int]) -> int:
    """Return the sum over all pairs of the difference of their values (KIP-54's score)."""
    last = len(values) - 1
    return sum((2 * i - last) * value for i, value in enumerate(sorted(values)))


def load_of(assignment: Assignment, column: Int64 | None) -> list[int]:
    """Return for each member the sum of a column, (all partitions,) int64, over what it holds."""
    return list(map(int, _loads(assignment, column).tolist()))


def _loads(assignment: Assignment, column: Int64 | None) -> Exact:
    """(members,) the loads that `load_of` returns."""
    members = len(assignment.group.members)
    if column is None:
        return np.zeros(members, np.int64)
    member, partition = assignment.holdings
    known = np.maximum(column[partition], 0)
    fits = known.sum(dtype=float) < SAFE_TOTAL
    load: Exact = np.zeros(members, np.int64 if fits else object)
    np.add.at(load, member, known if fits else known.astype(object))
    return load


def _pairs(loads: Exact, fleet: Fleet) -> Exact:
    """(groups,) the sum over all pairs of members of a group of the difference of their loads."""
    start, size = fleet.member_start, np.diff(fleet.member_start)
    if float(loads.sum()) * float(size.max(initial=0)) >= SAFE_TOTAL:
        each = (pairwise_difference(loads[a:b].tolist()) for a, b in pairwise(start.tolist()))
        return np.array([*each], object)
    if len(fleet) == 1:
        return sums((2 * np.arange(size[0]) - (size[0] - 1)) * np.sort(loads), start)
    group = fleet.member_group
    ascending = loads[np.lexsort((loads, group))]
    rank = np.arange(len(loads)) - start[group]
    return sums((2 * rank - (size[group] - 1)) * ascending, start)


def _peak(loads: Exact, fleet: Fleet) -> Exact:
    return greatest(loads, fleet.member_start)


def _spread(loads: Exact, fleet: Fleet) -> Exact:
    return np.asarray(greatest(loads, fleet.member_start) - least(loads, fleet.member_start))


def _most_busy(fleet: Fleet) -> Int64:
    """(groups,) the lesser of the number of members and the number of partitions that are read."""
    there = np.where(fleet.group.readers > 0, fleet.group.partitions, 0)
    return np.minimum(np.diff(fleet.member_start), sums(there, fleet.topic_start))


def _idle_members(assignment: Assignment, fleet: Fleet) -> Int64:
    """(groups,) how many members hold nothing that could hold a partition."""
    return _most_busy(fleet) - sums(assignment.loads > 0, fleet.member_start)


def _topic_balance(assignment: Assignment, fleet: Fleet) -> Int64:
    member, partition = assignment.holdings
    width = max(len(assignment.group.members), 1)
    of, held = np.unique(
        assignment.group.topic[partition].astype(np.int64) * width + member, return_counts=True
    )
    squares = np.zeros(len(assignment.group.topics), np.int64)
    np.add.at(squares, of // width, held * held)
    return sums(squares, fleet.topic_start)


def _of_places(kind: PlaceKind, sentence: str) -> Tier:
    """Return the tier of how even hosts or racks are in partitions per member."""

    def value(assignment: Assignment, fleet: Fleet) -> Exact:
        return np.array(
            [
                fleet.alone(at).places(kind).squares(assignment.loads[fleet.members(at)])
                for at in range(len(fleet))
            ]
        )

    def greatest(group: Group) -> int:
        return max(group.places(kind).weight, default=0) * _read(group) ** 2

    return Tier(
        f"{kind}_balance",
        sentence,
        value,
        greatest,
        is_convex=True,
        place=kind,
        unit="weighted squares of partitions",
    )


def _moved_weight(assignment: Assignment, fleet: Fleet) -> Exact:
    weight = assignment.group.weight
    nothing = np.zeros(len(fleet), np.int64)
    return nothing if weight is None else of_moved(assignment, fleet, weight)


def of_moved(assignment: Assignment, fleet: Fleet, column: Int64 | None) -> Exact:
    """(groups,) the sum of a column over the partitions that move; None: their number."""
    moved = assignment.moved
    start = np.searchsorted(moved, fleet.partition_start)
    return np.diff(start) if column is None else exact_sums(column[moved], start)


def _racks(assignment: Assignment, fleet: Fleet) -> Int64:
    racks = assignment.group.racks
    if racks is None:
        return np.zeros(len(fleet), np.int64)
    member, partition = assignment.holdings
    far = member[racks.misses(member, partition)]
    return np.bincount(fleet.member_group[far], minlength=len(fleet))


def _of_copies(
    of_one: Callable[[Racks, Int64, Int64], int],
) -> Callable[[Assignment, Fleet], Int64]:
    """Return the value function of a tier that looks at copies of state.

    Parameters
    ----------
    of_one : the value for one group, from its copies and the member and partition of each holding
    """

    def value(assignment: Assignment, fleet: Fleet) -> Int64:
        member, partition = assignment.holdings
        found = np.zeros(len(fleet), np.int64)
        for at in range(len(fleet)):
            copies = fleet.alone(at).copies
            if copies is not None:
                here, first = fleet.member_group[member] == at, fleet.partitions(at).start
                own = member[here] - fleet.members(at).start, partition[here] - first
                found[at] = of_one(copies, *own)
        return found

    return value


def _state_squares(copies: Racks, member: Int64, partition: Int64) -> int:
    return int((np.bincount(member[copies.replicas[partition] >= 0]) ** 2).sum())


def _peak_time(assignment: Assignment, fleet: Fleet) -> Exact:
    """(groups,) seconds until the last member has caught up; a member of unknown capacity: 0."""
    group = assignment.group
    behind, rate = _loads(assignment, group.lag_records), group.capacity
    return _peak(np.where(rate > 0, -(-behind // np.maximum(rate, 1)), 0), fleet)


def _read(group: Group) -> int:
    """Return how many partitions somebody reads."""
    return int(group.partitions[group.readers > 0].sum())


def _most_balance(group: Group) -> int:
    """Return an upper bound on KIP-54's score and on the sum of squares that replaces it."""
    return _read(group) * max(len(group.members) - 1, _read(group))


def _total(column: Int64 | None, wanted: Bools) -> int:
    return 0 if column is None else int(np.maximum(column[wanted], 0).sum())


def _most_time(group: Group) -> int:
    """Return the total lag: seconds are no more, and a solver minimises records in their place."""
    return _total(group.lag_records, group.readers[group.topic] > 0)


def _of_sums(name: str, needs: Literal["lag", "weight"]) -> tuple[Tier, Tier, Tier]:
    """Return the three tiers (peak, spread, balance) of lag or of weight per member."""

    def column(group: Group) -> Int64 | None:
        return group.lag_records if needs == "lag" else group.weight

    def valued(shape: Callable[[Exact, Fleet], Exact]) -> Callable[[Assignment, Fleet], Exact]:
        return lambda assignment, fleet: shape(_loads(assignment, column(assignment.group)), fleet)

    def total(group: Group) -> int:
        return _total(column(group), group.readers[group.topic] > 0)

    def total_of_pairs(group: Group) -> int:
        return total(group) * max(1, len(group.members) - 1)

    most = f"as little {name} as possible on the member that has most"
    spread = f"as little as possible between the most {name} and the least"
    even = f"{name} per member as even as it can be"
    unit = "records" if needs == "lag" else "units of weight"
    return (
        Tier(f"peak_{name}", most, valued(_peak), total, needs, unit=unit),
        Tier(f"{name}_spread", spread, valued(_spread), total, needs, unit=unit),
        Tier(f"{name}_balance", even, valued(_pairs), total_of_pairs, needs, unit=unit),
    )


TIERS = {
    tier.name: tier
    for tier in (
        Tier(
            "balance",
            "partitions per member as even as they can be",
            lambda assignment, fleet: _pairs(assignment.loads, fleet),
            _most_balance,
            is_convex=True,
            unit="points",
        ),
        Tier(
            "topic_balance",
            "each topic spread over its members as evenly as it can be",
            _topic_balance,
            lambda group: sum(n**2 for n in group.partitions[group.readers > 0].tolist()),
            is_convex=True,
            unit="squares of partitions",
        ),
        Tier(
            "load_squares",
            "partitions per member as even as they can be, by the squares of their numbers",
            lambda assignment, fleet: sums(assignment.loads**2, fleet.member_start),
            lambda group: _read(group) ** 2,
            is_convex=True,
            unit="squares of partitions",
        ),
        _of_places("host", "each host as many partitions for a member as the others"),
        _of_places("rack", "each rack as many partitions for a member as the others"),
        Tier(
            "stateful_balance",
            "partitions that keep state per member as even as they can be",
            _of_copies(_state_squares),
            lambda group: _read(group) ** 2,
            needs="copies",
            is_convex=True,
            unit="squares of partitions",
        ),
        Tier(
            "restores",
            "as few partitions as possible on a host without a copy of their state",
            _of_copies(lambda copies, *held: int(copies.misses(*held).sum())),
            _read,
            needs="copies",
            cost=Cost(far=True),
        ),
        Tier(
            "stickiness",
            "as few partitions moved as possible",
            lambda assignment, fleet: of_moved(assignment, fleet, None),
            _read,
            cost=Cost(leaving=True),
        ),
        Tier(
            "moved_weight",
            "as little weight moved as possible",
            _moved_weight,
            lambda group: _total(group.weight, group.owner >= 0),
            needs="weight",
            cost=Cost(leaving=True, weight=lambda group: group.weight),
            unit="units of weight",
        ),
        Tier(
            "racks",
            "as many partitions as possible with a replica in their member's rack",
            _racks,
            _read,
            needs="racks",
            cost=Cost(far=True),
        ),
        Tier(
            "load_spread",
            "as little as possible between the most partitions and the fewest",
            lambda assignment, fleet: _spread(assignment.loads, fleet),
            _read,
        ),
        Tier(
            "idle_members",
            "as few members without a partition as possible",
            _idle_members,
            lambda group: min(len(group.members), _read(group)),
            unit="members",
        ),
        *_of_sums("lag", "lag"),
        Tier(
            "peak_time",
            "as little time as possible until the last member has caught up",
            _peak_time,
            _most_time,
            needs="lag",
            unit="seconds",
        ),
        *_of_sums("weight", "weight"),
    )
}


def cost_of(tier: str) -> Cost:
    """Return what one partition costs in a tier; nothing if that depends on other partitions."""
    return TIERS[tier].cost or Cost()


PRESETS: dict[str, Objective] = {
    "kip-54": ("balance", "stickiness"),
    "kip-54-fairest": ("stickiness", "balance"),
    "kip-169": ("topic_balance", "peak_lag"),
    "kip-881": ("balance", "racks", "stickiness"),
    "kip-1071": ("balance", "host_balance", "stateful_balance", "restores", "stickiness"),
}


def tier_named(name: str) -> str:
    """Return the name of a tier, `stickiness` for ``moves``, which the tables say."""
    return "stickiness" if name == "moves" else name


def parse_objective(objective: str | Sequence[str]) -> Objective:
    """Return the tiers of a preset, of ``"balance > stickiness"`` or of a sequence of names.

    Raises
    ------
    BadInput
        If it is no such text or sequence, a tier is not known, comes twice, or none is named.
    """
    if isinstance(objective, str):
        if objective.strip() in PRESETS:
            return PRESETS[objective.strip()]
        names = [name.strip() for name in objective.split(">")]
    elif isinstance(objective, (list, tuple, np.ndarray)):
        names = list(objective)
    else:
        raise BadInput(
            f"objective: {shown(objective)}, expected a text as in 'balance > moves', or a list "
            "of tiers, the most important first"
        )
    for name in names:
        if not isinstance(name, str):
            raise BadInput(f"objective: {shown(name)}, expected the name of a tier")
    names = [tier_named(name) for name in names]
    for name in names:
        if name not in TIERS:
            listed = [tier.strip() for tier in name.split(",")]
            if TIERS.keys() >= {*map(tier_named, listed)}:
                raise BadInput(f"objective: {name!r}, expected {' > '.join(listed)!r}")
            known = ", ".join((*PRESETS, *map(called, TIERS)))
            raise BadInput(f"objective: unknown tier {name!r}, expected one of {known}")
    if not names:
        raise BadInput("objective: no tier named")
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"objective: tier {called(name)!r} appears twice")
    return tuple(names)


def is_flow(objective: Sequence[str]) -> bool:
    """Return whether the exact network method serves every tier, and all of them together."""
    return all(TIERS[tier].is_flow for tier in objective) and incompatible_pair(objective) is None


def incompatible_pair(objective: Sequence[str]) -> tuple[str, str] | None:
    """Return two tiers that no flow network serves together; None if there are none.

    Either one tier tells partitions apart by racks or topics and the other by state; or balance
    comes after stateful balance, where loads need not have a least majorised vector.
    """
    return next((pair for pair in combinations(objective, 2) if pair in _INCOMPATIBLE), None)


_INCOMPATIBLE = {
    ("stateful_balance", "balance"),
    *permutations(("stateful_balance", "topic_balance")),
    *permutations(("stateful_balance", "racks")),
    *permutations(("restores", "racks")),
}


def racks_of(group: Group, objective: Sequence[str]) -> Racks | None:
    """Return the hosts and copies, or the racks, that tiers look at; None if no tier does."""
    needs = {TIERS[tier].needs for tier in objective}
    if "copies" in needs:
        return group.copies
    return group.racks if "racks" in needs else None


# Tiers for which flows minimise the sum of squared loads; for balance it replaces KIP-54's score.
SQUARED_LOADS = frozenset({"balance", "load_squares"})


def places_of(objective: Sequence[str]) -> tuple[PlaceKind, ...]:
    """Return the kinds of places that tiers are about, hosts before racks."""
    return tuple(k for k in PLACE_KINDS if any(TIERS[tier].place == k for tier in objective))


def is_laminar(objective: Sequence[str]) -> bool:
    """Return whether the certificate has prices for every tier: squares, places and state."""
    copies = any(TIERS[tier].needs == "copies" for tier in objective)
    return copies or "load_squares" in objective or bool(places_of(objective))


def form_after(tier: str, earlier: Sequence[str]) -> str:
    """Return the tier that solvers minimise in place of `tier`: `load_squares` for balance.

    The two have the same optima if the loads that are best in the earlier tiers have a least
    majorised vector. After tiers of places, state or lag there may be none
    (docs/explanation/method.md), and balance stays.
    """
    levels = is_flow((*earlier, tier)) and not places_of(earlier)
    return "load_squares" if tier == "balance" and levels else tier


def values(assignment: Assignment, objective: Objective) -> tuple[int, ...]:
    """Return the value of each tier, in the objective's order."""
    from groups.fleet import Fleet

    return tuple(values_in(assignment, Fleet.one(assignment.group), objective)[0].tolist())


def values_in(assignment: Assignment, fleet: Fleet, objective: Objective) -> Exact:
    """Return the value of each tier for each group: (groups, tiers).

    Parameters
    ----------
    assignment : of the group that the fleet is; need not be valid
    """
    if not len(fleet):
        return np.empty((0, len(objective)), np.int64)
    return np.stack([TIERS[tier].value(assignment, fleet) for tier in objective], axis=1)


def called(tier: str) -> str:
    """Return the name of a tier for users: ``moves`` for `stickiness`."""
    return "moves" if tier == MOVES else tier


def in_words(tiers: Iterable[str]) -> str:
    """Return an objective in one line, such as ``balance > moves``."""
    return " > ".join(map(called, tiers))
