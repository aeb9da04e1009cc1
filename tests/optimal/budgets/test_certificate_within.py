from dataclasses import replace

import numpy as np
import pytest

from groups import Group, InvalidAssignment, ProofError
from optimal import Proof, ProofKind, Solution, check, solve
from optimal.audit import audit
from tests.optimal.judging import (
    KIP_54,
    changed,
    forged,
    is_accepted,
    with_owner,
)
from tests.optimal.small_groups import group_of, lopsided
from tests.optimal.test_proof_page import refusal

LEVELS = Proof(ProofKind.CERTIFICATE, level=np.array([1, 1]))


@pytest.fixture
def group() -> Group:
    return lopsided(3, 9)


@pytest.fixture
def solution(group) -> Solution:
    return solve(group, at_most={"stickiness": 2})


@pytest.mark.parametrize(
    ("forge", "message"),
    [
        (lambda one: replace(one, at_most={"stickiness": 1}), "at_most.stickiness: 1, but the"),
        # What levels prove they prove for this budget, and with it, of this objective alone.
        (lambda one: replace(one, at_most={"stickiness": 3}), "level: "),
        (lambda one: replace(one, at_most={}), "level or price is missing"),
        (lambda one: replace(one, at_most={"balance": 100}), "level or price is missing"),
        (lambda one: replace(one, objective=KIP_54[::-1], terms=one.terms[::-1]),
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
    other = changed(solution, level=level)
    assert is_accepted(group, other) == (refusal(group.to_dict(), other.to_dict()) is None)
