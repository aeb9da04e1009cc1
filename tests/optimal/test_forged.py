"""Objects forged in memory: nothing that is not true, and of the right type, is accepted."""

from dataclasses import replace
from functools import cached_property
from itertools import product

import numpy as np
import pytest

from groups import Assignment, Group
from optimal import Proof, ProofKind, Status, Stopped, Term, check, solve
from optimal.audit import audit
from tests.optimal.judging import COLUMNS, NUMBERS, REFUSED, forged, verdict_of
from tests.optimal.small_groups import group_of, lopsided, one_topic


def assert_refused(group, solution) -> None:
    for checker in (check, audit):
        with pytest.raises(REFUSED):
            checker(group, solution)


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
PRICES = [
    *COLUMNS.values(),
    lambda table: table[:-1],
    lambda table: table[:, :1],
    lambda table: table.astype(float),
    lambda table: np.vstack((table, table[:1])),
]


def of_kind(form, kind: str):
    return lambda prices: prices | {kind: form(prices[kind])}


# Values to put into a solution, its proof or assignment, or functions of the present value.
PARTS = [
    ("solution", "status", ("optimal", "feasible", "best", "", None, True, 1, Stopped.PROOF)),
    ("solution", "stopped", ("proof", "tired", None, Status.OPTIMAL)),
    ("solution", "proof", (None, "certificate", ProofKind.CERTIFICATE, {"kind": "certificate"})),
    ("solution", "objective", ("balance > stickiness", (), None, ["balance", "stickiness"],
                               (1, 2), ("balance", "balance"), ("balance", "fun"), ([], {}),
                               (None,))),
    ("solution", "terms", (None, (), [], "ab", (("balance", 4, 4), ("stickiness", 2, 2)),
                           (None, None))),
    ("solution", "assignment", ("", [0, 1, 1, 1, 2, 2, -1], {"c0": {}}, True,
                                np.zeros(7, np.int32))),
    ("solution", "group", (None, "g", 1)),
    ("proof", "kind", ("certificate", "exhaustion", "none", "faith", None, 1, True)),
    ("proof", "scale", ((0.5,), (1.0,), (True,), (None,), ("1",), [1], 1, None, (1, 1), (-1,),
                        (0,), (10**400, 1))),
    ("proof", "level", COLUMNS.values()),
    ("proof", "price", COLUMNS.values()),
    ("within a budget", "level", COLUMNS.values()),
    ("a budget", "at_most", [{"stickiness": n} for n in (True, 2.0, -1, "2", None, float("nan"),
                                                         10**400)]),
    ("of a peak", "floor", ("crowd", *(
        {"bound": word} for word in ("guess", None, "weighted")), *(
        {"members": some} for some in ((), (1, 0), (0, 0), [0], (True,), (0.5,))), *(
        {"at_least": least} for least in (1.5, True, "90")))),
    ("of hosts", "prices", ({}, None, [], *(of_kind(form, kind) for form in PRICES
                                            for kind in ("member", "host")))),
    ("assignment", "owner", OWNERS.values()),
    ("assignment", "strays", (((0, "t0", 0),), ((1, "t1", 99),), ((0, "t7", 0),),
                              ((9, "t0", 0),), (1,), [], None)),
]  # fmt: skip


@pytest.mark.parametrize(("where", "name", "others"), PARTS)
def test_a_part_of_another_kind_or_shape_is_refused(group, solution, where, name, others):
    if "a budget" in where:
        group = lopsided(3, 9)
        solution = solve(group, at_most={"stickiness": 2})
    if where == "of a peak":
        group = one_topic([90, 5, 4, 3, 2, 1], 3)
        solution = solve(group, "peak_lag", method="exchange")
        floor = solution.proof.floor
        others = [forged(floor, **one) if isinstance(one, dict) else one for one in others]
    if where == "of hosts":
        group = group_of({"t": 5}, {m: ["t"] for m in "abc"}, hosts="xxy")
        solution = solve(group, "host_balance > stickiness")
    for other, kind in product(others, ProofKind):
        proof = solution.proof if kind is ProofKind.CERTIFICATE else Proof(kind)
        if where in ("solution", "a budget"):
            assert_refused(group, forged(forged(solution, proof=proof), **{name: other}))
        elif where == "assignment":
            made = other(solution.assignment.owner) if callable(other) else other
            assignment = forged(solution.assignment, **{name: made})
            assert_refused(group, forged(solution, assignment=assignment, proof=proof))
        elif kind is ProofKind.CERTIFICATE:
            made = other(getattr(proof, name)) if callable(other) else other
            assert_refused(group, forged(solution, proof=forged(proof, **{name: made})))
            with pytest.raises(REFUSED):
                check(group, replace(solution, proof=replace(proof, **{name: made})))


def test_fractional_prices_prove_no_distance_that_is_not_needed():
    """With prices of -3/8 the bound is 2 where 0 is possible, were they rounded anywhere."""
    topic = {"partitions": 4, "racks": [["a"], ["a"], ["b"], ["b"]]}
    group = group_of({"t": topic}, {"a": ["t"], "b": ["t"]}, racks="ab")
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
            assert verdict_of(check, group, other) == verdict_of(audit, group, other)
            continue
        assert_refused(group, other)
        assert_refused(group, forged(other, status=Status.FEASIBLE))


def test_a_solution_of_other_members_or_partitions_is_refused():
    def made(topics, members) -> Group:
        return group_of(topics, {member: [*topics] for member in members})

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
