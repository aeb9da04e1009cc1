"""Objects forged in memory: nothing that is not true, and of the right type, is accepted."""

from dataclasses import replace
from functools import cached_property
from itertools import product

import numpy as np
import pytest

from groups import Assignment, Group, ProofError
from optimal import Proof, ProofKind, Status, Stopped, Term, check, solve
from optimal.audit import audit
from tests.optimal.forgery import COLUMNS, NUMBERS, REFUSED
from tests.optimal.judging import forged, said_by


def assert_refused(group, solution) -> None:
    for checker in (check, audit):
        with pytest.raises(REFUSED):
            checker(group, solution)


@pytest.mark.parametrize("form", COLUMNS)
@pytest.mark.parametrize("name", ["level", "price"])
def test_a_column_that_is_not_one_integer_a_member_is_refused(group, solution, name, form):
    column = COLUMNS[form](getattr(solution.proof, name))
    assert_refused(group, forged(solution, proof=forged(solution.proof, **{name: column})))
    with pytest.raises(REFUSED):
        check(group, replace(solution, proof=replace(solution.proof, **{name: column})))


def test_fractional_prices_prove_no_distance_that_is_not_needed():
    """With prices of -3/8 the bound is 2 where 0 is possible, were they rounded anywhere."""
    topic = {"partitions": 4, "racks": [["a"], ["a"], ["b"], ["b"]]}
    members = {m: {"subscription": ["t"], "rack": m} for m in "ab"}
    group = Group.from_dict(
        {"format": "assay-group/1", "group": "g", "topics": {"t": topic}, "members": members}
    )
    genuine = solve(group, "balance > racks")
    assert [term.value for term in genuine.terms] == [0, 0]
    wrong = Assignment(group, np.array([0, 1, 0, 1], np.int32))
    terms = (Term("balance", 0, 0), Term("racks", 2, 2))
    for price in (-0.375, -0.5, 0.375, 0.5):
        proof = forged(genuine.proof, price=np.array([price, price]))
        assert_refused(group, forged(genuine, assignment=wrong, terms=terms, proof=proof))


@pytest.mark.parametrize("number", NUMBERS, ids=str)
@pytest.mark.parametrize("tier", [0, 1])
@pytest.mark.parametrize("name", ["value", "bound"])
def test_a_term_that_is_no_integer_is_refused(group, solution, name, tier, number):
    terms = list(solution.terms)
    terms[tier] = forged(terms[tier], **{name: number})
    for kind in ProofKind:
        other = forged(solution, terms=tuple(terms), proof=forged(solution.proof, kind=kind))
        if (name, number) == ("bound", None):
            terms[1] = forged(terms[1], bound=None)
            other = forged(other, terms=tuple(terms), status=Status.FEASIBLE)
            assert said_by(check, group, other) == said_by(audit, group, other)
            continue
        assert_refused(group, other)
        assert_refused(group, forged(other, status=Status.FEASIBLE))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("status", ("optimal", "feasible", "best", "", None, True, 1, Stopped.PROOF)),
        ("stopped", ("proof", "tired", None, Status.OPTIMAL)),
        ("proof", (None, "certificate", ProofKind.CERTIFICATE, {"kind": "certificate"})),
        ("objective", ("balance > stickiness", (), None, ["balance", "stickiness"], (1, 2))),
        ("objective", (("balance", "balance"), ("balance", "fun"), ([], {}), (None,))),
        ("terms", (None, (), [], "ab", (("balance", 4, 4), ("stickiness", 2, 2)), (None, None))),
        ("assignment", ("", [0, 1, 1, 1, 2, 2, -1], {"c0": {}}, True, np.zeros(7, np.int32))),
        ("group", (None, "g", 1)),
    ],
)
def test_a_part_of_another_kind_is_refused(group, solution, name, words):
    for word, kind in product(words, ProofKind):
        proof = solution.proof if kind is ProofKind.CERTIFICATE else Proof(kind)
        assert_refused(group, forged(forged(solution, proof=proof), **{name: word}))


@pytest.mark.parametrize("kind", ["certificate", "exhaustion", "none", "faith", None, 1, True])
def test_a_kind_of_proof_that_is_no_kind_is_refused(group, solution, kind):
    assert_refused(group, forged(solution, proof=forged(solution.proof, kind=kind)))
    with pytest.raises(ProofError, match=r"proof\.kind: .+ is no ProofKind"):
        replace(solution.proof, kind=kind)


@pytest.mark.parametrize(
    "scale",
    [(0.5,), (1.0,), (True,), (None,), ("1",), [1], 1, None, (1, 1), (-1,), (0,), (10**400, 1)],
    ids=str,
)
def test_a_scale_that_is_no_tuple_of_positive_integers_is_refused(group, solution, scale):
    assert_refused(group, forged(solution, proof=forged(solution.proof, scale=scale)))


OWNERS = {
    "floats": lambda owner: owner.astype(float),
    "objects": lambda owner: owner.astype(object),
    "booleans": lambda owner: owner.astype(bool),
    "wide": lambda owner: owner.astype(np.int64),
    "a list": lambda owner: owner.tolist(),
    "too long": lambda owner: np.append(owner, owner[:1]),
    "too short": lambda owner: owner[:-1],
    "two-dimensional": lambda owner: owner[None],
    "beyond the members": lambda owner: owner + np.int32(1),
    "below nobody": lambda owner: np.where(owner < 0, np.int32(-2), owner),
    "greatest": lambda owner: np.full(len(owner), 2**31 - 1, np.int32),
    "nothing": lambda owner: None,
}


@pytest.mark.parametrize("form", OWNERS)
@pytest.mark.parametrize("kind", ProofKind)
def test_owners_that_are_no_members_are_refused(group, solution, form, kind):
    owner = OWNERS[form](solution.assignment.owner)
    proof = solution.proof if kind is ProofKind.CERTIFICATE else Proof(kind)
    assignment = forged(solution.assignment, owner=owner)
    assert_refused(group, forged(solution, assignment=assignment, proof=proof))


@pytest.mark.parametrize(
    "strays", [((0, "t0", 0),), ((1, "t1", 99),), ((0, "t7", 0),), ((9, "t0", 0),), (1,), [], None]
)
def test_what_is_handed_out_twice_or_is_not_there_is_refused(group, solution, strays):
    assert_refused(group, forged(solution, assignment=forged(solution.assignment, strays=strays)))


def test_a_solution_of_other_members_or_partitions_is_refused():
    def made(topics, members) -> Group:
        subscribed = {m: {"subscription": list(topics)} for m in members}
        document = {"format": "assay-group/1", "group": "g"}
        return Group.from_dict(document | {"topics": topics, "members": subscribed})

    def turned(group: Group) -> Group:
        return replace(group, members=group.members[::-1])

    group = made({"t": 3, "u": 1}, "ab")
    others = [
        turned(group),
        made({"t": 3, "u": 1}, "ac"),
        made({"t": 3, "v": 1}, "ab"),
        made({"t": 1, "u": 3}, "ab"),
        made({"t": 3, "u": 1}, "abc"),
        made({"t": 3, "u": 1, "v": 0}, "ab"),
    ]
    for other in others:
        theirs = solve(other)
        assert check(other, theirs) == ()
        assert_refused(group, theirs)
        mine = replace(theirs, group=group)
        assert_refused(group, mine)
        assert_refused(other, mine)
        if len(other.members) == 2 and len(other.owner) == 4:
            own = Assignment(group, theirs.assignment.owner)
            assert_refused(group, replace(theirs, assignment=own))
    again = made({"t": 3, "u": 1}, "ab")
    assert check(again, solve(group)) == audit(again, solve(group)) == ()


def test_whatever_was_derived_of_a_group_is_not_believed(group, solution):
    """A group whose cached columns are all wrong has the same answers."""
    wrong = solution.assignment.owner.copy()
    wrong[1:6] = [1, 1, 1, 1, 2]
    claim = forged(solution, assignment=Assignment(group, wrong))
    derived = {
        name: part
        for thing in (group, group.subscriptions)
        for name, part in vars(type(thing)).items()
        if isinstance(part, cached_property)
    }
    assert {"readers", "topic", "first", "number", "owned", "subscriptions"} <= derived.keys()
    for thing in (group, group.subscriptions):
        found = {name: getattr(thing, name) for name in derived if name in vars(type(thing))}
        arrays = {name: part for name, part in found.items() if isinstance(part, np.ndarray)}
        vars(thing).update({name: np.zeros_like(part) for name, part in arrays.items()})
    assert not group.readers.any()
    assert not group.topic.any()
    for name in ("loads", "changed"):
        vars(claim.assignment)[name] = getattr(solution.assignment, name)
    assert check(group, solution) == audit(group, solution) == ()
    assert_refused(group, claim)


def test_arrays_that_were_passed_in_stay_the_callers():
    level, price = np.zeros(2, np.int64), np.zeros(2, np.int64)
    proof = Proof(ProofKind.CERTIFICATE, level, price)
    level[0] = price[1] = 7
    assert [proof.level.tolist(), proof.price.tolist()] == [[0, 0], [0, 0]]
    view = level[:]
    view.flags.writeable = False
    seen = Proof(ProofKind.CERTIFICATE, view, view)
    level[1] = 7
    assert seen.level.tolist() == [7, 0]
    assert not proof.level.flags.writeable
    assert not proof.price.flags.writeable
