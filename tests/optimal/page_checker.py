"""A checker written from docs/explanation/proof.md alone, in the order and the names of the page.

It reads the two JSON documents. It and its parts, `page_case` and `page_peaks`, import nothing of
the project.
"""

from __future__ import annotations

from tests.optimal.page_case import Case, require
from tests.optimal.page_peaks import (
    both,
    counts_within,
    of_all_topics,
    the_evenness,
    the_moves,
    the_peak,
)

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
