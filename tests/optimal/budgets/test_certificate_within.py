import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from groups import Group, InvalidAssignment, ProofError
from optimal import Proof, ProofKind, Solution, check, solve
from optimal.audit import audit
from tests.optimal.budgets.conditions_within import accepts_within
from tests.optimal.budgets.test_within import KIP_54, lopsided, some_group
from tests.optimal.forgery import COLUMNS, REFUSED
from tests.optimal.judging import changed, forged, is_accepted, with_owner
from tests.optimal.small_groups import group_of

LEVELS = Proof(ProofKind.CERTIFICATE, level=np.array([1, 1]))


def binding(rng: random.Random) -> Solution:
    """A solution with a certificate within a budget that the optimum does not keep to."""
    while True:
        group = some_group(rng)
        needed = solve(group).terms[1].value
        if not needed:
            continue
        objective = rng.choice((("balance",), KIP_54))
        moves = {"stickiness": rng.randrange(needed)}
        solution = solve(group, objective, at_most=moves, method="flow")
        if solution.proof.kind is ProofKind.CERTIFICATE and solution.proof.price is None:
            return solution


@pytest.fixture
def group() -> Group:
    return lopsided(3, 9)


@pytest.fixture
def solution(group) -> Solution:
    return solve(group, at_most={"stickiness": 2})


@pytest.mark.parametrize("seed", range(3))
def test_levels_beside_those_found_are_judged_as_the_page_says(seed):
    rng, met = random.Random(f"beside {seed}"), Counter()
    for _ in range(25):
        solution = binding(rng)
        group, most = solution.group, solution.at_most["stickiness"]
        for _ in range(12):
            level = solution.proof.level.copy()
            for _ in range(rng.randint(0, 2)):
                level[rng.randrange(len(level))] += rng.choice((-2, -1, 1, 2))
            other = changed(solution, level=level)
            if rng.random() < 0.5:
                owner = solution.assignment.owner.copy()
                p = rng.randrange(len(owner))
                readers = group.subscribers(int(group.topic[p])).tolist()
                owner[p] = rng.choice(readers or [-1])
                other = with_owner(other, owner)
            if rng.random() < 0.3:
                other = replace(other, at_most={"stickiness": max(0, most + rng.choice((-1, 1)))})
            expected = accepts_within(
                group, other.assignment, other.objective, level.tolist(),
                other.at_most["stickiness"],
            )  # fmt: skip
            assert is_accepted(group, other) == expected
            met[expected] += 1
    assert min(met[True], met[False]) > 100


def test_nothing_that_is_not_the_least_is_accepted_whatever_the_levels():
    rng, refused = random.Random("forged within"), 0
    for _ in range(75):
        solution = binding(rng)
        group, best = solution.group, tuple(term.value for term in solution.terms)
        for _ in range(15):
            owner = solution.assignment.owner.copy()
            for _ in range(rng.randint(1, 3)):
                p = rng.randrange(len(owner))
                readers = group.subscribers(int(group.topic[p])).tolist()
                owner[p] = rng.choice(readers or [-1])
            level = np.array([rng.randint(-1, 5) for _ in group.members], np.int64)
            if rng.random() < 0.7:
                level = np.bincount(owner[owner >= 0], minlength=len(level)) - rng.randint(0, 1)
            other = changed(with_owner(solution, owner), level=level.astype(np.int64))
            if is_accepted(group, other):
                assert tuple(term.value for term in other.terms) == best
            else:
                refused += 1
    assert refused > 500


def of(solution: Solution, **more) -> Solution:
    return replace(solution, **more)


@pytest.mark.parametrize(
    ("forge", "message"),
    [
        (lambda one: of(one, at_most={"stickiness": 1}), "at_most.stickiness: 1, but the value"),
        # What levels prove they prove for this budget, and with it, of this objective alone.
        (lambda one: of(one, at_most={"stickiness": 3}), "level: "),
        (lambda one: of(one, at_most={}), "level or price is missing"),
        (lambda one: of(one, at_most={"balance": 100}), "level or price is missing"),
        (lambda one: of(one, objective=KIP_54[::-1], terms=one.terms[::-1]),
         "level or price is missing"),
        (lambda one: changed(one, level=one.proof.level - 3),
         "level: what is above 6 is 1, but the bound is 0"),
        (lambda one: forged(one, proof=Proof(ProofKind.CERTIFICATE)), "level or price is missing"),
    ],
)  # fmt: skip
def test_a_certificate_proves_nothing_but_what_it_was_made_for(group, solution, forge, message):
    other = forge(solution)
    with pytest.raises((InvalidAssignment, ProofError), match=message):
        check(group, other)
    assert not is_accepted(group, other)


def test_the_certificate_of_another_group_is_refused(solution):
    with pytest.raises(InvalidAssignment, match="group: other members, topics"):
        check(lopsided(3, 8), solution)


def test_moves_that_nothing_needs_are_refused():
    """Both members give the other what they own: as even as before, after four moves."""
    reads, owned = {"c0": ["t0"], "c1": ["t0"]}, {"c0": {"t0": [0, 1]}, "c1": {"t0": [2, 3]}}
    group = group_of({"t0": 4}, reads, owned)
    claim = replace(solve(group, at_most={"stickiness": 4}), proof=LEVELS)
    swapped = with_owner(claim, [1, 1, 0, 0])
    with pytest.raises(ProofError, match="level: nothing shows that fewer than 4 moves cost bal"):
        check(group, swapped)
    assert not is_accepted(group, swapped)
    assert is_accepted(group, claim)
    assert is_accepted(group, replace(swapped, objective=("balance",), terms=swapped.terms[:1]))


@pytest.mark.parametrize("form", COLUMNS)
def test_a_level_that_is_not_one_integer_a_member_is_refused(group, solution, form):
    column = COLUMNS[form](solution.proof.level)
    other = forged(solution, proof=forged(solution.proof, level=column))
    for checker in (check, audit):
        with pytest.raises(REFUSED):
            checker(group, other)


@pytest.mark.parametrize(
    "budget",
    [True, 2.0, -1, "2", None, float("nan"), 10**400],
)
def test_a_budget_that_is_no_number_is_refused(group, solution, budget):
    other = forged(solution, at_most={"stickiness": budget})
    for checker in (check, audit):
        with pytest.raises(ProofError, match="at_most"):
            checker(group, other)


@pytest.mark.parametrize("number", [-(2**63), 2**63 - 1])
@pytest.mark.parametrize("member", range(3))
def test_a_level_as_large_as_an_integer_gets_is_judged(group, solution, number, member):
    level = solution.proof.level.copy()
    level[member] = number
    expected = accepts_within(group, solution.assignment, KIP_54, level.tolist(), 2)
    assert is_accepted(group, changed(solution, level=level)) == expected
