"""A fleet in one solve: columns, each group by itself checked."""

import random
import sys

import pytest

from groups import BadInput, Group, values
from groups.columnar.rows import batch_of
from groups.fleet import Fleet
from optimal import Status, Stopped, check, solve
from optimal.solve import solve_fleet
from tests.optimal.random_groups import random_group
from tests.optimal.small_groups import group_of


def random_groups(rng: random.Random, count: int) -> list[Group]:
    return [
        random_group(rng, members=rng.randint(0, 7), partitions=rng.randint(0, 25))
        for _ in range(count)
    ]


def unknown(name: str) -> Group:
    document = group_of({"t0": 1}, {"c0": []}, name=name).to_dict()
    document["members"]["c0"]["subscription"] = None
    return Group.from_dict(document)


@pytest.mark.parametrize("together", [1, 9, 5000])
@pytest.mark.parametrize("objective", ["kip-54", "balance", "stickiness > balance"])
def test_columns_say_what_each_group_alone_would(monkeypatch, together, objective):
    monkeypatch.setattr(sys.modules["optimal.solve"], "MEMBERS_TOGETHER", together)
    groups = random_groups(random.Random(objective), 25)
    fleet, bad = Fleet.from_arrow(batch_of(groups))
    assert bad == []
    solved = solve_fleet(fleet, objective)
    assert solved.errors == {}
    starts = solved.fleet.member_start.tolist()
    for index, group in enumerate(groups):
        alone = solve(group, objective)
        assert solved.value[index].tolist() == [term.value for term in alone.terms]
        assert solved.bound[index].tolist() == [term.bound for term in alone.terms]
        assert solved.status[index] == alone.status
        assert solved.proof[index] == alone.proof.kind
        assert solved.method[index] == alone.method
        solution = solved.solution(index, group)
        assert check(group, solution) == ()
        assert values(solution.assignment, solution.objective) == tuple(solved.value[index])
        loads = solved.loads[starts[index] : starts[index + 1]]
        assert loads.tolist() == solution.assignment.loads.tolist()


def test_a_group_that_cannot_be_solved_is_there_with_its_reason_and_the_others_are_solved():
    good = group_of({"t0": 3}, {"c0": ["t0"], "c1": ["t0"]}, name="good")
    solved = solve_fleet(Fleet.of([unknown("bad"), good, unknown("worse")]))
    assert repr(solved) == "Solutions(balance > stickiness: 1 optimal, 2 unknown)"
    assert sorted(solved.errors) == [0, 2]
    assert str(solved.errors[0]).startswith("members.c0.subscription: unknown; group.with_equal")
    assert solved.status.tolist() == [Status.UNKNOWN, Status.OPTIMAL, Status.UNKNOWN]
    assert solved.value.tolist() == [[-1, -1], [1, 0], [-1, -1]]
    with pytest.raises(BadInput, match=r"^members\.c0\.subscription: unknown"):
        solved.solution(2)
    assert check(good, solved.solution(1)) == ()


def test_an_objective_that_is_no_flow_is_solved_one_by_one_with_the_same_columns():
    group = {"topics": {"t": {"partitions": 3, "lag": [5, 4, 3]}}}
    document = group_of({"t": 3}, {"c0": ["t"], "c1": ["t"]}).to_dict() | group
    lagging, other = Group.from_dict(document), group_of({"t": 1}, {"c0": ["t"]})
    solved = solve_fleet(Fleet.of([lagging, other]), "balance > peak_lag")
    assert solved.value.tolist() == [[1, 7], [-1, -1]]
    assert "lag" in str(solved.errors[1])
    assert solved.proof[0] == solved.solution(0).proof.kind == "exhaustion"


def test_out_of_time_nothing_is_known_of_any_group():
    stairs = group_of({"t0": 3, "t1": 5}, {"c0": ["t0"], "c1": ["t0", "t1"], "c2": ["t1"]})
    solved = solve_fleet(Fleet.of([stairs] * 2), time_limit=0)
    assert set(solved.stopped.tolist()) == {Stopped.TIME_LIMIT}
    assert solved.solution(1).assignment is None
    assert solved.errors == {}
