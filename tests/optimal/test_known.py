"""The known optima of literature and test suites, from every method that serves them."""

import json

import pytest

from groups import Group
from optimal import ProofKind, Solution, Status, check, solve
from tests.known import CASES, KNOWN
from tests.optimal.judging import KIP_54
from tests.optimal.page_checker import check_by_the_page

TOO_LARGE = {
    "stale-generations-without-conflict-are-kept",
    "one-consumer-leaves-staircase-19",
    "rack-aware-sticky-misaligned-owners",
    "rack-aware-range-rf2",
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_a_known_case_gets_its_optimum_with_a_proof_that_its_document_holds(case):
    document, optimum = KNOWN[case["group"]], case["optimum"]
    group = Group.from_dict(document)
    kinds = {"flow": ProofKind.CERTIFICATE, "auto": ProofKind.CERTIFICATE}
    if case["case"] not in TOO_LARGE:
        kinds["brute"] = ProofKind.EXHAUSTION
    for method, kind in kinds.items():
        found = solve(group, KIP_54, method=method)
        text = json.dumps(found.to_dict())
        solution = Solution.from_dict(group, json.loads(text))
        assert json.loads(json.dumps(solution.to_dict())) == json.loads(text)
        assert (solution.status, solution.proof.kind) == (Status.OPTIMAL, kind)
        terms = [(term.value, term.bound) for term in solution.terms]
        assert terms == [(optimum[tier],) * 2 for tier in KIP_54]
        assert sorted(solution.assignment.loads.tolist()) == optimum["loads"]
        if kind is ProofKind.CERTIFICATE:
            check_by_the_page(document, json.loads(text))
            assert check(group, solution) == ()
        else:
            word = "proof of kind exhaustion: the bounds are its word and were not checked"
            assert check(group, solution) == (word,)


def test_the_example_of_kip_169_has_its_least_peak_lag():
    assert len(CASES) >= 20
    (case,) = (case for case in CASES if "peak_lag" in case["optimum"])
    for objective in ("kip-169", "balance > peak_lag"):
        solution = solve(Group.from_dict(KNOWN[case["group"]]), objective, method="brute")
        assert solution.status is Status.OPTIMAL
        assert solution.terms[1].value == case["optimum"]["peak_lag"] == 110_000
