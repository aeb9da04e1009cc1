"""The audit, by columns, decides what the checker decides that one reads."""

import random
from collections import Counter
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from groups import TIERS, AssayError, Assignment, BadInput, Group, ProofError, values
from optimal import ProofKind, Solution, Status, Term, check, solve
from optimal.audit import audit, confirm
from optimal.brute import brute
from tests.optimal.judging import (
    COLUMNS,
    NUMBERS,
    REFUSED,
    changed,
    claimed,
    forged,
    is_accepted,
    verdict_of,
)
from tests.optimal.random_groups import any_owner, random_group
from tests.optimal.small_groups import one_topic

CERTIFIED = ("balance", "stickiness", "moved_weight", "racks")
OBJECTIVES = [*(o for n in range(1, 5) for o in permutations(CERTIFIED, n)), ("topic_balance",)]


def forgery(rng: random.Random, genuine: Solution) -> Solution:
    """Return a solution with one to three parts replaced by values of any type."""
    group, members = genuine.group, len(genuine.group.members)
    proof, solution = genuine.proof, genuine
    for _ in range(rng.randint(1, 3)):
        what = rng.choice(("owner", "owner", "level", "price", "price", "kind", "terms", "status"))
        if what == "owner":
            owner = solution.assignment.owner.copy()
            if len(owner):
                owner[rng.randrange(len(owner))] = rng.randint(-1, max(members - 1, -1))
            solution = forged(solution, assignment=Assignment(group, owner))
        elif what in ("level", "price"):
            column = getattr(proof, what)
            known = type(column) is np.ndarray and column.dtype == np.int64 and column.ndim == 1
            column = column.copy() if known else np.zeros(members, np.int64)
            if len(column):
                at = rng.randrange(len(column))
                near = [int(column[at]) + step for step in (-2, -1, 1, 2) for _ in range(2)]
                number = rng.choice((*near, 2**62, -(2**62), 2**63 - 1, -(2**63)))
                column[at] = min(max(number, -(2**63)), 2**63 - 1)
            if rng.random() < 0.2:
                column = COLUMNS[rng.choice(list(COLUMNS))](column)
            proof = forged(proof, **{what: column})
        elif what == "kind":
            proof = forged(proof, kind=rng.choice((*ProofKind, "certificate")))
        elif what == "status":
            solution = forged(solution, status=rng.choice((*Status, "optimal")))
        else:
            terms = list(solution.terms)
            at = rng.randrange(len(terms))
            name = rng.choice(("value", "bound"))
            terms[at] = forged(terms[at], **{name: rng.choice((*NUMBERS, 0, 1, 2, 3))})
            solution = forged(solution, terms=tuple(terms))
    if rng.random() < 0.7 and solution.assignment is not None:
        found = values(solution.assignment, solution.objective)
        solution = forged(solution, terms=tuple(map(Term, solution.objective, found, found)))
    return forged(solution, proof=proof)


def judge(rng: random.Random, group: Group, objective, count: int) -> Counter[str]:
    """Forge solutions of a group; count the checkers' verdicts, and require that these are right.

    Proved is an answer of which the checker leaves nothing unchecked.
    """
    met: Counter[str] = Counter()
    best = brute(group, objective).bounds
    genuine = solve(group, objective, method=rng.choice(("flow", "auto")))
    for _ in range(count):
        solution = forgery(rng, genuine)
        said = verdict_of(check, group, solution)
        met["accepted"] += is_accepted(group, solution)
        if isinstance(said, AssayError):
            assert isinstance(said, REFUSED), (said, group.to_dict())
            met[type(said).__name__] += 1
            continue
        assert solution.assignment.is_valid
        found = values(solution.assignment, objective)
        assert tuple(term.value for term in solution.terms) == found
        assert all(type(term.value) is int for term in solution.terms)
        if said == ():
            assert found == best, (group.to_dict(), objective, solution)
            met["proved"] += 1
        else:
            assert solution.proof.kind is not ProofKind.CERTIFICATE
            met["on somebody's word"] += 1
    return met


def test_both_checkers_agree_on_what_is_forged_in_memory():
    """What is forged in documents is in test_proof_page.py."""
    rng, found = random.Random("forged"), Counter()
    for _ in range(70):
        group = random_group(rng, members=3, partitions=rng.randint(1, 5))
        found += judge(rng, group, rng.choice(OBJECTIVES), 24)
    assert 100 < found["accepted"] < found.total() / 2
    assert min(found["proved"], found["on somebody's word"]) > 50
    assert min(found["ProofError"], found["InvalidAssignment"]) > 150


@pytest.mark.parametrize("tier", TIERS)
def test_both_checkers_find_the_value_of_every_tier(tier):
    rng = random.Random(f"value {tier}")
    for _ in range(40):
        group = random_group(rng, members=4, partitions=9)
        word = claimed(group, any_owner(rng, group), (tier,), kind=ProofKind.SOLVER)
        assert is_accepted(group, word)
        for off in (-1, 1):
            term = Term(tier, word.terms[0].value + off, None)
            assert not is_accepted(group, forged(word, terms=(term,), status=Status.FEASIBLE))


@pytest.mark.parametrize(
    "tier", ["peak_lag", "weight_spread", "moved_weight", "racks", "restores"]
)
def test_a_tier_whose_column_is_unknown_has_no_value(tier):
    group = random_group(random.Random("unknown2"), members=3, partitions=6)
    assert (group.owner >= 0).any()
    bare = replace(group, lag_records=None, weight=None, racks=None, copies=None)
    owner = any_owner(random.Random(3), group)
    assert (owner >= 0).all()
    assert (owner != group.owner)[group.owner >= 0].any()
    word = claimed(group, owner, (tier,), kind=ProofKind.SOLVER)
    assert is_accepted(group, word)
    for checker in (check, audit):
        with pytest.raises(
            BadInput, match=r"t\d-\d: its (lag|weight|racks|state) is unknown, but"
        ):
            checker(bare, forged(word, group=bare))


@pytest.mark.parametrize("weight", [2**20, 2**40, 2**57, 2**59])
def test_weights_and_prices_near_64_bits_are_judged_as_small_ones_are(weight):
    group = one_topic([weight] * 4, 2, owned=range(4))
    objective = ("balance", "moved_weight")
    right = claimed(group, [0, 0, 1, 1], objective, [1, 1], [weight, 0])
    assert is_accepted(group, right)
    assert confirm(group, right) == ()
    for price in ([weight - 1, 0], [weight + 1, 0], [weight, 1], [-weight, 0], [2**63 - 1, 0]):
        wrong = changed(right, price=np.array(price))
        assert not is_accepted(group, wrong)
        with pytest.raises(ProofError, match="price: the prices bound moved_weight by"):
            audit(group, wrong)
    # Both members carry all that they may: a common shift of the prices is free from 0 on.
    for shift in (2**60, -(2**60), 2**61, -(2**63)):
        shifted = changed(right, price=np.array([weight + shift, shift]))
        assert is_accepted(group, shifted) is (shift > 0)


def test_sums_beyond_64_bits_are_exact():
    """2^62 a partition: the sums alone would be 0 modulo 2^64."""
    group = one_topic([1] * 4, 2, owned=range(4))
    price = np.array([2**62, 2**62])
    genuine = solve(group)
    assert check(group, genuine) == ()
    assert not is_accepted(group, changed(genuine, price=price - np.array([0, 2])))
    exact = changed(genuine, price=price + np.array([1, 0]))
    assert confirm(group, exact) is None
    assert check(group, exact) == audit(group, exact) == ()
