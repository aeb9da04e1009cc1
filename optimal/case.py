"""Case: a group and an assignment of it as plain lists, and the value of every tier.

The first section of docs/explanation/proof.md. Partitions are numbered through, topic by topic.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import lcm
from typing import TYPE_CHECKING, TypeAlias

from groups.errors import BadInput, InvalidAssignment, ProofError
from optimal.formulations import Formulations

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from groups.columns.places import PlaceKind
    from groups.group import Group

MOVES = "stickiness"
BY_PARTITION = (MOVES, "moved_weight", "racks", "restores")
# Tiers that depend on the rack or host of a member, and the column of the group that they read.
STANDS = {"racks": "racks", "restores": "copies"}
PEAKS = ("peak_lag", "peak_time", "peak_weight")
OF_LOADS = ("balance", "load_squares")
STATE = "stateful_balance"
STANDBY_TIERS = ("load_squares", "host_balance", "restores")
# Tiers of places and the kind of place, hosts before racks.
OF_PLACES: dict[str, PlaceKind] = {"host_balance": "host", "rack_balance": "rack"}
# Tiers of how even loads are, and the peak of the same loads.
EVENS = {f"{of}_{how}": f"peak_{of}" for of in ("lag", "weight") for how in ("spread", "balance")}
# The definition of a tier: from a case and the tier's name to the value.
Definition: TypeAlias = "Callable[[Case, str], int]"


def require(holds: object, message: str) -> None:
    """Raise ProofError with the message if a condition does not hold."""
    if not holds:
        raise ProofError(message)


class Case:
    """The data of a group, and the assignment to check, as plain lists.

    Attributes
    ----------
    topic, names : of each partition its topic, and its name, such as ``orders-0``
    owner, held : of each partition the member that owned it and the one that holds it, -1 nobody
    reads, loads : of each member the topics that it reads, and how many partitions it holds
    readers : of each topic the members that read it
    read : the partitions that somebody reads
    columns : lag, weight, set of replica racks and set of copies of each partition, -1 unknown
    near : for racks and copies, the pairs (set, rack or host) in which a replica or copy is, the
        number of racks or hosts, and that of each member
    """

    def __init__(self, group: Group, held: list[int]) -> None:
        group.require_subscriptions()
        self.group, self.held, self.loads = group, held, Counter(held)
        self.members = range(len(group.members))
        entries = group.subscription_topics.tolist()
        rows = [set(entries[a:b]) for a, b in pairwise(group.subscription_indptr.tolist())]
        self.reads = [rows[row] for row in group.subscription_row.tolist()]
        self.readers: list[list[int]] = [[] for _ in group.topics]
        for m, topics in enumerate(self.reads):
            for t in topics:
                self.readers[t].append(m)
        counts = list(zip(group.topics, group.partitions.tolist(), strict=True))
        self.topic = [t for t, (_, count) in enumerate(counts) for _ in range(count)]
        self.names = [f"{topic}-{number}" for topic, count in counts for number in range(count)]
        self.read = [p for p, t in enumerate(self.topic) if self.readers[t]]
        self.owner: list[int] = group.owner.tolist()
        unknown, sets = [-1] * len(self.topic), {"racks": group.racks, "copies": group.copies}
        self.columns: dict[str, list[int]] = {
            "lag": unknown if group.lag_records is None else group.lag_records.tolist(),
            "weight": unknown if group.weight is None else group.weight.tolist(),
        }
        self.near: dict[str, tuple[set[int], int, list[int]]] = {}
        for what, racks in sets.items():
            self.columns[what] = unknown if racks is None else racks.replicas.tolist()
            if racks is not None:
                self.near[what] = {*racks.holds.tolist()}, len(racks.names), racks.member.tolist()

    def require_valid(self) -> None:
        """Raise InvalidAssignment unless readers hold all that is read, and nobody the rest."""
        for p, (t, m) in enumerate(zip(self.topic, self.held, strict=True)):
            if m < 0 and self.readers[t]:
                raise InvalidAssignment(f"{self.names[p]} with nobody: unassigned")
            if m >= 0 and t not in self.reads[m]:
                who = self.group.members[m]
                raise InvalidAssignment(f"{self.names[p]} with {who}: unsubscribed")

    def known(self, what: str, p: int) -> int:
        """Return what a column says of a partition; raise BadInput if it is unknown."""
        if self.columns[what][p] < 0:
            raise BadInput(f"{self.names[p]}: its {what} is unknown, but the objective needs it")
        return self.columns[what][p]

    def keeps_state(self, p: int) -> bool:
        """Return whether a partition keeps state: a set of copies is known of it."""
        if self.group.copies is None:
            raise BadInput(f"{self.names[p]}: its state is unknown, but the objective needs it")
        return self.columns["copies"][p] >= 0

    def sizes(self, tier: str) -> dict[int, int]:
        """Return what each partition adds to a load (1, its lag or its weight), ascending."""
        if tier in ("balance", "load_spread"):
            return dict.fromkeys(self.read, 1)
        what = "weight" if "weight" in tier else "lag"
        return {
            p: self.known(what, p) for p in sorted(self.read, key=self.columns[what].__getitem__)
        }

    def rates(self, tier: str) -> list[int]:
        """Return the divisor of each member's load: its capacity for `peak_time`, otherwise 1.

        It is also 1 for a member of unknown capacity that holds nothing.
        """
        if tier != "peak_time":
            return [1] * len(self.members)
        known = [one.capacity for one in self.group.details] or [None] * len(self.members)
        for m, capacity in enumerate(known):
            if capacity is None and self.loads[m]:
                who = self.group.members[m]
                raise BadInput(f"{who}: its capacity is unknown, but the objective needs it")
        return [capacity or 1 for capacity in known]

    def places(self, kind: PlaceKind) -> list[str]:
        """Return the host or the rack of each member."""
        if kind == "host":
            named = [one.host for one in self.group.details] or [None] * len(self.members)
        else:
            racks = self.group.racks
            known = [-1] * len(self.members) if racks is None else racks.member.tolist()
            named = [None if racks is None or at < 0 else racks.names[at] for at in known]
        found = [name for name in named if name is not None]
        if len(found) < len(named):
            who = self.group.members[named.index(None)]
            raise BadInput(f"{who}: its {kind} is unknown, but the objective needs it")
        return found

    def weights(self, place: list[str]) -> dict[str, int]:
        """Return the factor of each place's squared load: the more members, the smaller."""
        members = Counter(place)
        return {name: lcm(*members.values()) // number for name, number in members.items()}

    def cost(self, tier: str, p: int, m: int) -> int:
        """Return the cost of a partition p with a member m in a tier of `BY_PARTITION`."""
        if tier in STANDS:
            if tier == "restores" and not self.keeps_state(p):
                return 0
            replicas = self.known(STANDS[tier], p)
            near, racks, rack = self.near[STANDS[tier]]
            return int(rack[m] < 0 or replicas * racks + rack[m] not in near)
        if self.owner[p] in (-1, m):
            return 0
        return 1 if tier == MOVES else self.known("weight", p)

    def least(
        self,
        ranks: Sequence[tuple[int, ...]],
        costs: Callable[[int, int], tuple[int, ...]],
        among: set[int],
        tiers: Sequence[str],
    ) -> dict[int, tuple[int, ...]]:
        """Return the least costs of each partition with a member of `among`, if one reads it.

        Only the owner and the first by rank among readers at each distance need to be compared:
        other readers at that distance cost the same except for their rank.
        """
        far = [tier for tier in STANDS if tier in tiers]
        firsts: dict[tuple[int, ...], dict[tuple[int, ...], int]] = {}
        found = {}
        for p in self.read:
            place = (self.topic[p], *(self.columns[STANDS[tier]][p] for tier in far))
            if place not in firsts:
                readers = among.intersection(self.readers[self.topic[p]])
                ranked = sorted(readers, key=ranks.__getitem__)
                firsts[place] = {
                    tuple(self.cost(tier, p, m) for tier in far): m for m in ranked[::-1]
                }
            if compared := {*firsts[place].values(), self.owner[p]} & among:
                found[p] = min(costs(p, m) for m in compared)
        return found

    def most(self, tier: str) -> int:
        """Return an upper bound on a tier of `BY_PARTITION`: all far, or everything moved."""
        return sum(1 if tier == "racks" else self.cost(tier, p, -1) for p in self.read)

    def value(self, tier: str) -> int:
        """Return the value of a tier, from its definition.

        Raises
        ------
        BadInput
            If the group does not say what the tier needs, or the tier has no definition.
        """
        return DEFINED_TIERS[tier](self, tier)

    def loads_of(self, tier: str) -> list[int]:
        """Return the load of each member in a tier: partitions, lag or weight."""
        loads = [0] * len(self.members)
        for p, size in self.sizes(tier).items():
            loads[self.held[p]] += size
        return loads


def _by_partition(case: Case, tier: str) -> int:
    return sum(case.cost(tier, p, case.held[p]) for p in case.read)


def _squares(case: Case, tier: str) -> int:
    """The sum of squares of what members hold: of all, of each topic, or of what keeps state."""
    counts = (p for p in case.read if tier != STATE or case.keeps_state(p))
    by_topic = tier == "topic_balance"
    loads = Counter((case.held[p], case.topic[p] if by_topic else 0) for p in counts)
    return sum(load**2 for load in loads.values())


def _of_places(case: Case, tier: str) -> int:
    place = case.places(OF_PLACES[tier])
    loads_of = Counter(place[case.held[p]] for p in case.read)
    return sum(weight * loads_of[h] ** 2 for h, weight in case.weights(place).items())


def _idle_members(case: Case, _: str) -> int:
    busy = sum(case.loads[m] > 0 for m in case.members)
    return min(len(case.members), len(case.read)) - busy


def _peak(case: Case, tier: str) -> int:
    loads, rates = case.loads_of(tier), case.rates(tier)
    return max((-(-load // rate) for load, rate in zip(loads, rates, strict=True)), default=0)


def _spread(case: Case, tier: str) -> int:
    loads = case.loads_of(tier)
    return max(loads, default=0) - min(loads, default=0)


def _pairs(case: Case, tier: str) -> int:
    loads = sorted(case.loads_of(tier))
    return sum((2 * i - len(loads) + 1) * load for i, load in enumerate(loads))


DEFINED_TIERS: Formulations[Definition] = Formulations(
    "check",
    "DEFINED_TIERS of optimal.case",
    {
        **dict.fromkeys(BY_PARTITION, _by_partition),
        **dict.fromkeys(("topic_balance", "load_squares", STATE), _squares),
        **dict.fromkeys(OF_PLACES, _of_places),
        "idle_members": _idle_members,
        **dict.fromkeys(PEAKS, _peak),
        **dict.fromkeys(("load_spread", "lag_spread", "weight_spread"), _spread),
        **dict.fromkeys(("balance", "lag_balance", "weight_balance"), _pairs),
    },
)
