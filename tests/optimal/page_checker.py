"""A checker written from docs/explanation/proof.md alone, in the order and the names of the page.

It reads the two JSON documents and imports nothing of the project.
"""

from __future__ import annotations

from itertools import combinations

BY_PARTITION = ("stickiness", "moved_weight", "racks")
EVEN = ("spread", "balance")


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
        sums = self.load if tier == "balance" else self.sums(tier)
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


def check_by_the_page(group: dict, solution: dict) -> None:
    """Require everything that the page asks of a solution with a certificate."""
    case, objective = Case(group, solution), list(solution["objective"])
    proof, budgets = solution["proof"], solution.get("at_most", {})
    require(proof["kind"] == "certificate", "kind")
    require([term["name"] for term in solution["terms"]] == objective, "terms")
    for term in solution["terms"]:
        require(term["value"] == case.value(term["name"]) == term["bound"], "terms")
    require(all(case.value(tier) <= most for tier, most in budgets.items()), "budget")
    if budgets and "price" not in proof:
        return within_a_budget(case, objective, proof["level"], budgets["stickiness"])
    at = next((i for i, tier in enumerate(objective) if tier.startswith("peak_")), len(objective))
    peak, even, objective = objective[at:][:1], objective[at:][1:], objective[:at]
    if objective in ([], ["topic_balance"]):
        if objective:
            require(case.value("topic_balance") == least_topic_balance(case), "topic balance")
        fit, holds = {p: case.readers[p[0]] for p in case.p}, of_one_topic(case, objective)
    else:
        fit, holds = the_conditions(case, objective, proof, alone=not peak)
    if peak:
        the_peak(case, objective, peak[0], even, fit, holds, proof.get("floor"))
    return None


def the_conditions(
    case: Case, objective: list[str], proof: dict, *, alone: bool
) -> tuple[dict, dict | None]:
    """Conditions 1 to 4; return who is fit for what, and how many each member holds."""
    at = objective.index("balance") if "balance" in objective else len(objective)
    before, after = objective[:at], objective[at + 1 :]
    if objective == ["balance"] and alone:
        after = ["stickiness"]
    nothing = {"level": dict.fromkeys(case.members, 0), "price": dict.fromkeys(case.members, 0)}
    level, price = ((proof if "balance" in objective else nothing).get(k) for k in nothing)
    require(level is not None and price is not None, "2, levels; 3, prices")
    require(set(level) == set(price) == set(case.members), "2, levels; 3, prices")
    scale = proof.get("scale", [1] * len(after[:1]))
    require(len(scale) == len(after) and min(scale, default=1) > 0, "4, scale")
    lo = {m: max(level[m], 0) for m in case.members}
    hi = {m: level[m] + 1 for m in case.members}
    fit, right, paid = {}, 0, 0
    for p in case.p:
        readers = case.readers[p[0]]
        costs = {m: [case.cost(tier, p, m) for tier in before] for m in readers}
        opened = [m for m in readers if costs[m] == min(costs.values())]
        require(case.x[p] in opened, "1, open")
        allowed = [m for m in opened if level[m] == min(level[o] for o in opened)]
        require(case.x[p] in allowed, "2, levels")
        units = list(zip(scale, after, strict=True))
        cost = {m: sum(unit * case.cost(tier, p, m) for unit, tier in units) for m in allowed}
        least = min(cost[m] + price[m] for m in allowed)
        right += least
        paid += cost[case.x[p]]
        fit[p] = [m for m in allowed if cost[m] + price[m] == least]
    if "balance" not in objective:
        return fit, None
    for m in case.members:
        require(lo[m] <= case.load[m] <= hi[m], "2, levels")
        right -= hi[m] * max(price[m], 0) - lo[m] * max(-price[m], 0)
    require(paid == right, "3, prices")
    for i, unit in enumerate(scale):
        rest = zip(scale[i + 1 :], after[i + 1 :], strict=True)
        require(unit > sum(other * case.most(tier) for other, tier in rest), "4, scale")
    holds = {m: (hi[m] if price[m] > 0 else lo[m], lo[m] if price[m] < 0 else hi[m])
             for m in case.members}  # fmt: skip
    return fit, holds


def least_topic_balance(case: Case) -> int:
    least = 0
    for t, readers in case.readers.items():
        if readers:
            q, s = divmod(sum(p[0] == t for p in case.p), len(readers))
            least += s * (q + 1) ** 2 + (len(readers) - s) * q**2
    return least


def of_one_topic(case: Case, objective: list[str]) -> dict | None:
    """How many each member holds after `topic_balance`, where there is one topic."""
    read = {t for t, _ in case.p}
    if not objective or len(read) != 1:
        return None
    readers = case.readers[next(iter(read))]
    q, s = divmod(len(case.p), len(readers))
    return {m: (q, q + (s > 0)) if m in readers else (0, 0) for m in case.members}


def within_a_budget(case: Case, objective: list[str], level: dict, most: int) -> None:
    moves = case.value("stickiness")
    require(moves <= most, "budget 1")
    needed = moves == 0 or objective == ["balance"]
    for k in range(1, max(case.load.values(), default=0)):
        above = sum(max(load - k, 0) for load in case.load.values())
        inside = {m for m in case.members if level[m] >= k}
        only = {p: all(m in inside for m in case.readers[p[0]]) for p in case.p}
        bound = sum(only.values())
        stay = sum(only[p] if case.own[p] is None else case.own[p] in inside for p in case.p)
        require(above == max(bound, stay - most) - k * len(inside), "budget 2")
        needed = needed or above == stay - moves - k * len(inside)
    require(needed, "budget 3")


def the_peak(case, before, tier, even, fit, holds, floor) -> None:
    peak, size = case.value(tier), case.column[tier.removeprefix("peak_")]
    if peak == 0:
        return
    require(floor is not None, "floor")
    chosen = set(floor["members"])
    only = [p for p in case.p if set(fit[p]) <= chosen]
    heavy = sorted((p for p in only if size[p] >= floor["at_least"]), key=size.get)
    if floor["bound"] == "average":
        bound = -(-sum(size[p] for p in only) // len(chosen))
    elif floor["bound"] == "weighted":
        require(before == ["topic_balance"], "weighted")
        require(floor["weight"].keys() == chosen and min(floor["weight"].values()) >= 1, "weight")
        total = sum(least_weighted(case, size, t, floor["weight"]) for t in case.readers)
        bound = -(-total // sum(floor["weight"].values()))
    elif before == ["topic_balance"] and holds is None:
        bound = min((of_the_reader_of(case, size, p) for p in heavy), default=0)
    else:
        s = -(-len(heavy) // len(chosen))
        k = least_number(holds, chosen, len(only))
        others = [p for p in case.p if p not in heavy[:s] and chosen & set(fit[p])]
        lightest = sorted(size[p] for p in others)[: max(0, k - s)]
        bound = sum(size[p] for p in heavy[:s]) + sum(lightest)
    require(peak == bound, "peak")
    for later in even:
        k = least_number(holds, set(case.members), len(case.p))
        bound = least_even(later, sorted(size.values()), len(case.members), peak, k)
        require(case.value(later) == bound, "even")


def least_weighted(case: Case, size: dict, topic: str, weight: dict) -> int:
    """The least that the partitions of a topic add up to, each as often as its reader weighs."""
    lags = sorted((size[p] for p in case.p if p[0] == topic), reverse=True)
    readers = sorted(weight.get(m, 0) for m in case.readers[topic])
    if not readers:
        return 0
    n, r = len(lags), len(readers)
    places = [w for w in readers for _ in range(n // r)] + readers[: n % r]
    return sum(lag * w for lag, w in zip(lags, sorted(places), strict=True))


def least_number(holds: dict | None, chosen: set[str], only: int) -> int:
    """The k of *Crowd*: how many partitions whoever it is holds at least."""
    if holds is None:
        return 0
    left = sum(holds[m][1] for m in chosen) - only
    return min(max(holds[m][0], holds[m][1] - left) for m in chosen)


def of_the_reader_of(case: Case, size: dict, p: tuple[str, int]) -> int:
    """The least that a reader of a heavy partition carries, where every topic is even."""
    least = []
    for m in case.readers[p[0]]:
        carried = size[p]
        for t in case.reads[m]:
            of_topic = sorted(size[q] for q in case.p if q[0] == t and q != p)
            number = sum(q[0] == t for q in case.p) // len(case.readers[t])
            carried += sum(of_topic[: max(0, number - (t == p[0]))])
        least.append(carried)
    return min(least)


def least_even(tier: str, size: list[int], members: int, peak: int, k: int) -> int:
    """What no spread and no balance is below, once the peak is what it is."""
    total, f = sum(size), [0]
    for j in range(1, members + 1):
        heaviest, others = size[max(0, len(size) - j) :], size[: max(0, len(size) - j)]
        most = [sum(heaviest) + sum(others[: max(0, j * k - j)]),
                f[-1] - ((f[-1] - total) // (members - j + 1))]  # fmt: skip
        f.append(max(*most, peak if j == 1 else 0))
    if tier.endswith("spread"):
        emptiest = [(total - f[j]) // (members - j) for j in range(1, members)]
        return max(0, peak - min(emptiest, default=peak))
    return 2 * sum(f[1:members]) - (members - 1) * total
