"""A certificate is accepted exactly where it proves what it is said to prove; its document."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest

from groups import BadInput, InvalidAssignment, ProofError
from optimal import Proof, ProofKind, Solution, Status, Stopped, Term, check, solve
from tests.optimal.judging import KIP_54, changed, claimed, with_owner
from tests.optimal.random_groups import random_group
from tests.optimal.small_groups import group_of, one_topic

EVEN = [0, 1, 1, 2, 2, 2, -1]
FLOOR = {"bound": "crowd", "members": ["c0"], "at_least": 0}


def with_terms(solution, *terms, **parts):
    return replace(solution, terms=tuple(Term(*term) for term in terms), **parts)


def feasible(solution):
    return replace(solution, status=Status.FEASIBLE)


def nothing(solution):
    return replace(solution, assignment=None, terms=(), stopped=Stopped.TIME_LIMIT)


# Forged solutions of the group, and the reason why the checker refuses each.
FORGED = [
    (lambda s: with_owner(s, [1, *s.assignment.owner[1:]]),
     "t0-0: with c1 of level 2, but its least level is 0"),
    (lambda s: with_owner(s, [0, 1, 1, 1, 1, 2, -1]), "c1: holds 4, but level 2 allows 2 to 3"),
    (lambda s: changed(with_owner(s, EVEN), level=np.array([0, 1, 1])),
     "c2: holds 3, but level 1 allows 1 to 2"),
    (lambda s: changed(with_owner(s, EVEN), level=np.array([0, 3, 3])),
     "c1: holds 2, but level 3 allows 3 to 4"),
    (lambda s: changed(s, price=s.proof.price + np.array([0, 1, 0])),
     r"price: the prices bound stickiness by .+, not by 2"),
    (lambda s: changed(s, level=None), "level or price is missing"),
    (lambda s: changed(s, price=None), "level or price is missing"),
    (lambda s: changed(s, level=np.zeros(2, np.int64)), "^level"),
    (lambda s: changed(s, price=np.zeros(4, np.int64)), "^price"),
    (lambda s: changed(s, scale=(0,)), "scale: expected 1 units of 1 or more"),
    (lambda s: changed(s, scale=(1, 1)), "scale: expected 1 units of 1 or more"),
    (lambda s: with_owner(replace(s, objective=("balance", "topic_balance")), s.assignment.owner),
     r"no certificate is defined .* with topic_balance"),
    (lambda s: with_terms(s, ("balance", 5, 4), ("stickiness", 2, 2)),
     r"terms\.balance: 5, but the value is 4"),
    (lambda s: with_terms(s, ("balance", 4, 4), ("stickiness", 3, 2)),
     r"terms\.stickiness: 3, but the value is 2"),
    (lambda s: with_terms(s, *[(name, 0, 0) for name in KIP_54[::-1]]),
     r"terms: .*, expected balance, stickiness"),
    (lambda s: with_terms(s, ("balance", 0, 0)), r"terms: .*, expected balance, stickiness"),
    (lambda s: with_terms(s, *[(name, 0, 0) for name in (*KIP_54, "racks")]),
     r"terms: .*, expected balance, stickiness"),
    (lambda s: feasible(with_terms(s, ("balance", 4, 4), ("stickiness", 2, 3))),
     r"terms\.stickiness: the bound 3 is above 2"),
    (lambda s: with_terms(s, ("balance", 4, 4), ("stickiness", 2, None)),
     "status: optimal, but the bounds or the kind of proof"),
    (lambda s: with_terms(s, ("balance", 4, 4), ("stickiness", 2, 1)),
     "status: optimal, but the bounds or the kind of proof"),
    (lambda s: replace(s, proof=Proof(ProofKind.NONE)),
     "status: optimal, but the bounds or the kind of proof"),
    (nothing, "status: optimal, but there is no assignment"),
    (lambda s: replace(s, status=Status.UNKNOWN), "status: unknown, but there is an assignment"),
    (lambda s: with_owner(s, [1, 1, 1, 1, 2, -1, -1]), "t1-4 with nobody: unassigned"),
    (lambda s: with_owner(s, [2, 1, 1, 1, 2, 2, -1]), "t0-0 with c2: unsubscribed"),
    (lambda s: with_owner(s, [0, 1, 1, 1, 2, 2, 0]), "t9-0 with c0: unsubscribed"),
]  # fmt: skip


@pytest.mark.parametrize(("forge", "message"), FORGED, ids=[message for _, message in FORGED])
def test_a_solution_that_does_not_hold_is_refused_at_its_place(group, solution, forge, message):
    with pytest.raises((ProofError, InvalidAssignment), match=message):
        check(group, forge(solution))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda s: feasible(replace(s, proof=Proof(ProofKind.NONE))),
         "no proof is given: the bounds were not checked"),
        (lambda s: replace(s, proof=Proof(ProofKind.SOLVER)),
         "proof of kind solver: the bounds are its word and were not checked"),
        (lambda s: replace(s, proof=Proof(ProofKind.EXHAUSTION)),
         "proof of kind exhaustion: the bounds are its word and were not checked"),
        (lambda s: replace(nothing(s), status=Status.UNKNOWN), "there is no assignment to check"),
    ],
)  # fmt: skip
def test_what_was_not_checked_of_a_solution_is_said(group, solution, change, said):
    assert check(group, change(solution)) == (said,)


@pytest.mark.parametrize("level", [-(2**63), -2, 8, 2**62, 2**63 - 1])
@pytest.mark.parametrize("member", [0, 1, 2])
def test_a_level_that_no_load_can_have_is_refused_at_its_place(group, solution, level, member):
    column = solution.proof.level.copy()
    column[member] = level
    of_level = f"of level {level}, but|its least level is {level}$|but level {level} allows"
    with pytest.raises(ProofError, match=of_level):
        check(group, changed(solution, level=column))


def test_prices_that_would_close_only_modulo_64_bits_are_refused():
    names = [f"m{m:02}" for m in range(40)]
    group = group_of({"t": 2}, {name: ["t"] for name in names}, {"m00": {"t": [0]}})
    each, rest = divmod(2**64, 38)
    price = np.full(40, each)
    price[39] += rest - 1
    assert (2 * each - int(price.sum(dtype=object)) - 1) % 2**64 == 0
    genuine = solve(group)
    assert genuine.terms[1].value == 0
    wrong = changed(with_owner(genuine, [1, 2]), level=np.zeros(40, np.int64), price=price)
    with pytest.raises(ProofError, match=r"^price: "):
        check(group, wrong)


def test_a_solution_is_judged_by_the_group_that_is_asked_about():
    def other(owned=None, a=("t",)):
        return group_of({"t": 4}, {"a": a, "b": ["t"]}, {"a": owned or {}})

    fresh = solve(other())
    assert fresh.assignment.to_dict() == {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}
    with pytest.raises(InvalidAssignment, match=r"terms\.stickiness: 0, but the value is 1"):
        check(other(owned={"t": [1, 3]}), fresh)
    with pytest.raises(InvalidAssignment, match="t-0 with a: unsubscribed"):
        check(other(a=[]), fresh)


def test_a_scale_that_does_not_outweigh_the_later_tiers_is_refused():
    group = random_group(random.Random(7), members=3, partitions=6)
    solution = solve(group, "balance > stickiness > racks", method="flow")
    assert check(group, solution) == ()
    with pytest.raises(ProofError, match="scale: 6 for stickiness does not outweigh the tiers"):
        check(group, changed(solution, scale=(6, 1)))


def test_what_costs_more_by_a_tier_before_balance_is_named():
    group = one_topic([0, 0], members=2, owned=[0, 1])
    solution = solve(group, "kip-54-fairest")
    assert solution.assignment.owner.tolist() == [0, 0]
    with pytest.raises(ProofError, match="t-1: its member costs more than another by stickiness"):
        check(group, with_owner(solution, [0, 1]))


def test_a_topic_that_is_not_spread_evenly_is_no_proved_topic_balance():
    group = one_topic([0] * 4, members=2)
    with pytest.raises(ProofError, match="topic_balance: its least value is 8, not 10"):
        check(group, claimed(group, [0, 0, 0, 1], ("topic_balance",)))


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
        *(
            ({"proof": {"kind": "certificate", "floor": floor}}, message)
            for floor, message in (
                (FLOOR | {"bound": "guess"}, 'floor.bound: "guess", expected one of average, cr'),
                (FLOOR | {"bound": "weighted"}, "expected one of average, crowd"),
                (FLOOR | {"weight": {"c0": 1}}, "proof.floor: unknown key 'weight'"),
                (
                    FLOOR | {"members": ["c9"]},
                    "floor.members: expected one or more members of the",
                ),
                (FLOOR | {"members": []}, "floor.members: expected one or more members of the"),
                (FLOOR | {"at_least": -1}, "proof.floor.at_least: -1, expected"),
                ({"bound": "crowd", "members": ["c0"]}, "floor: key 'at_least' is missing"),
                ([], "proof.floor: \\[\\], expected an object"),
            )
        ),
        ({"proof": {"kind": "certificate", "givers": ["c9"]}}, "givers: expected members of the"),
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
