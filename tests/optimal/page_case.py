"""What docs/explanation/proof.md says is given: a group and an assignment, of two documents.

A part of the checker that was written from the page alone; it imports nothing of the project.
"""

from __future__ import annotations

from itertools import combinations

BY_PARTITION = ("stickiness", "moved_weight", "racks")


class Case:
    """What is given: who reads what, who owned it, who holds it."""

    def __init__(self, group: dict, solution: dict) -> None:
        topics = {t: n if isinstance(n, dict) else {"partitions": n}
                  for t, n in group["topics"].items()}  # fmt: skip
        self.members = list(group["members"])
        said = group["members"]
        self.reads = {m: set(said[m]["subscription"]) & set(topics) for m in self.members}
        self.readers = {t: [m for m in self.members if t in self.reads[m]] for t in topics}
        exist = [(t, n) for t in topics for n in range(topics[t]["partitions"])]
        self.p = [(t, n) for t, n in exist if self.readers[t]]
        self.own = {p: self._owner(p, said) for p in self.p}
        self.rack = {m: said[m].get("rack") for m in self.members}
        self.capacity = {m: said[m].get("capacity") or 1 for m in self.members}
        self.column = {c: {(t, n): topics[t].get(c, {})[n] for t, n in self.p if c in topics[t]}
                       for c in ("weight", "lag", "racks")}  # fmt: skip
        held = [((t, n), m) for m, of_topic in solution["assignment"].items()
                for t, numbers in of_topic.items() for n in numbers]  # fmt: skip
        self.x = dict(held)
        require(sorted(self.x) == sorted(self.p) and len(held) == len(self.p), "valid")
        require(all(self.x[p] in self.readers[p[0]] for p in self.p), "valid")
        self.load = {m: sum(self.x[p] == m for p in self.p) for m in self.members}

    def _owner(self, p: tuple[str, int], said: dict) -> str | None:
        claims = [(said[m].get("generation", -1), m) for m in self.members
                  if p[1] in said[m].get("owned", {}).get(p[0], ())]  # fmt: skip
        highest = [m for generation, m in claims if generation == max(claims)[0]]
        return highest[0] if len(highest) == 1 and p[0] in self.reads[highest[0]] else None

    def cost(self, tier: str, p: tuple[str, int], m: str) -> int:
        """What p costs when m holds it."""
        if tier == "racks":
            return int(self.rack[m] not in self.column["racks"][p])
        moved = self.own[p] not in (None, m)
        return int(moved) * (self.column["weight"][p] if tier == "moved_weight" else 1)

    def most(self, tier: str) -> int:
        """The most that a tier can cost."""
        owned = [p for p in self.p if self.own[p] is not None]
        weights = self.column["weight"]
        return {"stickiness": lambda: len(owned), "racks": lambda: len(self.p),
                "moved_weight": lambda: sum(weights[p] for p in owned)}[tier]()  # fmt: skip

    def value(self, tier: str) -> int:
        """What a tier is worth."""
        if tier in BY_PARTITION:
            return sum(self.cost(tier, p, self.x[p]) for p in self.p)
        if tier == "topic_balance":
            return sum(sum(self.x[p] == m for p in self.p if p[0] == t) ** 2
                       for t in self.readers for m in self.readers[t])  # fmt: skip
        if tier == "idle_members":
            return min(len(self.members), len(self.p)) - sum(x > 0 for x in self.load.values())
        if tier == "peak_time":
            lag = self.sums("lag")
            return max((-(-lag[m] // self.capacity[m]) for m in self.members), default=0)
        sums = self.load if tier in ("balance", "load_spread") else self.sums(tier)
        greatest, least = max(sums.values(), default=0), min(sums.values(), default=0)
        pairs = sum(abs(a - b) for a, b in combinations(sums.values(), 2))
        return {"peak": greatest, "spread": greatest - least, "balance": pairs}[
            next(word for word in ("peak", "spread", "balance") if word in tier)
        ]

    def sums(self, tier: str) -> dict[str, int]:
        """The lag or the weight that each member carries."""
        size = self.column[tier.replace("peak_", "").partition("_")[0]]
        return {m: sum(size[p] for p in self.p if self.x[p] == m) for m in self.members}


class Refused(Exception):
    """A condition of the page that does not hold."""


def require(holds: bool, condition: str) -> None:
    if not holds:
        raise Refused(condition)
