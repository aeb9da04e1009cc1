"""docs/explanation/proof.md is complete: a checker made of it alone decides as both checkers do.

What all accept and refuse are documents: genuine ones, and some in which an integer, a holder, a
floor or a budget was changed.
"""

import ast
import json
import random
import re
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from itertools import permutations
from pathlib import Path

import pytest

from groups import PRESETS, AssayError, Assignment, BadInput, Group, values
from optimal import Solution, check, solve
from optimal.form import is_about_a_peak
from tests.optimal import page_checker
from tests.optimal.judging import KIP_54, is_accepted, verdict_of
from tests.optimal.page_checker import Refused, check_by_the_page
from tests.optimal.random_groups import case, case_within, of_state, random_group, random_streams
from tests.optimal.small_groups import group_of

COSTS = ("balance", "stickiness", "moved_weight", "racks")
ASKED = ("host_balance", "rack_balance", "load_squares")
ORDERS = [order for size in range(1, 5) for order in permutations(COSTS, size)]


def refusal(group: dict, solution: dict) -> str | None:
    """Return the condition of the page that a solution breaks, or None."""
    try:
        check_by_the_page(group, solution)
    except Refused as refused:
        return str(refused)
    return None


def holds(group: Group, document: dict) -> bool:
    """Whether both checkers accept a solution; a refusal must name a place."""
    try:
        solution = Solution.from_dict(group, document)
    except AssayError:
        return False
    said = verdict_of(check, group, solution)
    assert said == () or re.match(r"[a-z\d][\w.-]*( with \w+)?: .", str(said)), said
    return is_accepted(group, solution)


def forgery(rng: random.Random, group: Group, genuine: dict) -> dict:
    """Return the document with one change: of an integer, an owner, the floor or the budget."""
    made = deepcopy(genuine)
    proof, members = made["proof"], list(group.members)
    columns = [c for c in ("level", "price") if c in proof]
    names = ("floor", "floor", "givers", "givers", "scale", *["prices"] * 5)
    named = [key for key in names if key in proof]
    what = rng.choice([*columns, *columns, "holder", "holder", *named])
    if what in columns:
        proof[what][rng.choice(members)] += rng.choice((-2, -1, 1, 2))
    elif what == "prices":
        table = proof["prices"][rng.choice(list(proof["prices"]))]
        row = table[rng.choice(list(table))]
        row[rng.randrange(len(row))] += rng.choice((-2, -1, 1, 2))
    elif what == "scale":
        proof["scale"][rng.randrange(len(proof["scale"]))] += rng.choice((-1, 1))
    elif what == "givers":
        proof["givers"] = sorted(m for m in members if rng.random() < 0.5)
    elif what == "floor":
        some = sorted(m for m in members if rng.random() < 0.6) or members[:1]
        bound, least = rng.choice(("average", "crowd")), rng.choice((0, 1, rng.randint(0, 100)))
        proof["floor"] = {"bound": bound, "members": some, "at_least": least}
    else:
        giving = [(m, t) for m, held in made["assignment"].items() for t in held]
        if giving:
            giver, topic = rng.choice(giving)
            taker = rng.choice(members)
            number = made["assignment"][giver][topic].pop()
            made["assignment"][taker].setdefault(topic, []).append(number)
            made["assignment"][taker][topic].sort()
        made["assignment"] = {m: {t: n for t, n in held.items() if n}
                              for m, held in made["assignment"].items()}  # fmt: skip
        if columns == ["level", "price"] and rng.random() < 0.3:  # levels that fit its loads
            loads = Assignment.from_dict(group, made["assignment"]).loads.tolist()
            levels = [load - rng.choice((0, 0, 1, 1, 2)) for load in loads]
            proof["level"] = dict(zip(members, levels, strict=True))
            proof["price"] = {m: rng.randint(-3, 3) for m in members}
    found = Assignment.from_dict(group, made["assignment"])
    terms = zip(made["objective"], values(found, made["objective"]), strict=True)
    return {**made, "terms": [{"name": n, "value": v, "bound": v} for n, v in terms]}


def met(
    rng: random.Random, solution: Solution, forgeries: int, given: dict | None = None
) -> Counter[str]:
    """Require that the checkers agree on a solution and forgeries of it; count the outcomes."""
    group, genuine = solution.group, json.loads(json.dumps(solution.to_dict()))
    given = given or group.to_dict()
    assert solution.proof.kind == "certificate"
    assert refusal(given, genuine) is None
    assert holds(group, genuine)
    found = Counter(["genuine"])
    for _ in range(forgeries if group.members else 0):
        forged = forgery(rng, group, genuine)
        said = refusal(given, forged)
        assert (said is None) == holds(group, forged), (said, given, forged)
        assert said or forged["terms"] == genuine["terms"], (given, forged)
        found[said or "another proof"] += 1
    return found


def lopsided(rng: random.Random) -> tuple[Group, tuple[str, ...], dict[str, int]]:
    """Return a group in which one member owns most, and an objective and budgets for it."""
    partitions, members = rng.randint(4, 8), rng.randint(2, 3)
    owner = [rng.choice((0, 0, 0, 1)) for _ in range(partitions)]
    topic = {"partitions": partitions, "lag": [rng.randint(1, 20) for _ in owner]}
    names = [f"c{m}" for m in range(members)]
    owned = {c: {"t": [p for p, o in enumerate(owner) if o == m]} for m, c in enumerate(names)}
    rates = [rng.randint(1, 3) for _ in names]
    group = group_of({"t": topic}, {name: ["t"] for name in names}, owned, capacities=rates)
    peak = rng.choice(("peak_lag", "peak_time"))
    if rng.random() < 0.5:
        return group, (peak,), {"stickiness": rng.randint(0, 2)}
    least = solve(group, (peak,), method="brute").terms[0].value
    return group, ("stickiness",), {peak: least + rng.randint(0, 4)}


def in_any_order(rng: random.Random) -> Solution:
    if rng.random() < 0.2:
        return solve(random_group(rng, members=4, partitions=60), KIP_54)
    group = random_group(rng, members=rng.randint(1, 5), partitions=rng.randint(1, 12))
    return solve(group, rng.choice(ORDERS), method=rng.choice(("auto", "flow")))


def of_places(rng: random.Random) -> Solution:
    """Solve a random group for tiers of which at least one is about hosts, racks or squares."""
    group = random_group(rng, members=rng.randint(1, 5), partitions=rng.randint(1, 12))
    asked = rng.sample(ASKED, rng.randint(1, 2))
    asked += rng.sample(COSTS, rng.randint(0, 3))
    return solve(group, tuple(rng.sample(asked, len(asked))), method="flow")


def test_all_checkers_accept_the_same_proofs_of_streams_groups():
    rng, found = random.Random("streams"), Counter()
    while found["genuine"] < 45:
        given = random_streams(rng, members=4, tasks=7)
        group = Group.from_dict(given)
        objective = rng.choice((PRESETS["kip-1071"], of_state(rng)))
        found += met(rng, solve(group, objective, method="flow"), 12, given)
    conditions = ("asks, pays", "asks, steps", "another proof")
    assert min(found[condition] for condition in conditions) > 50, found
    assert found["asks, balance"] > 3


def with_even_topics(rng: random.Random) -> Solution:
    return solve(random_group(rng, members=4, partitions=12), "topic_balance")


def peaks(rng: random.Random) -> Solution:
    return solve(*case(rng), method="exchange", time_limit=1)


def within_a_budget(rng: random.Random) -> Solution | None:
    group = random_group(rng, members=rng.randint(2, 5), partitions=rng.randint(4, 14))
    least = {term.name: term.value for term in solve(group).terms}["stickiness"]
    if not least:
        return None
    objective, most = rng.choice((("balance",), KIP_54)), {"stickiness": rng.randrange(least)}
    solution = solve(group, objective, at_most=most)
    return solution if solution.proof.price is None else None


def of_a_peak_within_budgets(rng: random.Random) -> Solution | None:
    group, objective, most = case_within(rng)
    try:
        solution = solve(group, objective, at_most=most, method="exchange", time_limit=1)
    except BadInput:
        return None  # another method's, or nothing keeps to the budgets
    return solution if is_about_a_peak(solution) else None


def of_moves_under_a_peak(rng: random.Random) -> Solution | None:
    group, objective, most = lopsided(rng)
    solution = solve(group, objective, at_most=most, method="exchange", time_limit=1)
    return solution if solution.proof.givers else None


def test_the_checker_of_the_page_imports_nothing_of_the_project():
    tree = ast.parse(Path(page_checker.__file__).read_text("utf-8"))
    modules = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    assert modules <= {"__future__", "itertools", "math"}
    assert not any(isinstance(node, ast.Import) for node in ast.walk(tree))


@pytest.mark.parametrize(
    ("draw", "number", "conditions"),
    [
        (in_any_order, 80, ("1, open", "2, levels", "3, prices", "4, scale", "another proof")),
        (of_places, 20, ("asks, pays", "asks, steps", "another proof")),
        (with_even_topics, 15, ("topic balance",)),
        (peaks, 30, ("peak", "2, levels", "3, prices", "even", "another proof")),
        (within_a_budget, 15, ("budget", "budget 2", "another proof")),
        (of_a_peak_within_budgets, 30, ("peak", "budget", "another proof")),
        (of_moves_under_a_peak, 60, ("moves below the peak", "moves under the peak")),
    ],
)
def test_all_checkers_accept_the_same_proofs_and_none_of_what_is_not_best(
    draw: Callable[[random.Random], Solution | None], number, conditions
):
    rng, found = random.Random(draw.__name__), Counter()
    while found["genuine"] < number:
        solution = draw(rng)
        if solution is not None and solution.proof.kind == "certificate":
            found += met(rng, solution, 10)
    assert min(found[condition] for condition in conditions) > 5, found
