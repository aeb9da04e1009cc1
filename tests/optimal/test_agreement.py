"""All methods agree on seeded groups of every kind, and methods that do not are found out."""

import json
import re
from collections import Counter
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

from groups import PRESETS, TIERS, BadInput, Group, SolverContradiction
from optimal import Proof, ProofKind, Solution, Status, Term, check, solve
from optimal.enumeration import count
from tests.optimal import agreement
from tests.optimal.agreement import (
    FLOW,
    PAIRS,
    SOLVERS,
    agree,
    any_case,
    magnitudes_case,
    meet,
    methods,
    pairs_case,
    places_case,
    streams_case,
    sweep,
)
from tests.optimal.judging import KIP_54, claimed
from tests.optimal.loads.sweep import peaks_case
from tests.optimal.small_groups import found, one_topic

SEED = 5


def enumerated(group, objective, *, time_limit):
    """Solve a group of at most 3,000 assignments by brute force; refuse others."""
    if not 0 < (count(group) or 0) <= 3000:
        raise BadInput("too many assignments to be quick")
    return solve(group, objective, method="brute")


QUICK = {"flow": SOLVERS["flow"], "exchange": SOLVERS["exchange"], "brute": enumerated}


@pytest.mark.parametrize(
    ("make", "number", "least"),
    [
        (any_case, 60, {"flow": 30, "brute": 20, "cp-sat": 6, "certificate": 30}),
        (magnitudes_case, 40, {"exchange": 5, "brute": 40, "cp-sat": 4, "certificate": 5}),
        (peaks_case, 60, {"exchange": 60, "brute": 45, "cp-sat": 6, "certificate": 48}),
        (places_case, 60, {"flow": 60, "brute": 40, "cp-sat": 6, "certificate": 30}),
        (streams_case, 50, {"flow": 65, "brute": 50, "cp-sat": 5, "certificate": 65}),
    ],
)
def test_no_method_is_better_than_what_another_proves_and_documents_keep_the_proofs(
    make, number, least
):
    """Every tenth group is solved by all methods, others by those that are quick."""
    met = Counter()
    for at in range(number):
        group, asked = make(SEED, at)
        for objective in asked:
            said, odds = agree(group, objective, methods=QUICK if at % 10 else SOLVERS)
            assert odds == [], (objective, group.snapshot())
            for solution in said:
                again = Solution.from_dict(group, json.loads(json.dumps(solution.to_dict())))
                has_certificate = solution.proof.kind is ProofKind.CERTIFICATE
                assert (check(group, again) == ()) is has_certificate
                met[solution.method] += 1
                met[solution.proof.kind] += 1
                by_flow_alone = solution.method == "flow" and "balance" in objective
                assert solution.status is Status.OPTIMAL or by_flow_alone
    assert all(met[what] >= some for what, some in least.items()), met


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("make", "number", "left_open", "least"),
    [
        (any_case, 180, 3, {"flow": 60, "exchange": 6, "brute": 60}),
        (magnitudes_case, 60, 2, {"exchange": 9, "brute": 60}),
        (pairs_case, len(PAIRS), 2, {"exchange": len(PAIRS) // 4, "brute": len(PAIRS)}),
        (places_case, 50, 5, {"flow": 50}),
        (streams_case, 15, 0, {"flow": 15, "brute": 15}),
    ],
)
def test_no_two_methods_disagree(make, number, left_open, least, tmp_path):
    """``make agree`` takes 20,000 of the first kind."""
    met = sweep(SEED, number, str(tmp_path), make=make)
    assert [one.contradiction for one in met if one.contradiction is not None] == []
    assert {one.group for one in met} == set(range(number))
    said = methods(met)
    assert said["cp-sat"] == said["ilp"] == len(met)
    assert all(said[method] >= some for method, some in least.items()), said
    assert sum(len(one.methods) - one.proved for one in met) <= left_open
    if make is any_case:
        counts = Counter(one.objective for one in met)
        staples = {*PRESETS.values(), *permutations(FLOW, 2)}
        assert min(counts[objective] for objective in staples) >= number // 30
        assert {tier for one in met for tier in one.objective} == set(TIERS)
        assert sum(one.size == (8, 24) for one in met) >= number // 6
    if make is pairs_case:
        assert {one.objective for one in met} == set(PAIRS)


def test_the_groups_differ_in_subscriptions_claims_racks_and_weights():
    groups = [any_case(SEED, number)[0] for number in range(100)]
    for differs in (
        lambda group: len(group.subscription_indptr) > 2,
        lambda group: len(set(group.generation.tolist())) > 1,
        lambda group: (
            len({*zip(group.claims.topic, group.claims.partition, strict=True)})
            < len(group.claims.topic)
        ),
        lambda group: group.racks is not None and len(set(group.racks.member.tolist())) > 1,
        lambda group: group.weight is not None and len(set(group.weight.tolist())) > 1,
    ):
        assert sum(map(differs, groups)) > 25


@pytest.fixture
def group() -> Group:
    """A group of six partitions that both members read and the first owns: three must move."""
    return one_topic([5, 4, 3, 3, 2, 2], 2, owned=range(6))


def says(owner, *bounds: int | None):
    """Return a method that claims these bounds for an assignment, or else its optimality."""

    def method(group, objective, *, time_limit):
        best = claimed(group, owner, objective, kind=ProofKind.SOLVER)
        if not bounds:
            return best
        terms = tuple(map(Term, objective, found(best), bounds))
        return replace(best, status=Status.FEASIBLE, terms=terms, proof=Proof(ProofKind.NONE))

    return method


def is_at_odds_with_the_checker(group, objective, *, time_limit):
    raise SolverContradiction("price: it does not close")


def is_late(group, objective, *, time_limit):
    return replace(solve(group, objective), status=Status.UNKNOWN, assignment=None, terms=())


STAYS, EVEN = [0] * 6, [0, 0, 0, 1, 1, 1]


def test_every_method_that_serves_gives_its_answer(group):
    large = one_topic([0] * 30, 2)
    for one, objective, names in (
        (group, KIP_54, ["flow", "cp-sat", "ilp", "brute"]),
        (group, ("balance", "peak_lag"), ["exchange", "cp-sat", "ilp", "brute"]),
        (large, ("balance",), ["flow", "cp-sat", "ilp"]),
    ):
        said, odds = agree(one, objective)
        assert ([answer.method for answer in said], odds) == (names, [])
        assert len({found(answer) for answer in said}) == 1


def test_a_method_that_proves_too_much_or_is_at_odds_with_the_checker_is_named(group):
    flow = {"flow": SOLVERS["flow"]}
    for rivals, odds in (
        (flow | {"all": says(STAYS)}, ["flow found [0, 3], but all proves no less than [6, 0]"]),
        (flow | {"open": says(STAYS, 1, None)},
         ["flow found [0, 3], but open proves no less than [1]"]),
        (flow | {"open": says(STAYS, 0, 4)},
         ["flow found [0, 3], but open proves no less than [0, 4]"]),
        ({"open": says(STAYS, 1, None), "better": says(EVEN, None, None)},
         ["better found [0, 3], but open proves no less than [1]"]),
        (flow | {"odd": is_at_odds_with_the_checker}, ["odd: price: it does not close"]),
    ):  # fmt: skip
        assert agree(group, KIP_54, methods=rivals)[1] == odds


def test_an_open_answer_with_true_bounds_and_one_that_found_nothing_agree(group):
    for bounds in ((None, None), (-1, None), (0, None), (0, 3), (0, 1)):
        assert agree(group, KIP_54, methods={**QUICK, "open": says(STAYS, *bounds)})[1] == []
    assert agree(group, KIP_54, methods={**QUICK, "late": is_late})[1] == []


def test_a_contradiction_leaves_the_group_with_which_it_can_be_reproduced(
    group, tmp_path, monkeypatch
):
    everyone = {**SOLVERS, "all": says(STAYS)}
    monkeypatch.setattr(
        agreement, "agree", lambda *asked, **more: agree(*asked, **more, methods=everyone)
    )
    (met,) = meet(lambda seed, number: (group, [KIP_54]), 0, 0, str(tmp_path / "new" / "folder"))
    path, objective, said = re.match(r"(.*\.json): (.*): (flow .*)", met.contradiction).groups()
    assert Group.read(path).to_dict() == group.to_dict()
    assert agree(Group.read(Path(path)), tuple(objective.split(" > ")), methods=everyone)[1]
    assert said.count("all proves no less than [6, 0]") == 4
