"""The known optima of literature and test suites, from every method that serves them."""

import json
from pathlib import Path

import pytest

from groups import Group
from optimal import ProofKind, Solution, Status, check, solve

ROOT = Path(__file__).parents[2]
KIP_54 = ("balance", "stickiness")
CASES = {
    case["case"]: case
    for case in map(json.loads, (ROOT / "tests/known_cases.jsonl").read_text().splitlines())
}
TOO_LARGE = {
    "stale-generations-without-conflict-are-kept",
    "one-consumer-leaves-staircase-19",
    "rack-aware-sticky-misaligned-owners",
    "rack-aware-range-rf2",
}
SMALL = [case for case in CASES if case not in TOO_LARGE]


@pytest.fixture(scope="module")
def known() -> dict[str, Group]:
    documents = map(json.loads, (ROOT / "corpus/known.jsonl").read_text().splitlines())
    return {document["group"]: Group.from_dict(document) for document in documents}


def assert_optimum(case: dict, group: Group, solution: Solution) -> None:
    optimum = case["optimum"]
    assert solution.status is Status.OPTIMAL
    assert [t.value for t in solution.terms] == [optimum[tier] for tier in KIP_54]
    assert [t.bound for t in solution.terms] == [optimum[tier] for tier in KIP_54]
    assert sorted(solution.assignment.loads.tolist()) == optimum["loads"]
    assert solution.assignment.is_valid


def test_every_known_case_has_its_group_in_the_corpus(known):
    assert len(CASES) >= 20
    assert {case["group"] for case in CASES.values()} <= known.keys()


@pytest.mark.parametrize("case", CASES)
def test_a_known_case_gets_its_optimum_with_a_certificate_from_flows(known, case):
    group = known[CASES[case]["group"]]
    solution = solve(group, "kip-54", method="flow")
    assert_optimum(CASES[case], group, solution)
    assert solution.proof.kind is ProofKind.CERTIFICATE
    assert check(group, solution) == ()


@pytest.mark.parametrize("case", CASES)
def test_the_document_of_a_known_optimum_is_a_proof_to_whoever_reads_it(known, case):
    group = known[CASES[case]["group"]]
    text = json.dumps(solve(group).to_dict())
    solution = Solution.from_dict(group, json.loads(text))
    assert_optimum(CASES[case], group, solution)
    assert check(group, solution) == ()
    assert json.loads(json.dumps(solution.to_dict())) == json.loads(text)


@pytest.mark.parametrize("case", SMALL)
def test_a_small_known_case_gets_its_optimum_by_exhaustion(known, case):
    group = known[CASES[case]["group"]]
    solution = solve(group, "kip-54", method="brute")
    assert_optimum(CASES[case], group, solution)
    assert solution.proof.kind is ProofKind.EXHAUSTION
    assert check(group, solution) == (
        "proof of kind exhaustion: the bounds are its word and were not checked",
    )


def test_the_example_of_kip_169_has_its_least_peak_lag(known):
    cases = [case for case in CASES.values() if "peak_lag" in case["optimum"]]
    assert [case["case"] for case in cases] == ["kip-169-example"]
    group = known["kip-169-example"]
    for objective in ("kip-169", "balance > peak_lag"):
        solution = solve(group, objective, method="brute")
        assert solution.status is Status.OPTIMAL
        assert solution.terms[1].value == cases[0]["optimum"]["peak_lag"] == 110_000
