import random
from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from benchmarks.instances import differing
from compare.samples.families import Family
from groups import TIERS, BadInput, Group, InvalidAssignment, ProofError, values
from optimal import Proof, ProofKind, Solution, Status, Stopped, check, solve
from optimal.answer import NothingWithin
from optimal.brute import brute
from tests.optimal.judging import KIP_54, changed, forged, is_accepted, with_owner
from tests.optimal.random_groups import crowded, random_group
from tests.optimal.small_groups import found, group_of, lopsided
from tests.optimal.test_proof_page import refusal


def some_group(rng: random.Random) -> Group:
    make = crowded if rng.random() < 0.7 else random_group
    return make(rng, members=rng.randint(2, 4), partitions=rng.randint(3, 7))


def test_balance_within_every_number_of_moves_is_what_exhaustion_finds():
    rng, kinds = random.Random("within moves"), Counter()
    for _ in range(50):
        group = some_group(rng)
        needed = solve(group).terms[1].value
        for moves in range(needed + 1):
            for objective in (("balance",), KIP_54):
                solution = solve(group, objective, at_most={"stickiness": moves})
                truth = brute(group, objective, at_most={"stickiness": moves})
                assert found(solution) == truth.bounds
                assert solution.status is Status.OPTIMAL
                assert solution.at_most == {"stickiness": moves}
                unchecked = check(group, solution)
                assert bool(unchecked) == (solution.proof.kind is not ProofKind.CERTIFICATE)
                kinds[solution.proof.kind] += 1
    assert kinds[ProofKind.CERTIFICATE] > 0.97 * kinds.total()


@pytest.mark.parametrize(("method", "number"), [("auto", 60), ("cp-sat", 25)])
def test_any_objective_within_any_budgets_is_what_exhaustion_finds(method, number):
    rng, met = random.Random("within"), Counter()
    for _ in range(number):
        group = some_group(rng)
        objective = tuple(rng.sample([*TIERS], rng.randint(1, 2)))
        at_most = {
            tier: rng.randint(0, max(1, 2 * solve(group, (tier,)).terms[0].value + 2))
            for tier in rng.sample([*TIERS], rng.randint(1, 3))
        }
        try:
            truth = brute(group, objective, at_most=at_most)
        except NothingWithin:
            with pytest.raises(BadInput, match=r"^at_most\."):
                solve(group, objective, method=method, at_most=at_most)
            met["nothing"] += 1
            continue
        solution = solve(group, objective, method=method, at_most=at_most)
        assert solution.status is Status.OPTIMAL, (objective, at_most)
        assert found(solution) == truth.bounds
        kept = values(solution.assignment, tuple(at_most))
        assert all(value <= most for value, most in zip(kept, at_most.values(), strict=True))
        met[solution.proof.kind] += 1
    assert met["nothing"] > 0
    assert met[ProofKind.SOLVER if method == "cp-sat" else ProofKind.EXHAUSTION] > 0


def test_a_budget_on_moves_is_one_on_stickiness():
    budgets = {"moves": np.int64(1)}, {"stickiness": 1}
    by_name = [solve(lopsided(2, 6), at_most=at_most) for at_most in budgets]
    assert by_name[0].at_most == by_name[1].at_most == {"stickiness": 1}
    assert type(by_name[0].at_most["stickiness"]) is int
    assert by_name[0].terms == by_name[1].terms


def test_what_the_optimum_keeps_to_anyway_costs_nothing_and_keeps_its_certificate():
    group = lopsided()
    plain, within = solve(group), solve(group, at_most={"stickiness": 3, "topic_balance": 2**62})
    assert within.terms == plain.terms
    assert within.proof.price is not None
    assert check(group, within) == ()


def test_no_bound_is_above_what_fewer_moves_reach():
    rng = random.Random("fewer moves")
    for _ in range(5):
        group = crowded(rng, members=8, partitions=60)
        needed = solve(group).terms[1].value
        curve = [
            solve(group, "balance", at_most={"stickiness": k}, method="flow").terms[0]
            for k in range(needed + 1)
        ]
        assert all(one.value >= other.bound for one, other in combinations(curve, 2))
        assert all(term.bound <= term.value for term in curve)
        assert curve[-1].value == curve[-1].bound == solve(group).terms[0].value


def test_members_that_read_alike_need_no_flow_at_any_size():
    group = lopsided(1000, 100_000)
    solution = solve(group, at_most={"stickiness": 50_000})
    assert (solution.method, solution.proof.kind) == ("closed-form", ProofKind.CERTIFICATE)
    # c0 keeps 50,000; the others hold 50 or 51.
    given, many = divmod(50_000, 999)
    assert solution.terms[0].value == 999 * 50_000 - 50_000 + many * (999 - many)
    assert given == 50
    assert check(group, solution) == ()


def test_members_that_read_differently_have_a_certificate():
    """A hundred of them, and a few of which one reads much alone: its level needs no budget."""
    group = differing(100, 20, 5000, 1)
    rng = np.random.default_rng(1)
    owner = [rng.choice(group.subscribers(topic)) for topic in group.topic]
    group = replace(group, owner=np.array(owner, np.int32))
    needed, alone = solve(group).terms[1].value, Family(8, 5, 7, "random", "join-one").group(117)
    for one, moves in (
        *((group, moves) for moves in (needed // 10, needed // 2, needed - 1)),
        *((alone, moves) for moves in (1, 2, 3)),
    ):
        solution = solve(one, at_most={"stickiness": moves}, method="flow")
        assert solution.proof.kind is ProofKind.CERTIFICATE
        assert solution.proof.price is None
        assert check(one, solution) == ()


def test_where_two_moves_only_help_together_the_solver_has_the_word_and_says_so():
    """c0 can only give to c1, which must give to c2 what c2 can read."""
    group = group_of(
        {"t0": 40, "t1": 40},
        {"c0": ["t0"], "c1": ["t0", "t1"], "c2": ["t1"]},
        {"c0": {"t0": list(range(40))}, "c1": {"t1": list(range(40))}},
    )
    solution = solve(group, at_most={"stickiness": 60}, time_limit=10)
    assert solution.proof.kind in (ProofKind.CERTIFICATE, ProofKind.SOLVER)
    flow = solve(group, at_most={"stickiness": 60}, method="flow")
    assert (flow.status is Status.OPTIMAL) == (flow.proof.kind is ProofKind.CERTIFICATE)
    assert flow.terms[0].bound <= solution.terms[0].value <= flow.terms[0].value


@pytest.mark.parametrize(
    ("at_most", "more", "message"),
    [
        ({"balance": 0, "stickiness": 2}, {},
         "at_most.moves: 2, but with balance at most 0 the least that is possible is 3"),
        ({"load_spread": 0}, {"group": lopsided(2, 3)},
         "at_most.load_spread: 0, but the least that is possible is 1"),
        ({"balance": 0}, {"group": lopsided(2, 3), "objective": "stickiness"},
         "at_most.balance: 0, but the least that is possible is 1"),
        ({"peak": 1}, {}, 'at_most: unknown tier "peak", .* balance,.* restores, moves, moved_'),
        ({"moves": 1, "stickiness": 2}, {}, "at_most: moves is given twice"),
        ({"moves": -1}, {}, "at_most.moves: -1, expected a whole number of 0 or more"),
        ({"stickiness": -1}, {}, "at_most.stickiness: -1, expected a whole number of 0 or more"),
        ({"stickiness": True}, {}, "at_most.stickiness: True, expected a whole number"),
        ({"stickiness": 1.0}, {}, r"at_most.stickiness: 1.0, expected a whole number"),
        ({"stickiness": 2**63}, {}, r"at_most.stickiness: \d+ leaves 64 bits"),
        ([("stickiness", 1)], {}, "at_most: .*, expected a number for each of some tiers"),
        ({"racks": 1}, {}, "racks: unknown, but tier racks needs it"),
        ({"stickiness": 1}, {"method": "ilp"}, "method: ilp takes no budgets"),
        ({"stickiness": 1}, {"method": "flow", "objective": "topic_balance"},
         "method: flow serves only stickiness=K"),
    ],
)  # fmt: skip
def test_budgets_that_cannot_be_kept_to_or_are_none_are_refused(at_most, more, message):
    with pytest.raises(BadInput, match=message):
        solve(**({"group": lopsided()} | more), at_most=at_most)


def test_without_time_nothing_is_claimed_and_of_a_large_group_no_program_is_built():
    at_most = {"stickiness": 0, "topic_balance": 10**9}
    solution = solve(differing(60, 40, 20_000, 1), at_most=at_most, time_limit=0)
    assert (solution.status, solution.stopped) == (Status.UNKNOWN, Stopped.TIME_LIMIT)
    for method in ("cp-sat", "brute"):
        solution = solve(lopsided(), method=method, at_most={"stickiness": 1}, time_limit=0)
        assert solution.status in (Status.UNKNOWN, Status.FEASIBLE)
        assert [term.bound for term in solution.terms] == [None] * len(solution.terms)
        assert check(solution.group, solution) != ()


def test_a_document_keeps_its_budgets_and_nothing_changes_without_them():
    group = lopsided()
    solution = solve(group, at_most={"stickiness": 1})
    document = solution.to_dict()
    assert document["at_most"] == {"stickiness": 1}
    assert document["proof"] == {"kind": "certificate", "level": {"c0000": 5, "c0001": 0}}
    read = Solution.from_dict(group, document)
    assert read.to_dict() == document
    assert check(group, read) == ()
    assert "at_most" not in solve(group).to_dict()


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


@pytest.mark.parametrize("number", [-(2**63), 2**63 - 1])
@pytest.mark.parametrize("member", range(3))
def test_a_level_as_large_as_an_integer_gets_is_judged(group, solution, number, member):
    level = solution.proof.level.copy()
    level[member] = number
    other = changed(solution, level=level)
    assert is_accepted(group, other) == (refusal(group.to_dict(), other.to_dict()) is None)
