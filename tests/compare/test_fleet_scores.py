"""Scores of a fleet: column by column what each group's own score says."""

import random
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from compare.fleet.tables import TABLES
from compare.fleet_scores import (
    FleetScores,
    optimum_columns,
    score_columns,
    score_fleet,
    score_fleet_current,
)
from compare.scores import Score, score, score_current
from groups import Assignment, Group
from groups.fleet import Fleet
from groups.table.rows import batch_of
from heuristics import Plan
from heuristics.assignor import Outcome
from optimal.solve import solve_fleet
from tests.optimal.random_groups import random_group
from tests.optimal.small_groups import group_of

OBJECTIVES = (
    "kip-54",
    "stickiness > balance",
    "topic_balance > stickiness",
    "balance > racks > moved_weight",
)


def random_groups(rng: random.Random, count: int) -> list[Group]:
    return [
        random_group(rng, members=rng.randint(0, 7), partitions=rng.randint(0, 25))
        for _ in range(count)
    ]


def some_owner(rng: random.Random, fleet: Fleet) -> np.ndarray:
    """Return owners: some groups keep theirs, some get an optimum, some random owners or none."""
    best = solve_fleet(fleet, "balance").owner
    owner = np.empty(fleet.group.n_partitions, np.int32)
    for at in range(len(fleet)):
        start, end = fleet.partition_start[at : at + 2].tolist()
        first, last = fleet.member_start[at : at + 2].tolist()
        anybody = [rng.randrange(first - 1, last) for _ in range(start, end)]
        anybody = [-1 if m < first else m for m in anybody]
        column = rng.choice((fleet.group.owner[start:end], best[start:end], anybody))
        owner[start:end] = column
    return owner


def assert_rows_are(found: FleetScores, rows: list[Score | None]) -> None:
    columns = score_columns(found)
    table = pa.table(
        {name: columns[name].cast(TABLES["scores"].field(name).type) for name in columns}
    ).to_pylist()
    for at, row in enumerate(rows):
        if row is None:
            assert table[at]["status"] == "failed"
            assert table[at]["reason"].startswith("no optimum: ")
            assert (table[at]["terms"], table[at]["loads"], table[at]["valid"]) == (None,) * 3
            continue
        assert table[at] == {
            **{name: getattr(row, name) for name in columns if name not in ("terms", "loads")},
            "terms": [term_of(term) for term in row.terms],
            "loads": list(row.loads),
        }, row


def term_of(term) -> dict[str, object]:
    low, high = term.excess if isinstance(term.excess, tuple) else (None, None)
    excess = None if isinstance(term.excess, tuple) else term.excess
    ends = {"excess_from": low, "excess_to": high}
    return {"name": term.name, "value": term.value, "excess": excess, **ends}


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_column_of_owners_is_scored_as_each_groups_assignment(objective):
    rng = random.Random(objective)
    fleet, _ = Fleet.from_arrow(batch_of(random_groups(rng, 60)))
    solution, owner = solve_fleet(fleet, objective), some_owner(rng, fleet)
    met = set()
    rows: list[Score | None] = []
    assignments = {}
    for at in range(len(fleet)):
        if at in solution.errors:
            rows.append(None)
            continue
        start, end = fleet.partition_start[at : at + 2].tolist()
        own = np.where(owner[start:end] < 0, -1, owner[start:end] - fleet.member_start[at])
        group = fleet.alone(at)
        assignments[at] = Assignment(group, own)
        row = score(group, assignments[at], solution.solution(at, group), assignor="x")
        rows.append(row)
        met.add((row.valid, row.balanced, row.is_optimal))
    made = {at: Outcome("planned", Plan(one), None, 0.0) for at, one in assignments.items()}
    assert_rows_are(score_fleet(solution, made, "x"), rows)
    assert {valid for valid, _, _ in met} == {True, False}
    assert {optimal for _, _, optimal in met} == {True, False}


@pytest.mark.parametrize("made", ["of rows", "of groups"])
def test_what_members_hold_now_is_scored_with_raw_claims_as_they_are(made):
    rng = random.Random("claims")
    groups = random_groups(rng, 80)
    double = {"a": {"t": [0, 1]}, "b": {"t": [1, 5]}}
    groups.append(group_of({"t": 2}, {"a": ["t"], "b": ["t"]}, double))
    fleet = Fleet.of(groups) if made == "of groups" else Fleet.from_arrow(batch_of(groups))[0]
    solution = solve_fleet(fleet)
    rows = [score_current(group, solution.solution(i)) for i, group in enumerate(groups)]
    assert {len(row.violations) > 0 for row in rows} == {True, False}
    assert_rows_are(score_fleet_current(solution), rows)


def test_an_optimum_that_is_open_gives_intervals():
    rng = random.Random("open")
    fleet, _ = Fleet.from_arrow(batch_of(random_groups(rng, 60)))
    solved = solve_fleet(fleet)
    bound = solved.bound - np.array([[rng.choice((0, 0, 1, 2))] * 2 for _ in range(len(fleet))])
    bound[:, 1] = np.where(bound[:, 0] < solved.value[:, 0], -1, solved.bound[:, 1])
    separate = replace(solved, bound=np.maximum(bound, -1))
    rows = [
        score_current(g, separate.solution(i, g))
        for i, g in enumerate(map(fleet.alone, range(len(fleet))))
    ]
    assert any(isinstance(term.excess, tuple) for row in rows for term in row.terms)
    assert_rows_are(score_fleet_current(separate), rows)


def test_an_objective_that_is_no_flow_is_scored_group_by_group():
    topic = {"t": {"partitions": 3, "lag": [5, 4, 3]}}
    document = group_of({"t": 3}, {"a": ["t"], "b": ["t"]}, {"a": {"t": [0, 1, 2]}}).to_dict()
    groups = [Group.from_dict(document | {"topics": topic}), group_of({"t": 1}, {"a": ["t"]})]
    solution = solve_fleet(Fleet.of(groups), "balance > peak_lag")
    row = score_current(groups[0], solution.solution(0))
    assert [term.excess for term in row.terms] == [2, None]
    assert_rows_are(score_fleet_current(solution), [row, None])
    refused = score_fleet(solution, {0: Outcome("refused", None, "unlike topics", 0.0)}, "x")
    assert refused.unscored[0] == ("refused", "unlike topics")


def test_an_assignment_below_a_bound_is_a_reason_and_spoils_no_other_row():
    groups = [
        group_of({"t": 2}, {"a": ["t"], "b": ["t"]}, {"a": {"t": [0]}, "b": {"t": [1]}}, name=name)
        for name in ("g0", "g1")
    ]
    solved = solve_fleet(Fleet.of(groups))
    more = np.array([[1, 0], [0, 0]])
    wrong = replace(solved, value=solved.value + more, bound=solved.bound + more)
    table = score_columns(score_fleet_current(wrong))
    assert table["status"].to_pylist() == ["failed", "scored"]
    assert "g0: balance is 0, below the bound 1 that" in table["reason"][0].as_py()


def test_the_optima_have_the_columns_of_their_solutions():
    rng = random.Random("optima")
    groups = random_groups(rng, 30)
    document = group_of({"t0": 1}, {"c0": []}, name="bad").to_dict()
    document["members"]["c0"]["subscription"] = None
    groups.append(Group.from_dict(document))
    solution = solve_fleet(Fleet.from_arrow(batch_of(groups))[0])
    columns = optimum_columns(solution)
    table = pa.table(
        {name: column.cast(TABLES["optima"].field(name).type) for name, column in columns.items()}
    ).to_pylist()
    for at in range(30):
        own = solution.solution(at)
        assert table[at] == {
            "status": str(own.status), "reason": None, "stopped": str(own.stopped),
            "method": own.method, "seconds": own.seconds, "proof": str(own.proof.kind),
            "terms": [vars(term) for term in own.terms], "loads": own.assignment.loads.tolist(),
        }  # fmt: skip
    left = {name: value for name, value in table[30].items() if value is not None}
    assert left.pop("reason").startswith("members.c0.subscription: unknown")
    assert left == {"status": "failed"}


def test_out_of_time_there_are_no_terms_and_no_excess():
    stairs = group_of({"t0": 3, "t1": 5}, {"c0": ["t0"], "c1": ["t0", "t1"], "c2": ["t1"]})
    solution = solve_fleet(Fleet.of([stairs]), time_limit=0)
    columns = {name: column.to_pylist()[0] for name, column in optimum_columns(solution).items()}
    assert (columns["status"], columns["terms"], columns["loads"]) == ("unknown", [], None)
    assert_rows_are(score_fleet_current(solution), [score_current(stairs, solution.solution(0))])
