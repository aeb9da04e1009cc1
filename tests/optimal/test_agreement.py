import json
import re
from collections import Counter
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from groups import PRESETS, TIERS, Assignment, BadInput, Group, SolverContradiction, values
from optimal import Proof, ProofKind, Solution, Status, Stopped, Term, solve
from tests.optimal.agreement import SOLVERS, agree
from tests.optimal.agreement_sweep import (
    FLOW,
    PAIRS,
    case,
    magnitudes_case,
    methods,
    pairs_case,
    places_case,
    streams_case,
    sweep,
)

GROUPS, SEED = 300, 5
KIP_54 = ("balance", "stickiness")


@pytest.fixture(scope="module")
def met(tmp_path_factory):
    """Every formulation on the groups of one seed; ``make agree`` takes 20,000."""
    return sweep(SEED, GROUPS, str(tmp_path_factory.mktemp("contradictions")))


@pytest.fixture
def group() -> Group:
    """Six partitions that both read and the first owns: three must move."""
    return Group.from_dict(
        {
            "format": "assay-group/1",
            "group": "lopsided",
            "topics": {"t": {"partitions": 6, "lag": [5, 4, 3, 3, 2, 2]}},
            "members": {
                "a": {"subscription": ["t"], "owned": {"t": [0, 1, 2, 3, 4, 5]}},
                "b": {"subscription": ["t"]},
            },
        }
    )


def answer(group, objective, owner, bounds, *, proved) -> Solution:
    assignment = Assignment(group, np.array(owner, np.int32))
    found = values(assignment, objective)
    return Solution(
        group=group,
        objective=objective,
        status=Status.OPTIMAL if proved else Status.FEASIBLE,
        stopped=Stopped.PROOF if proved else Stopped.TIME_LIMIT,
        method="own",
        seconds=0.0,
        terms=tuple(map(Term, objective, found, found if bounds is None else bounds)),
        assignment=assignment,
        proof=Proof(ProofKind.SOLVER if proved else ProofKind.NONE),
    )


def first_reader(group, objective, *, time_limit):
    """A method that gives the first reader everything and calls that optimal."""
    return answer(group, objective, [0] * group.n_partitions, None, proved=True)


def says_open(*bounds):
    """A method that leaves everything where it is and claims some bounds."""

    def method(group, objective, *, time_limit):
        return answer(group, objective, group.owner, bounds, proved=False)

    return method


@pytest.mark.exhaustive
def test_no_two_formulations_disagree(met):
    assert [found.contradiction for found in met if found.contradiction is not None] == []
    assert {found.group for found in met} == set(range(GROUPS))


@pytest.mark.exhaustive
def test_all_presets_and_all_orders_of_two_flow_tiers_are_met_often(met):
    counts = Counter(found.objective for found in met)
    staples = {*PRESETS.values(), *permutations(FLOW, 2)}
    assert len(FLOW) == 5
    assert min(counts[objective] for objective in staples) >= GROUPS // 30
    assert {tier for found in met for tier in found.objective} == set(TIERS)
    assert max(Counter(found.group for found in met).values()) == 2


@pytest.mark.exhaustive
def test_every_formulation_answers_often_and_nearly_every_answer_is_proved(met):
    answers = methods(met)
    assert answers.keys() == {"flow", "exchange", "cp-sat", "ilp", "brute"}
    assert answers["exchange"] >= GROUPS // 30
    assert answers["cp-sat"] == answers["ilp"] == len(met)
    assert min(answers["flow"], answers["brute"]) >= GROUPS // 3
    assert sum(len(found.methods) - found.proved for found in met) <= GROUPS // 100
    assert sum(found.size == (8, 24) for found in met) >= GROUPS // 6


def test_the_groups_differ_in_subscriptions_claims_racks_and_weights():
    groups = [case(SEED, number)[0] for number in range(200)]
    assert sum(len(set(map(tuple, reads(group)))) > 1 for group in groups) > 50
    assert sum(len(set(group.generation.tolist())) > 1 for group in groups) > 50
    assert sum(contested(group) for group in groups) > 50
    assert sum(len(set((group.racks.member if group.racks else np.zeros(1)).tolist())) > 1
               for group in groups) > 50  # fmt: skip
    assert sum(group.weight is not None and len(set(group.weight.tolist())) > 1
               for group in groups) > 50  # fmt: skip


@pytest.mark.exhaustive
def test_no_two_formulations_disagree_on_groups_of_mixed_magnitudes(tmp_path):
    """Lags and weights from units to millions: ``--magnitudes`` asks the same of 20,000."""
    found = sweep(SEED, 60, str(tmp_path), make=magnitudes_case)
    assert [one.contradiction for one in found if one.contradiction is not None] == []
    said = methods(found)
    assert said.pop("exchange") > 8
    assert said == {"cp-sat": 60, "ilp": 60, "brute": 60}
    assert sum(len(one.methods) - one.proved for one in found) <= 2


@pytest.mark.exhaustive
def test_no_two_formulations_disagree_on_any_order_of_lag_and_another_tier(tmp_path):
    """Every pair once: ``--pairs`` asks the same of thousands."""
    found = sweep(SEED, len(PAIRS), str(tmp_path), make=pairs_case)
    assert [one.contradiction for one in found if one.contradiction is not None] == []
    assert {one.objective for one in found} == set(PAIRS)
    assert methods(found)["exchange"] > len(PAIRS) // 4


@pytest.mark.exhaustive
def test_no_two_formulations_disagree_on_hosts_and_racks(tmp_path):
    """``--places`` asks the same of 20,000."""
    found = sweep(SEED, 50, str(tmp_path), make=places_case)
    assert [one.contradiction for one in found if one.contradiction is not None] == []
    said = methods(found)
    assert said["flow"] == said["cp-sat"] == said["ilp"] == 50
    assert {tier for one in found for tier in one.objective} >= {"host_balance", "rack_balance"}


@pytest.mark.exhaustive
def test_no_two_formulations_disagree_on_streams_groups(tmp_path):
    """``--streams`` asks the same of thousands."""
    found = sweep(SEED, 15, str(tmp_path), make=streams_case)
    assert [one.contradiction for one in found if one.contradiction is not None] == []
    assert methods(found) == dict.fromkeys(("flow", "cp-sat", "ilp", "brute"), len(found))
    assert {"stateful_balance", "restores"} <= {tier for one in found for tier in one.objective}


def reads(group):
    return [group.subscription(member) for member in range(len(group.members))]


def contested(group) -> bool:
    claims = zip(group.claims.topic.tolist(), group.claims.partition.tolist(), strict=True)
    return max(Counter(claims).values(), default=0) > 1


def test_every_method_that_serves_gives_its_answer_in_order(group, tmp_path):
    found = agree(group, "kip-54", folder=tmp_path / "none")
    assert [answer.method for answer in found] == ["flow", "cp-sat", "ilp", "brute"]
    assert {tuple(term.value for term in answer.terms) for answer in found} == {(0, 3)}
    assert not (tmp_path / "none").exists()


def test_flow_has_no_answer_under_a_load_tier_and_brute_none_beyond_its_limit(group, tmp_path):
    found = agree(group, "balance > peak_lag", folder=tmp_path)
    assert [answer.method for answer in found] == ["exchange", "cp-sat", "ilp", "brute"]
    large = Group.from_dict(group.to_dict() | {"topics": {"t": 30}})
    found = agree(large, "balance", folder=tmp_path)
    assert [answer.method for answer in found] == ["flow", "cp-sat", "ilp"]


def test_a_method_that_proves_too_much_is_a_contradiction_that_can_be_reproduced(group, tmp_path):
    folder = tmp_path / "new" / "folder"
    everyone = {**SOLVERS, "first-reader": first_reader}
    said = "balance > stickiness: flow found 0, 3, but first-reader proves no less than 6, 0; cp"
    with pytest.raises(SolverContradiction, match=said) as error:
        agree(group, KIP_54, methods=everyone, folder=folder)
    path = re.match(r"(.*contradiction-[0-9a-f]{12}\.json): ", str(error.value))[1]
    again = Group.read(path)
    assert again.to_dict() == group.to_dict()
    told = json.loads(Path(path).with_suffix(".answers.json").read_text())
    assert told["objective"] == list(KIP_54)
    assert list(told["answers"]) == ["flow", "cp-sat", "ilp", "brute", "first-reader", "exchange"]
    assert "exchange does not serve" in told["answers"].pop("exchange")["error"]
    for name in told["answers"]:
        said = Solution.from_dict(again, told["answers"][name])
        assert [term.value for term in said.terms] == (
            [6, 0] if name == "first-reader" else [0, 3]
        )
    with pytest.raises(SolverContradiction, match=re.escape(path)):
        agree(again, told["objective"], methods=everyone, folder=folder)
    assert len(list(folder.iterdir())) == 2


def test_a_method_at_odds_with_the_checker_is_a_contradiction_too(group, tmp_path):
    def at_odds(group, objective, *, time_limit):
        raise SolverContradiction("price: it does not close")

    with pytest.raises(SolverContradiction, match=r"at-odds: price: it does not close$"):
        agree(group, KIP_54, methods={"at-odds": at_odds, **SOLVERS}, folder=tmp_path)
    [told] = tmp_path.glob("*.answers.json")
    assert json.loads(told.read_text())["answers"]["at-odds"] == {
        "error": "price: it does not close"
    }


@pytest.mark.parametrize("bounds", [(None, None), (-1, None), (0, None), (0, 3), (0, 1)])
def test_an_open_answer_with_true_bounds_agrees(group, tmp_path, bounds):
    found = agree(group, KIP_54, methods={**SOLVERS, "open": says_open(*bounds)}, folder=tmp_path)
    assert [answer.status for answer in found] == ["optimal"] * 4 + ["feasible"]


@pytest.mark.parametrize(("bounds", "shown"), [((1, None), "1"), ((0, 4), "0, 4")])
def test_an_open_answer_with_a_bound_above_the_optimum_is_a_contradiction(
    group, tmp_path, bounds, shown
):
    everyone = {**SOLVERS, "open": says_open(*bounds)}
    with pytest.raises(SolverContradiction, match=f"open proves no less than {shown};"):
        agree(group, KIP_54, methods=everyone, folder=tmp_path)


def test_two_open_answers_are_held_against_each_other(group, tmp_path):
    def better(group, objective, *, time_limit):
        return answer(group, objective, [0, 0, 0, 1, 1, 1], (None, None), proved=False)

    both = {"open": says_open(1, None), "better": better}
    with pytest.raises(SolverContradiction, match="better found 0, 3, but open proves no less"):
        agree(group, KIP_54, methods=both, folder=tmp_path)


def test_a_method_that_found_nothing_in_time_contradicts_nobody(group, tmp_path):
    def late(group, objective, *, time_limit):
        return replace(solve(group, objective), status=Status.UNKNOWN, assignment=None, terms=())

    found = agree(group, KIP_54, methods={"late": late, **SOLVERS}, folder=tmp_path)
    assert found[0].status is Status.UNKNOWN


def test_where_no_method_serves_the_reasons_are_told(group, tmp_path):
    with pytest.raises(BadInput, match="flow does not serve tier peak_lag"):
        agree(group, "peak_lag", methods={"flow": SOLVERS["flow"]}, folder=tmp_path)
    with pytest.raises(BadInput, match="methods: none named"):
        agree(group, "peak_lag", methods={}, folder=tmp_path)
    with pytest.raises(BadInput, match="objective: unknown tier 'speed'"):
        agree(group, "balance > speed", methods={}, folder=tmp_path)
