"""A checker written from docs/explanation/proof.md alone, in the order and the names of the page.

It reads the two JSON documents, and imports nothing of the project.
"""

from __future__ import annotations

from itertools import combinations
from math import lcm

BY_PARTITION = ("stickiness", "moved_weight", "racks", "restores")
PLACES = ("host_balance", "rack_balance")
SUMMED = ("balance", "load_spread", "peak_lag", "lag_spread", "lag_balance",
          "peak_weight", "weight_spread", "weight_balance")  # fmt: skip


class Case:
    """What is given: who reads what, who owned it, who holds it."""

    def __init__(self, group: dict, solution: dict) -> None:
        self.copies: dict[tuple[str, int], set[str]] = {}
        if group["format"] == "assay-streams/1":
            group = self._of_tasks(group)
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
        self.host = {m: said[m].get("host") for m in self.members}
        self.capacity = {m: said[m].get("capacity") or 1 for m in self.members}
        self.column = {c: {(t, n): topics[t].get(c, {})[n] for t, n in self.p if c in topics[t]}
                       for c in ("weight", "lag", "racks")}  # fmt: skip
        held = [((t, n), m) for m, of_topic in solution["assignment"].items()
                for t, numbers in of_topic.items() for n in numbers]  # fmt: skip
        self.x = dict(held)
        require(sorted(self.x) == sorted(self.p) and len(held) == len(self.p), "valid")
        require(all(self.x[p] in self.readers[p[0]] for p in self.p), "valid")
        self.load = {m: sum(self.x[p] == m for p in self.p) for m in self.members}

    def _of_tasks(self, streams: dict) -> dict:
        """The consumer group of the active tasks; where copies of what keeps state lie."""
        parts, members = streams["subtopologies"], streams["members"].values()
        for t in parts:
            for n in range(parts[t]["tasks"] if parts[t]["stateful"] else 0):
                self.copies[t, n] = {
                    m["process"] for m in members
                    if any(n in held.get(t, ()) for held in m["tasks"].values())
                }  # fmt: skip
        return {"topics": {t: part["tasks"] for t, part in parts.items()},
                "members": {name: {"subscription": [*parts], "host": m["process"],
                                   "owned": m["tasks"].get("active", {})}
                            for name, m in streams["members"].items()}}  # fmt: skip

    def _owner(self, p: tuple[str, int], said: dict) -> str | None:
        claims = [(said[m].get("generation", -1), m) for m in self.members
                  if p[1] in said[m].get("owned", {}).get(p[0], ())]  # fmt: skip
        highest = [m for generation, m in claims if generation == max(claims)[0]]
        return highest[0] if len(highest) == 1 and p[0] in self.reads[highest[0]] else None

    def cost(self, tier: str, p: tuple[str, int], m: str) -> int:
        """What p costs when m holds it."""
        if tier == "racks":
            return int(self.rack[m] not in self.column["racks"][p])
        if tier == "restores":
            return int(p in self.copies and self.host[m] not in self.copies[p])
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
        if tier == "load_squares":
            return sum(load**2 for load in self.load.values())
        if tier == "stateful_balance":
            return sum(load**2 for load in self.with_state().values())
        if tier in PLACES:
            return self.squares(self.rack if tier == "rack_balance" else self.host)
        if tier == "idle_members":
            return min(len(self.members), len(self.p)) - sum(x > 0 for x in self.load.values())
        if tier == "peak_time":
            lag = self.sums("lag")
            return max((-(-lag[m] // self.capacity[m]) for m in self.members), default=0)
        if tier not in SUMMED:
            raise NotImplementedError(f"tier {tier}: define it in Case.value of {__file__}")
        sums = self.load if tier in ("balance", "load_spread") else self.sums(tier)
        greatest, least = max(sums.values(), default=0), min(sums.values(), default=0)
        pairs = sum(abs(a - b) for a, b in combinations(sums.values(), 2))
        return {"peak": greatest, "spread": greatest - least, "balance": pairs}[
            next(word for word in ("peak", "spread", "balance") if word in tier)
        ]

    def squares(self, of: dict[str, str]) -> int:
        """The sum over hosts, or racks, of (L / n) times the square of what they hold."""
        return sum(weight * self.on(of)[h] ** 2 for h, weight in weights(of).items())

    def on(self, of: dict[str, str]) -> dict[str, int]:
        """How many partitions each host, or rack, or member holds."""
        return {h: sum(self.load[m] for m in self.members if of[m] == h) for h in of.values()}

    def with_state(self) -> dict[str, int]:
        """How many partitions with state each member holds."""
        return {m: sum(self.x[p] == m for p in self.copies) for m in self.members}

    def sums(self, tier: str) -> dict[str, int]:
        """The lag or the weight that each member carries."""
        size = self.column[tier.replace("peak_", "").partition("_")[0]]
        return {m: sum(size[p] for p in self.p if self.x[p] == m) for m in self.members}


def weights(of: dict[str, str]) -> dict[str, int]:
    """L / n of each host or rack; 1 of each member."""
    n = {h: [*of.values()].count(h) for h in of.values()}
    return {h: lcm(*n.values()) // n[h] for h in n}


class Refused(Exception):
    """A condition of the page that does not hold."""


def require(holds: bool, condition: str) -> None:
    if not holds:
        raise Refused(condition)


def both(one: dict, other: dict) -> dict:
    """How many partitions each member holds by two rules."""
    return {m: (max(one[m][0], other[m][0]), min(one[m][1], other[m][1])) for m in one}


def counts_within(case: Case, budgets: dict) -> dict:
    """How many partitions each member holds, by budgets on counts."""
    members, n = len(case.members), len(case.p)
    least, most = 0, n
    if members and "load_spread" in budgets:
        apart = (members - 1) * budgets["load_spread"]
        least, most = max(0, -((apart - n) // members)), min(n, (n + apart) // members)
    if budgets.get("idle_members") == 0:
        least, most = (max(least, 1), most) if n >= members else (least, min(most, 1))
    return dict.fromkeys(case.members, (least, most))


def of_all_topics(case: Case) -> dict:
    """How many partitions each member holds where every topic is even."""
    holds = dict.fromkeys(case.members, (0, 0))
    for t, readers in case.readers.items():
        for m in readers:
            q, s = divmod(sum(p[0] == t for p in case.p), len(readers))
            holds[m] = holds[m][0] + q, holds[m][1] + q + (s > 0)
    return holds


def the_moves(case: Case, peak: str, rest: list, budgets: dict, holds: dict, proof) -> None:
    """*Moves under a peak*: no lower peak within the budget, no fewer moves under the peak."""
    value, moves = case.value(peak), case.value("stickiness")
    givers = set(proof.get("givers", ()))
    if rest[0] == peak and "floor" not in proof and "stickiness" in budgets and value > 0:
        needed = moves_needed(case, peak, value - 1, givers, holds)
        require(needed > budgets["stickiness"], "moves below the peak")
    if "stickiness" in rest and moves > 0:
        most = value if peak in rest else budgets[peak]
        require(moves_needed(case, peak, most, givers, holds) >= moves, "moves under the peak")


def moves_needed(case: Case, peak: str, most: int, givers: set[str], holds: dict) -> int:
    size = case.column["weight" if peak == "peak_weight" else "lag"]
    room = {m: most * (case.capacity[m] if peak == "peak_time" else 1) for m in case.members}
    owned = {m: [size[p] for p in case.p if case.own[p] == m] for m in case.members}
    light = sorted(size[p] for p in case.p)
    give = {m: given(owned[m], *holds[m], room[m], light)[0] for m in case.members}
    together = [one for m in givers for one in owned[m]]
    lo, hi = (sum(holds[m][i] for m in givers) for i in (0, 1))
    out, back = given(together, lo, hi, sum(room[m] for m in givers), light)
    inside = sum(give[m] for m in givers)
    unowned = sum(owner is None for owner in case.own.values())
    return max(out, inside) + max(sum(give.values()) - inside, back - unowned)


def given(owned: list[int], lo: int, hi: int, room: int, light: list[int]) -> tuple[int, int]:
    """The least g of *give*, and how many come back then."""
    for g in range(len(owned) + 1):
        kept = sorted(owned)[: len(owned) - g]
        back = max(0, lo - len(kept))
        if len(kept) <= hi and sum(kept) + sum(light[:back]) <= room:
            return g, back
    return len(light) + 1, 0


def the_peak(case, before, tier, fit, holds, floor) -> None:
    peak, size = case.value(tier), case.column["weight" if tier == "peak_weight" else "lag"]
    if peak == 0:
        return
    require(floor is not None, "floor")
    chosen = set(floor["members"])
    only = [p for p in case.p if set(fit[p]) <= chosen]
    heavy = sorted((p for p in only if size[p] >= floor["at_least"]), key=size.get)
    rate = case.capacity if tier == "peak_time" else dict.fromkeys(case.members, 1)
    if floor["bound"] == "average":
        bound = -(-sum(size[p] for p in only) // sum(rate[m] for m in chosen))
    elif before == ["topic_balance"] and len({t for t, _ in case.p}) > 1:
        bound = min((of_the_reader_of(case, size, p, rate) for p in heavy), default=0)
    else:
        lightest = [size[p] for p in heavy]
        light = sorted(size[p] for p in case.p if p not in heavy and chosen & set(fit[p]))
        k = {m: number(holds, chosen, len(only), m) for m in chosen}
        fitting = [heavy_that_fit(lightest, light, k[m], holds[m][1], (peak - 1) * rate[m])
                   for m in chosen]  # fmt: skip
        too_low = min(fitting) < 0 or sum(fitting) < len(heavy)
        bound = peak if too_low else peak - 1
    require(peak == bound, "peak")


def the_evenness(case: Case, tier: str, holds: dict, peak: int) -> None:
    size, everybody = case.column["weight" if "weight" in tier else "lag"], set(case.members)
    k = min((number(holds, everybody, len(case.p), m) for m in everybody), default=0)
    weights = sorted(size[p] for p in case.p)
    require(case.value(tier) == least_even(tier, weights, len(case.members), peak, k), "even")


def number(holds: dict, chosen: set[str], only: int, m: str) -> int:
    """The k of *Crowd*: how many partitions a member holds at least."""
    left = sum(holds[o][1] for o in chosen) - only
    return max(holds[m][0], holds[m][1] - left)


def heavy_that_fit(heavy: list[int], light: list[int], k: int, hi: int, room: int) -> int:
    """The most heavy partitions that a member may hold without more than a sum; -1: not even 0."""
    return max((h for h in range(min(len(heavy), hi) + 1) if k - h <= len(light)
                and sum(heavy[:h]) + sum(light[: max(0, k - h)]) <= room), default=-1)  # fmt: skip


def of_the_reader_of(case: Case, size: dict, p: tuple[str, int], rate: dict) -> int:
    """The least that a reader of a heavy partition carries, where every topic is even."""
    least = []
    for m in case.readers[p[0]]:
        carried = size[p]
        for t in case.reads[m]:
            of_topic = sorted(size[q] for q in case.p if q[0] == t and q != p)
            number = sum(q[0] == t for q in case.p) // len(case.readers[t])
            carried += sum(of_topic[: max(0, number - (t == p[0]))])
        least.append(-(-carried // rate[m]))
    return min(least)


def least_even(tier: str, size: list[int], members: int, peak: int, k: int) -> int:
    """What no spread and no balance is below, once the peak is what it is, 0 for none."""
    total, f = sum(size), [0]
    for j in range(1, members + 1):
        heaviest, others = size[max(0, len(size) - j) :], size[: max(0, len(size) - j)]
        most = [sum(heaviest) + sum(others[: max(0, j * k - j)]),
                f[-1] - ((f[-1] - total) // (members - j + 1))]  # fmt: skip
        f.append(max(*most, peak if j == 1 else 0))
    if tier.endswith("spread"):
        emptiest = [(total - f[j]) // (members - j) for j in range(1, members)]
        return max(0, f[1] - min(emptiest)) if emptiest else 0
    return 2 * sum(f[1:members]) - (members - 1) * total


EVENS = ("lag_spread", "lag_balance", "weight_spread", "weight_balance")


def check_by_the_page(group: dict, solution: dict) -> None:
    """Require everything that the page asks of a solution with a certificate."""
    case, objective = Case(group, solution), list(solution["objective"])
    proof, budgets = solution["proof"], solution.get("at_most", {})
    require(proof["kind"] == "certificate", "kind")
    require([term["name"] for term in solution["terms"]] == objective, "terms")
    for term in solution["terms"]:
        require(term["value"] == case.value(term["name"]) == term["bound"], "terms")
    require(all(case.value(tier) <= most for tier, most in budgets.items()), "budget")
    if budgets and "level" in proof and "price" not in proof:
        return within_a_budget(case, objective, proof["level"], budgets["stickiness"])
    if {*PLACES, "load_squares", "stateful_balance", "restores"} & set(objective):
        return the_asks(case, objective, proof["prices"])
    peaks = [tier for tier in (*objective, *budgets) if tier.startswith("peak_")]
    late = {tier for tier in objective if tier.startswith("peak_") or tier in EVENS}
    about = bool(late or proof.get("givers"))
    late |= {"stickiness"} if proof.get("givers") and not set(peaks) & set(objective) else set()
    at = next((i for i, tier in enumerate(objective) if tier in late), len(objective))
    rest, objective = objective[at:], objective[:at]
    holds = counts_within(case, budgets)
    if objective in ([], ["topic_balance"]):
        if objective:
            require(case.value("topic_balance") == least_topic_balance(case), "topic balance")
            holds = both(holds, of_all_topics(case))
        fit = {p: case.readers[p[0]] for p in case.p}
    else:
        fit, by_levels = the_conditions(case, objective, proof, alone=not rest)
        holds = both(holds, by_levels or holds)
    if about:
        loads = [tier for tier in rest if tier != "stickiness"]
        if loads and loads[0] in EVENS:
            the_evenness(case, loads[0], holds, 0)
        elif loads and (proof.get("floor") or "stickiness" not in budgets):
            the_peak(case, objective, loads[0], fit, holds, proof.get("floor"))
        for even in loads[1:]:
            the_evenness(case, even, holds, case.value(loads[0]))
        nothing_moves = "stickiness" not in rest or case.value("stickiness") == 0
        require(bool(peaks) or nothing_moves, "moves under no peak")
        if peaks:
            the_moves(case, peaks[0], rest, budgets, holds, proof)
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


def the_asks(case: Case, objective: list[str], asks: dict) -> None:
    """The conditions on what members, hosts and racks ask."""
    served = {"balance", "load_squares", "stateful_balance", *PLACES, *BY_PARTITION}
    require(set(objective) <= served, "no certificate")
    require(not {"balance", "load_squares"} <= set(objective), "no certificate")
    has_state = "stateful_balance" in objective
    of = {kind: {m: m for m in case.members} for kind in ("state", "member")[not has_state :]}
    if "host_balance" in objective:
        of["host"] = case.host
    if "rack_balance" in objective:
        of["rack"] = case.rack
    for kind, places in of.items():
        require(kind in asks and set(asks[kind]) == set(places.values()), "asks")
        require(all(len(ask) == len(objective) for ask in asks[kind].values()), "asks")

    def pays(p: tuple[str, int], m: str) -> list[int]:
        costs = [case.cost(tier, p, m) if tier in BY_PARTITION else 0 for tier in objective]
        of_what = "state" if has_state and p in case.copies else "member"
        return [a + b for a, b in zip(costs, asks[of_what][m], strict=True)]

    for p in case.p:
        require(pays(p, case.x[p]) == min(pays(p, m) for m in case.readers[p[0]]), "asks, pays")
    kinds = [*of]
    for kind in kinds:
        mine = {"member": ("balance", "load_squares"), "state": ("stateful_balance",)}.get(
            kind, (f"{kind}_balance",)
        )
        for u, k in (case.with_state() if kind == "state" else case.on(of[kind])).items():
            d = asks[kind][u]
            if kind != kinds[-1]:
                above = kinds[kinds.index(kind) + 1]
                over = {of[above][m] for m in case.members if of[kind][m] == u}
                require(len(over) == 1, "asks, one rack")
                d = [a - b for a, b in zip(d, asks[above][over.pop()], strict=True)]
            last, more = ([weights(of[kind])[u] * (2 * j - 1) if tier in mine else 0
                           for tier in objective] for j in (k, k + 1))  # fmt: skip
            require(d <= more and (k == 0 or last <= d), "asks, steps")
            zero = kind == "member" or "balance" not in objective
            ask = d if kind == "state" else asks[kind][u]
            require(zero or ask[objective.index("balance")] == 0, "asks, balance")


def least_topic_balance(case: Case) -> int:
    least = 0
    for t, readers in case.readers.items():
        if readers:
            q, s = divmod(sum(p[0] == t for p in case.p), len(readers))
            least += s * (q + 1) ** 2 + (len(readers) - s) * q**2
    return least


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
