"""Case: a group and who holds what, as plain lists; whether that is valid and what it costs.

The checker's view of the raw data. Partitions are numbered through, topic by topic.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from groups.errors import BadInput, InvalidAssignment
from groups.tiers import TIERS, pairwise_difference

if TYPE_CHECKING:
    from groups.group import Group

BY_PARTITION = ("stickiness", "moved_weight", "racks")


class Case:
    """What a group says of itself, and who holds what.

    Attributes
    ----------
    topic, owner, held : of each partition its topic, its valid owner and its holder, -1 nobody
    reads, loads : of each member the topics that it reads, and how many partitions it holds
    readers : of each topic the members that read it
    read : the partitions that somebody reads
    """

    def __init__(self, group: Group, held: list[int]) -> None:
        """Read the group and see who reads each topic."""
        group.require_subscriptions()
        self.group, self.held, self.loads = group, held, Counter(held)
        entries = group.subscription_topics.tolist()
        rows = [set(entries[a:b]) for a, b in pairwise(group.subscription_indptr.tolist())]
        self.reads = [rows[row] for row in group.subscription_row.tolist()]
        self.readers: list[list[int]] = [[] for _ in group.topics]
        for m, topics in enumerate(self.reads):
            for t in topics:
                self.readers[t].append(m)
        self.topic = [t for t, count in enumerate(group.partitions.tolist()) for _ in range(count)]
        self.read = [p for p, t in enumerate(self.topic) if self.readers[t]]
        self.owner: list[int] = group.owner.tolist()
        unknown, racks = [-1] * len(self.topic), group.racks
        self.columns: dict[str, list[int]] = {
            "lag": unknown if group.lag_records is None else group.lag_records.tolist(),
            "weight": unknown if group.weight is None else group.weight.tolist(),
            "racks": unknown if racks is None else racks.replicas.tolist(),
        }
        if racks is not None:
            self.near, self.racks = set(racks.holds.tolist()), len(racks.names)
            self.rack: list[int] = racks.member.tolist()

    def name(self, p: int) -> str:
        """Return the topic of a partition and its number in it."""
        return f"{self.group.topics[self.topic[p]]}-{p - self.topic.index(self.topic[p])}"

    def known(self, what: str, p: int) -> int:
        """Return the lag, the weight or the set of replica racks of a partition."""
        if self.columns[what][p] < 0:
            raise BadInput(f"{self.name(p)}: its {what} is unknown, but the objective needs it")
        return self.columns[what][p]

    def capacities(self) -> list[int]:
        """Return the records that each member reads in a second, 1 where it holds nothing."""
        known = [one.capacity for one in self.group.details] or [None] * len(self.reads)
        for m, capacity in enumerate(known):
            if capacity is None and self.loads[m]:
                who = self.group.members[m]
                raise BadInput(f"{who}: its capacity is unknown, but the objective needs it")
        return [capacity or 1 for capacity in known]

    def require_valid(self) -> None:
        """Require that what somebody reads is with a reader, and the rest with nobody."""
        for p, (t, m) in enumerate(zip(self.topic, self.held, strict=True)):
            if m < 0 and self.readers[t]:
                raise InvalidAssignment(f"{self.name(p)} with nobody: unassigned")
            if m >= 0 and t not in self.reads[m]:
                who = self.group.members[m]
                raise InvalidAssignment(f"{self.name(p)} with {who}: unsubscribed")

    def cost(self, tier: str, p: int, m: int) -> int:
        """Return what it costs in a tier of BY_PARTITION that a member holds a partition."""
        if tier == "racks":
            place = self.known("racks", p) * self.racks + self.rack[m]
            return int(self.rack[m] < 0 or place not in self.near)
        if self.owner[p] in (-1, m):
            return 0
        return 1 if tier == "stickiness" else self.known("weight", p)

    def most(self, tier: str) -> int:
        """Return what a tier of BY_PARTITION costs where all is far, or nothing stays."""
        return sum(1 if tier == "racks" else self.cost(tier, p, -1) for p in self.read)

    def value(self, tier: str) -> int:
        """Return the value of a tier."""
        if tier in BY_PARTITION:
            return sum(self.cost(tier, p, self.held[p]) for p in self.read)
        if tier == "topic_balance":
            shares = Counter((self.topic[p], self.held[p]) for p in self.read)
            return sum(share**2 for share in shares.values())
        if tier == "idle_members":
            busy = sum(self.loads[m] > 0 for m in range(len(self.reads)))
            return min(len(self.reads), len(self.read)) - busy
        loads, needs = [0] * len(self.reads), TIERS[tier].needs
        for p in self.read:
            loads[self.held[p]] += 1 if needs is None else self.known(needs, p)
        if tier == "peak_time":
            behind = zip(loads, self.capacities(), strict=True)
            return max((-(-lag // rate) for lag, rate in behind), default=0)
        most, fewest = max(loads, default=0), min(loads, default=0)
        shapes = {"peak": most, "spread": most - fewest, "balance": pairwise_difference(loads)}
        return next(value for shape, value in shapes.items() if shape in tier.split("_"))
