"""A claim without a certificate is refused where an assignment is plainly better."""

import random
from dataclasses import replace

import pytest

from groups import ProofError
from optimal import Proof, ProofKind, Status, Term, check, solve
from optimal.brute import brute
from optimal.recount import count_again
from tests.optimal.judging import claimed
from tests.optimal.random_groups import random_group
from tests.optimal.small_groups import one_topic

WORD = ProofKind.EXHAUSTION


@pytest.mark.parametrize("first", [None, 0])
def test_a_bound_after_a_tier_that_is_open_is_refused_whatever_it_says(first):
    """With balance 1 the best peak is 9; nobody says what is best after a balance of 0."""
    group = one_topic([9, 9, 8], 2)
    owner = solve(group, "balance > peak_lag").assignment.owner
    best = claimed(group, owner, ("balance", "peak_lag"), kind=WORD)
    balance, peak = best.terms
    later = replace(
        best,
        status=Status.FEASIBLE,
        terms=(replace(balance, bound=first), replace(peak, bound=peak.value)),
    )
    line = r"terms\.peak_lag: a bound, but a tier before it is open"
    with pytest.raises(ProofError, match=line):
        check(group, later)


def test_a_false_bound_of_a_feasible_answer_is_refused_and_a_true_one_is_not():
    group = one_topic([900, 300, 300, 300, 300, 300], 3)
    one = claimed(group, solve(group, "peak_lag").assignment.owner, ("peak_lag",), kind=WORD)
    worse = replace(one, status=Status.FEASIBLE, proof=Proof(ProofKind.NONE))
    for bound in (None, 0, 899, 900):
        assert count_again(group, replace(worse, terms=(Term("peak_lag", 900, bound),)))
    with pytest.raises(ProofError, match="the bound 901 is wrong: an assignment has 900"):
        count_again(group, replace(worse, terms=(Term("peak_lag", 1200, 901),)))


def test_a_claim_on_a_small_group_passes_exactly_where_nothing_is_better():
    rng, seen = random.Random(1), set()
    for _ in range(60):
        group = random_group(rng, members=rng.randint(2, 3), partitions=rng.randint(3, 7))
        objective = tuple(rng.sample(["balance", "stickiness", "peak_lag", "lag_balance"], 2))
        best = brute(group, objective).bounds
        owner = solve(group, rng.choice(objective)).assignment.owner
        forged = claimed(group, owner, objective, kind=WORD)
        is_best = tuple(term.value for term in forged.terms) == best
        seen.add(is_best)
        if is_best:
            assert count_again(group, forged)
        else:
            with pytest.raises(ProofError, match="is wrong: an assignment has"):
                count_again(group, forged)
    assert seen == {True, False}


def test_of_a_group_with_too_many_assignments_a_plainly_worse_one_is_refused():
    group = one_topic([900] + [300] * 99, 20)
    best = solve(group, "balance").assignment.owner
    worse = best.copy()
    worse[best == 0] = 1
    said = r"terms\.balance: the bound \d+ is wrong: an assignment has 0"
    with pytest.raises(ProofError, match=said):
        count_again(group, claimed(group, worse, ("balance",), kind=WORD))
    with pytest.raises(ProofError, match=r"terms\.peak_lag: the bound 3600 is wrong: an"):
        count_again(group, claimed(group, worse, ("peak_lag",), kind=WORD))
    assert not count_again(group, claimed(group, best, ("balance",), kind=WORD))


def test_what_breaks_a_budget_refutes_nothing():
    """Even loads take moves that there may not be."""
    group = one_topic([0] * 24, 2, owned=range(24))
    stays = claimed(group, group.owner, ("balance",), kind=WORD)
    with pytest.raises(ProofError, match="the bound 24 is wrong: an assignment has 0"):
        count_again(group, stays)
    assert not count_again(group, replace(stays, at_most={"stickiness": 0}))
