"""A solution's terms, bounds and status are no more than what was found; its document."""

import json
import random
from dataclasses import replace

import pytest

from groups import BadInput, InvalidAssignment, ProofError
from optimal import Proof, ProofKind, Solution, Status, Stopped, Term, check, solve
from tests.optimal.judging import KIP_54, with_owner
from tests.optimal.random_groups import random_group


def test_a_term_that_is_not_the_value_is_refused_by_its_name(group, solution):
    for place, tier in enumerate(KIP_54):
        terms = list(solution.terms)
        terms[place] = Term(tier, terms[place].value + 1, terms[place].bound)
        with pytest.raises(InvalidAssignment, match=rf"terms\.{tier}: \d, but the value is \d"):
            check(group, replace(solution, terms=tuple(terms)))


@pytest.mark.parametrize("names", [KIP_54[::-1], KIP_54[:1], (*KIP_54, "racks")])
def test_terms_in_another_order_or_number_than_the_objective_are_refused(group, solution, names):
    terms = tuple(Term(name, 0, 0) for name in names)
    with pytest.raises(InvalidAssignment, match=r"terms: .*, expected balance, stickiness"):
        check(group, replace(solution, terms=terms))


def test_a_bound_above_the_value_is_refused(group, solution):
    terms = (solution.terms[0], Term("stickiness", 2, 3))
    with pytest.raises(ProofError, match=r"terms\.stickiness: the bound 3 is above 2"):
        check(group, replace(solution, terms=terms, status=Status.FEASIBLE))


@pytest.mark.parametrize("bound", [None, 1])
def test_optimal_with_an_open_bound_is_refused(group, solution, bound):
    terms = (solution.terms[0], Term("stickiness", 2, bound))
    with pytest.raises(ProofError, match="status: optimal, but the bounds or the kind of proof"):
        check(group, replace(solution, terms=terms))


def test_optimal_without_a_proof_is_refused_and_feasible_says_what_was_not_checked(
    group, solution
):
    bare = replace(solution, proof=Proof(ProofKind.NONE))
    with pytest.raises(ProofError, match="status: optimal, but the bounds or the kind of proof"):
        check(group, bare)
    assert check(group, replace(bare, status=Status.FEASIBLE)) == (
        "no proof is given: the bounds were not checked",
    )


@pytest.mark.parametrize("kind", [ProofKind.SOLVER, ProofKind.EXHAUSTION])
def test_a_proof_that_rests_on_somebodys_word_is_called_that(group, solution, kind):
    assert check(group, replace(solution, proof=Proof(kind))) == (
        f"proof of kind {kind}: the bounds are its word and were not checked",
    )


def test_a_solution_without_an_assignment_can_only_be_unknown(group, solution):
    empty = replace(
        solution, assignment=None, terms=(), stopped=Stopped.TIME_LIMIT, status=Status.UNKNOWN
    )
    assert check(group, empty) == ("there is no assignment to check",)
    with pytest.raises(ProofError, match="status: optimal, but there is no assignment"):
        check(group, replace(empty, status=Status.OPTIMAL))
    with pytest.raises(ProofError, match="status: unknown, but there is an assignment"):
        check(group, replace(solution, status=Status.UNKNOWN))


@pytest.mark.parametrize(
    ("owner", "message"),
    [
        ([1, 1, 1, 1, 2, -1, -1], "t1-4 with nobody: unassigned"),
        ([2, 1, 1, 1, 2, 2, -1], "t0-0 with c2: unsubscribed"),
        ([0, 1, 1, 1, 2, 2, 0], "t9-0 with c0: unsubscribed"),
    ],
)
def test_an_assignment_that_is_not_valid_is_refused_first(group, solution, owner, message):
    with pytest.raises(InvalidAssignment, match=message):
        check(group, with_owner(solution, owner))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "assay-solution/2"}, 'format: "assay-solution/2", expected'),
        ({"group": "other"}, "group: 'other', but the group is 'g'"),
        ({"status": "best"}, 'status: "best", expected one of optimal, feasible, unknown'),
        ({"stopped": None}, "stopped: null, expected one of proof, time-limit"),
        ({"seconds": -1}, "seconds: -1, expected a number of 0 or more"),
        ({"seconds": True}, "seconds: true, expected a number of 0 or more"),
        ({"seconds": 10**400}, "seconds: an integer of 1329 bits, expected a number of 0 or more"),
        ({"seconds": float("nan")}, "seconds: nan, expected a number of 0 or more"),
        ({"seconds": float("inf")}, "seconds: inf, expected a number of 0 or more"),
        ({"terms": []}, "terms: expected one for each of balance > stickiness, in this order"),
        ({"objective": ["balance", "fun"]}, "objective: unknown tier 'fun'"),
        ({"assignment": {"c9": {}}}, "assignment: 'c9' is not a member of the group"),
        ({"assignment": {"c0": {"t0": [-1]}}}, r"assignment\.c0\.t0\[0\]: -1, expected"),
        ({"unassigned": {}}, "unassigned: {}, but what nobody reads is"),
        ({"unassigned": {"t9": [False]}}, "unassigned: {.*}, but what nobody reads is"),
        ({"status": ["optimal"]}, r'status: \["optimal"\], expected one of'),
        ({"proof": {"kind": "faith"}}, 'proof.kind: "faith", expected one of certificate'),
        ({"proof": {"kind": "certificate"}}, "proof.level: null, expected an object"),
        ({"proof": {"kind": "certificate", "level": {}}}, "proof.level: key 'c0' is missing"),
        ({"wish": 1}, "unknown key 'wish'"),
    ],
)
def test_a_bad_solution_document_names_its_place(group, solution, change, message):
    document = solution.to_dict() | change
    with pytest.raises((BadInput, InvalidAssignment), match=message):
        Solution.from_dict(group, document)
    assert check(group, Solution.from_dict(group, solution.to_dict())) == ()


@pytest.mark.parametrize("objective", ["stickiness", "topic_balance", "racks > moved_weight"])
def test_a_certificate_without_integers_survives_the_way_through_json(objective):
    group = random_group(random.Random("plain"), members=3, partitions=7)
    solution = solve(group, objective, method="flow")
    assert solution.proof.kind is ProofKind.CERTIFICATE
    document = json.loads(json.dumps(solution.to_dict()))
    assert document["proof"] == {"kind": "certificate"}
    assert check(group, Solution.from_dict(group, document)) == ()
