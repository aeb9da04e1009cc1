"""docs/explanation/proof.md is complete: a checker made of it alone agrees with `check`.

What both accept and refuse are documents: genuine ones, and some in which an integer, a holder, a
floor or a budget was changed.
"""

import ast
import json
import random
from collections import Counter
from copy import deepcopy
from pathlib import Path

import pytest

from groups import AssayError, Assignment, BadInput, Group, values
from optimal import Solution, check, solve
from optimal.form import is_about_a_peak
from optimal.loads.load_problem import LoadProblem
from tests.optimal import page_case, page_checker, page_peaks
from tests.optimal.conditions import ORDERS
from tests.optimal.loads.sweep import case as peak_case
from tests.optimal.loads.sweep_within import asked
from tests.optimal.page_case import Refused
from tests.optimal.page_checker import check_by_the_page
from tests.optimal.random_groups import random_group

ROOT = Path(__file__).parents[2]
KNOWN = [json.loads(line) for line in (ROOT / "corpus/known.jsonl").read_text().splitlines()]


def refusal(group: dict, solution: dict) -> str | None:
    """The condition of the page that a solution breaks; None where there is none."""
    try:
        check_by_the_page(group, solution)
    except Refused as refused:
        return str(refused)
    return None


def is_accepted(group: Group, document: dict) -> bool:
    """Whether `check` proves a solution, with nothing left that it could not check."""
    try:
        return check(group, Solution.from_dict(group, document)) == ()
    except AssayError:
        return False


def with_values(group: Group, document: dict) -> dict:
    """The document with the values that its assignment has, each called its own bound."""
    made = Assignment.from_dict(group, document["assignment"])
    found = zip(document["objective"], values(made, document["objective"]), strict=True)
    return {**document, "terms": [{"name": n, "value": v, "bound": v} for n, v in found]}


def forgery(rng: random.Random, group: Group, genuine: dict) -> dict:
    """The document with one thing changed: an integer, a holder, the floor or the budget."""
    made = deepcopy(genuine)
    proof, members = made["proof"], list(group.members)
    columns = [c for c in ("level", "price") if c in proof]
    named = [key for key in ("floor", "floor", "givers", "givers") if key in proof]
    what = rng.choice([*columns, "holder", "holder", *named])
    if what in columns:
        proof[what][rng.choice(members)] += rng.choice((-2, -1, 1, 2))
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
    return with_values(group, made)


def met(rng: random.Random, group: Group, solution: Solution, forgeries: int) -> Counter[str]:
    """Hold both checkers against each other on a solution and forgeries of it; count the ends."""
    given, genuine = group.to_dict(), json.loads(json.dumps(solution.to_dict()))
    assert solution.proof.kind == "certificate"
    assert refusal(given, genuine) is None
    found = Counter(["genuine"])
    for _ in range(forgeries if group.members else 0):
        forged = forgery(rng, group, genuine)
        said = refusal(given, forged)
        assert (said is None) == is_accepted(group, forged), (said, given, forged)
        found[said or "another proof"] += 1
    return found


@pytest.mark.parametrize("part", [page_case, page_peaks, page_checker])
def test_the_checker_of_the_page_imports_nothing_of_the_project(part):
    tree = ast.parse(Path(part.__file__).read_text("utf-8"))
    modules = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    own = {"tests.optimal.page_case", "tests.optimal.page_peaks"}
    assert modules <= {"__future__", "itertools", *own}
    assert not any(isinstance(node, ast.Import) for node in ast.walk(tree))


@pytest.mark.parametrize("document", KNOWN, ids=lambda document: document["group"])
def test_the_checker_of_the_page_accepts_every_known_optimum(document):
    assert refusal(document, solve(Group.from_dict(document)).to_dict()) is None


def test_it_accepts_and_refuses_what_check_does_in_every_order_of_tiers():
    rng, found = random.Random(1), Counter()
    for objective in ORDERS * 3:
        group = random_group(rng, members=rng.randint(1, 5), partitions=rng.randint(1, 12))
        found += met(rng, group, solve(group, objective, method="flow"), 8)
    assert found["genuine"] == 3 * len(ORDERS)
    assert min(found[c] for c in ("1, open", "2, levels", "3, prices", "another proof")) > 20


def test_it_accepts_and_refuses_what_check_does_of_peaks_and_what_comes_after():
    rng, found = random.Random(6), Counter()
    while found["genuine"] < 120:
        group, objective = peak_case(rng)
        solution = solve(group, objective, method="exchange", time_limit=1)
        if solution.proof.kind == "certificate":
            found += met(rng, group, solution, 12)
    assert min(found[c] for c in ("peak", "2, levels", "3, prices", "another proof")) > 20, found
    assert found["even"] > 0


def test_it_accepts_and_refuses_what_check_does_within_a_budget():
    rng, found = random.Random(3), Counter()
    while found["genuine"] < 60:
        group = random_group(rng, members=rng.randint(2, 5), partitions=rng.randint(4, 14))
        least = {term.name: term.value for term in solve(group).terms}["stickiness"]
        if least:
            objective = rng.choice((("balance",), ("balance", "stickiness")))
            most = {"stickiness": rng.randrange(least)}
            solution = solve(group, objective, at_most=most)
            if solution.proof.kind == "certificate" and solution.proof.price is None:
                found += met(rng, group, solution, 8)
    assert min(found[c] for c in ("budget", "budget 2", "another proof")) > 0, found


def test_it_accepts_and_refuses_what_check_does_of_peaks_within_budgets():
    rng, found = random.Random(8), Counter()
    while found["genuine"] < 60:
        group, objective, most = asked(rng)
        if LoadProblem.of(objective, most) is None:
            continue
        try:
            solution = solve(group, objective, at_most=most, method="exchange", time_limit=1)
        except BadInput:
            continue  # nothing keeps to the budgets
        if solution.proof.kind == "certificate" and is_about_a_peak(solution):
            found += met(rng, group, solution, 6)
    assert min(found[c] for c in ("peak", "budget", "another proof")) > 10, found


def lopsided(rng: random.Random) -> tuple[Group, tuple[str, ...], dict[str, int]]:
    """A group in which one member owns most, and what makes moves the reason of its peak."""
    partitions, members = range(rng.randint(4, 8)), rng.randint(2, 3)
    owner = [rng.choice((0, 0, 0, 1)) for _ in partitions]
    said = {
        f"c{m}": {
            "subscription": ["t"],
            "owned": {"t": [p for p in partitions if owner[p] == m]},
            "capacity": rng.randint(1, 3),
        }
        for m in range(members)
    }
    topic = {"partitions": len(partitions), "lag": [rng.randint(1, 20) for _ in partitions]}
    document = {"format": "assay-group/1", "group": "g", "topics": {"t": topic}, "members": said}
    group, peak = Group.from_dict(document), rng.choice(("peak_lag", "peak_time"))
    if rng.random() < 0.5:
        return group, (peak,), {"stickiness": rng.randint(0, 2)}
    least = solve(group, (peak,), method="brute").terms[0].value
    return group, ("stickiness",), {peak: least + rng.randint(0, 4)}


def test_it_accepts_and_refuses_what_check_does_of_moves_under_a_peak():
    rng, found = random.Random(9), Counter()
    while found["genuine"] < 60:
        group, objective, most = lopsided(rng)
        solution = solve(group, objective, at_most=most, method="exchange", time_limit=1)
        if solution.proof.givers:
            found += met(rng, group, solution, 6)
    said = ("moves below the peak", "moves under the peak", "another proof")
    assert min(found[c] for c in said) > 10, found


def test_even_topics_need_no_integers():
    rng = random.Random(4)
    for _ in range(30):
        group = random_group(rng, members=4, partitions=12)
        solution = solve(group, "topic_balance")
        assert met(rng, group, solution, 4)["genuine"] == 1
