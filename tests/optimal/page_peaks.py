"""*The peak* and *Moves under a peak* of docs/explanation/proof.md.

A part of the checker that was written from the page alone; it imports nothing of the project.
"""

from __future__ import annotations

from tests.optimal.page_case import Case, require


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
