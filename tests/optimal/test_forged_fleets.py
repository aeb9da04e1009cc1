"""Forged answers to a fleet: the audit confirms none of a group that the checker refuses."""

import random
from dataclasses import replace

import numpy as np
import pytest

from groups import AssayError, Assignment, SolverContradiction
from groups.fleet import Fleet
from groups.tiers import values_in
from optimal import ProofKind, check, solve_many
from optimal.audit import Certificates, Evidence, proved
from optimal.flow.algorithm import flows_of
from optimal.solutions import Solutions
from optimal.solve import solve_fleet
from tests.optimal.random_groups import random_group
from tests.optimal.small_groups import group_of

OBJECTIVES = (
    "kip-54",
    "balance",
    "stickiness > balance",
    "topic_balance",
    "balance > racks > moved_weight",
)


def some_fleet(rng: random.Random) -> Fleet:
    groups = [
        random_group(rng, members=rng.randint(1, 6), partitions=rng.randint(1, 15))
        for _ in range(12)
    ]
    return Fleet.of([group for group in groups if len(group.members)])


def confirmed(solution: Solutions) -> np.ndarray:
    """Return whether the audit confirms the values and the certificate of each group."""
    evidence = Evidence(solution.fleet, solution.assignment)
    certificates = Certificates(solution.level, solution.price, solution.scale)
    good = evidence.valid & proved(evidence, solution.objective, certificates)
    return good & (evidence.values(solution.objective) == solution.value).all(axis=1)


def is_held(solution: Solutions, index: int) -> bool:
    try:
        return check(solution.fleet.alone(index), solution.solution(index)) == ()
    except AssayError:
        return False


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_audit_of_many_groups_and_the_checker_of_each_are_of_one_mind(objective):
    """Some part of some groups is forged; the others must stay confirmed."""
    rng, met = random.Random(objective), {True: 0, False: 0}
    for _ in range(8):
        fleet = some_fleet(rng)
        genuine = solve_fleet(fleet, objective)
        good = np.array([index not in genuine.errors for index in range(len(fleet))])
        if not good.all():
            fleet = fleet.only(good)
            genuine = solve_fleet(fleet, objective)
        assert confirmed(genuine).all()
        for _ in range(8):
            solution = forged(rng, genuine)
            said = confirmed(solution)
            for index in range(len(fleet)):
                held = is_held(solution, index)
                assert said[index] == held, (index, objective)
                met[held] += 1
    assert min(met.values()) > 25, met


def forged(rng: random.Random, genuine: Solutions) -> Solutions:
    owner, level, price, scale = (
        getattr(genuine, name).copy() for name in ("owner", "level", "price", "scale")
    )
    starts = genuine.fleet.member_start.tolist()
    for _ in range(rng.randint(1, 4)):
        what = rng.choice(("owner", "owner", "level", "price", "scale"))
        if what == "owner":
            at = rng.randrange(len(owner))
            group = int(np.searchsorted(genuine.fleet.partition_start, at, side="right")) - 1
            owner[at] = rng.choice((-1, *range(starts[group], starts[group + 1])))
        elif what == "scale" and scale.size:
            scale[rng.randrange(len(scale)), rng.randrange(scale.shape[1])] += rng.choice((-1, 1))
        else:
            column = level if what == "level" else price
            column[rng.randrange(len(column))] += rng.choice((-2, -1, 1, 2))
    assignment = Assignment(genuine.fleet.group, owner)
    told = values_in(assignment, genuine.fleet, genuine.objective)
    return replace(
        genuine,
        assignment=assignment,
        level=level,
        price=price,
        scale=scale,
        value=told,
        bound=told,
        _rows={},
    )


def test_one_forged_group_is_refused_by_its_name_and_the_others_keep_their_answers(monkeypatch):
    stairs = {"c0": ["t0"], "c1": ["t0", "t1"], "c2": ["t1"]}
    groups = [group_of({"t0": 3, "t1": 5}, stairs, name=f"g{number}") for number in range(5)]

    def lying(group, objective, time_left, **more):
        found = flows_of(group, objective, time_left, **more)
        price = found.prices[0].copy()
        price[2 * 3] += 1
        return replace(found, prices=[price])

    monkeypatch.setattr("optimal.flow.algorithm.flows_of", lying)
    solved = solve_fleet(Fleet.of(groups))
    assert list(solved.errors) == [2]
    assert isinstance(solved.errors[2], SolverContradiction)
    assert str(solved.errors[2]).startswith("g2: flow contradicts the checker: price: ")
    assert solved.status.tolist() == ["optimal"] * 2 + ["unknown"] + ["optimal"] * 2
    assert solved.proof.tolist().count(str(ProofKind.CERTIFICATE)) == 4
    assert solved.loads.reshape(5, 3)[2].tolist() == [0, 0, 0]
    with pytest.raises(SolverContradiction, match=r"^g2: flow contradicts the checker: "):
        solve_many(groups)
