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
from tests.optimal.agreement import (
    FLOW,
    PAIRS,
    SECONDS,
    SOLVERS,
    agree,
    any_case,
    magnitudes_case,
    meet,
    pairs_case,
    peaks_case,
    places_case,
    streams_case,
)
from tests.optimal.judging import KIP_54, claimed
from tests.optimal.small_groups import found, one_topic

SEED = 5


def enumerated(group, objective, *, time_limit):
    """Solve a group of at most 3,000 assignments by brute force; refuse others."""
    if not 0 < (count(group) or 0) <= 3000:
        raise BadInput("too many assignments to be quick")
    return solve(group, objective, method="brute")


QUICK = {"flow": SOLVERS["flow"], "exchange": SOLVERS["exchange"], "brute": enumerated}


def all_methods(make, number, left_open, **least):
    """Return a case in which all methods solve all groups: ``make agree`` takes 20,000 of one."""
    more = {"number": number, "every": 1, "left_open": left_open, "least": least}
    return pytest.param(make, *more.values(), marks=pytest.mark.exhaustive)


@pytest.mark.parametrize(
    ("make", "number", "every", "left_open", "least"),
    [
        (any_case, 60, 10, 0, {"flow": 30, "brute": 20, "cp-sat": 6, "certificate": 30}),
        (magnitudes_case, 40, 10, 0, {"exchange": 5, "brute": 40, "cp-sat": 4, "certificate": 5}),
        (peaks_case, 60, 10, 0, {"exchange": 60, "brute": 45, "cp-sat": 6, "certificate": 48}),
        (places_case, 60, 10, 0, {"flow": 60, "brute": 40, "cp-sat": 6, "certificate": 30}),
        (streams_case, 50, 10, 0, {"flow": 65, "brute": 50, "cp-sat": 5, "certificate": 65}),
        all_methods(any_case, 180, 3, flow=60, exchange=6, brute=60),
        all_methods(magnitudes_case, 60, 2, exchange=9, brute=60),
        all_methods(pairs_case, len(PAIRS), 2, exchange=len(PAIRS) // 4, brute=len(PAIRS)),
        all_methods(places_case, 50, 5, flow=50),
        all_methods(streams_case, 15, 0, flow=15, brute=15),
    ],
)
def test_no_method_is_better_than_what_another_proves_and_documents_keep_the_proofs(
    make, number, every, left_open, least, tmp_path
):
    """All methods solve some groups; those that are quick solve all."""
    met = Counter()
    for at in range(number):
        methods, limit = (QUICK if at % every else SOLVERS), (None if every > 1 else SECONDS)
        said, odds = meet(make, SEED, at, str(tmp_path), methods=methods, time_limit=limit)
        assert odds == []
        for solution in said:
            again = Solution.from_dict(solution.group, json.loads(json.dumps(solution.to_dict())))
            has_certificate = solution.proof.kind is ProofKind.CERTIFICATE
            assert (check(solution.group, again) == ()) is has_certificate
            met[solution.method] += 1
            met[solution.proof.kind] += 1
            by_flow_alone = solution.method == "flow" and "balance" in solution.objective
            met["left open"] += solution.status is not Status.OPTIMAL and not by_flow_alone
    assert all(met[what] >= some for what, some in least.items()), met
    assert met["left open"] <= left_open
    assert every > 1 or met["cp-sat"] == met["ilp"] >= number


def test_the_groups_differ_in_all_that_tiers_are_about_and_are_asked_for_every_tier():
    cases = [any_case(SEED, number) for number in range(180)]
    groups = [group for group, _ in cases]
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
        assert sum(map(differs, groups)) > 45
    assert sum((len(g.members), g.n_partitions) == (8, 24) for g in groups) >= 30
    counts = Counter(objective for _, asked in cases for objective in asked)
    staples = {*PRESETS.values(), *permutations(FLOW, 2)}
    assert min(counts[objective] for objective in staples) >= 6
    assert {tier for objective in counts for tier in objective} == set(TIERS)
    pairs = [pairs_case(SEED, number)[1] for number in range(len(PAIRS))]
    assert {objective for asked in pairs for objective in asked} == set(PAIRS)


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


def test_a_method_that_proves_too_much_or_is_at_odds_with_the_checker_is_named_no_other(group):
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
        *((QUICK | {"open": says(STAYS, *bounds)}, [])
          for bounds in ((None, None), (-1, None), (0, None), (0, 3), (0, 1))),
        (QUICK | {"late": is_late}, []),
    ):  # fmt: skip
        assert agree(group, KIP_54, methods=rivals)[1] == odds


def test_a_contradiction_leaves_the_group_with_which_it_can_be_reproduced(group, tmp_path):
    everyone, folder = {**SOLVERS, "all": says(STAYS)}, str(tmp_path / "new" / "folder")
    _, (met,) = meet(lambda seed, number: (group, [KIP_54]), 0, 0, folder, methods=everyone)
    path, objective, said = re.match(r"(.*\.json): (.*): (flow .*)", met).groups()
    assert Group.read(path).to_dict() == group.to_dict()
    assert agree(Group.read(Path(path)), tuple(objective.split(" > ")), methods=everyone)[1]
    assert said.count("all proves no less than [6, 0]") == 4
