"""Tables of what the API returns: for pandas, and for notebooks."""

from dataclasses import replace

import pandas as pd
import pytest

from assay import (
    Group,
    advise,
    frontier,
    judge,
    score_assignors,
    size,
    solve,
    solve_many,
)
from groups.framed import Framed
from tests.assay.calling import LOPSIDED
from tests.optimal.small_groups import group_of


class Rows(Framed):
    def __init__(self, *rows: dict) -> None:
        self.rows = rows

    def to_rows(self):
        return self.rows


@pytest.fixture(scope="module")
def group() -> Group:
    return Group.from_dict(LOPSIDED)


def test_whole_numbers_stay_so_where_others_are_not_known_and_beyond_64_bits():
    frame = Rows({"a": 1, "b": 2, "c": 10**30}, {"a": None, "b": 3, "c": 0}).to_frame()
    assert frame[["a", "b"]].dtypes.astype(str).to_dict() == {"a": "Int64", "b": "int64"}
    assert frame["a"].isna().tolist() == [False, True]
    assert frame["c"].tolist() == [10**30, 0]
    assert Rows().to_frame().empty


def test_a_solution_is_a_row_a_member_with_what_it_gains_and_loses(group):
    solution = solve(group)
    frame = solution.to_frame()
    assert frame["member"].tolist() == list(group.members)
    assert frame["best"].tolist() == solution.assignment.loads.tolist()
    assert frame["now"].sum() == (group.owner >= 0).sum()
    assert (frame["now"] + frame["gained"] - frame["lost"]).tolist() == frame["best"].tolist()
    assert frame["gained"].sum() == len(solution.assignment.moved)
    # A notebook shows a name without its markup.
    shown = replace(solution, group=replace(group, name="<b>"))._repr_html_()
    assert shown.startswith("<p>Solution(&lt;b&gt;: optimal, balance ")


def test_solutions_are_a_row_a_group_with_values_and_bounds_under_their_tiers(group):
    frame = solve_many([group, group], "balance > stickiness").to_frame()
    assert frame["group"].tolist() == [group.name] * 2
    alone = solve(group)
    for term in alone.terms:
        assert frame[term.name].tolist() == [term.value] * 2
        assert frame[f"{term.name}_bound"].tolist() == [term.bound] * 2


def test_scores_are_a_row_an_assignor_with_values_under_their_tiers(group):
    rows = score_assignors(group, solve(group), ["current", "range"])
    frame = rows.to_frame()
    assert frame["assignor"].tolist() == ["current", "range"]
    for at, row in enumerate(rows):
        for term in row.terms:
            assert frame[term.name][at] == term.value
            exact = frame[f"{term.name}_excess"].tolist()[at]
            assert (None if pd.isna(exact) else exact) == term.excess


def test_a_group_is_a_row_a_partition_with_its_owner_and_lag(group):
    frame = group.to_frame()
    assert len(frame) == group.n_partitions
    assert frame["owner"].notna().sum() == (group.owner >= 0).sum()
    assert frame["lag_records"].isna().all()
    lag = {"t0": {"partitions": 2, "lag": [3, None]}}
    rows = group_of(lag, {"c0": ["t0"]}, {"c0": {"t0": [1]}}).to_frame().to_dict("records")
    assert [(row["topic"], row["partition"], row["owner"]) for row in rows] == [
        ("t0", 0, None), ("t0", 1, "c0"),
    ]  # fmt: skip
    assert rows[0]["lag_records"] == 3
    assert pd.isna(rows[1]["lag_records"])


def test_points_of_a_frontier_have_their_values_under_the_names_of_their_tiers(group):
    points = frontier(group, "balance", "stickiness")
    frame = points.to_frame()
    assert [point["balance"] for point in points] == frame["balance"].tolist()
    assert [point["stickiness"] for point in points] == frame["stickiness"].tolist()
    assert frame["proved"].all()
    with pytest.raises(KeyError, match="peak_lag"):
        points[0]["peak_lag"]


def test_a_score_a_verdict_an_advice_and_a_sizing_are_tables_too(group):
    lag = {"t0": {"partitions": 3, "lag": [3, 1, 1]}}
    reads, owned = {"c0": ["t0"], "c1": ["t0"]}, {"c0": {"t0": [0, 1, 2]}}
    lagging = group_of(lag, reads, owned, name="<b>")
    row = score_assignors(group, solve(group), ["range"])
    assert row[0].to_frame().equals(row.to_frame())
    both = judge([group, lagging])
    assert both.to_frame()["group"].tolist() == ["orders", "<b>"]
    verdict = both[0].verdict
    assert both[0].to_frame()["says"].tolist() == ["improvable"]
    assert verdict.to_frame()[["at_least", "moves"]].values.tolist() == [
        [verdict.at_least, verdict.moves]
    ]
    advice = advise(lagging, lower="peak_lag", assignors=())
    frame = advice.to_frame()
    assert frame["kind"].tolist() == [change.kind for change in advice.changes]
    first = frame.to_dict("records")[0]
    assert (first["before"], first["after"], first["at_least"]) == (5, 3, 2)
    assert (first["share"], first["moves"]) == (pytest.approx(0.4), 1)
    sizing = size(lagging, members=range(1, 4), target={"peak_lag": 3})
    assert sizing.to_frame()["peak_lag"].tolist() == [row.peak_lag for row in sizing.rows]
    shown = {
        advice: "<p>&lt;b&gt;: peak_lag: 5 now, at best 3</p>",
        sizing: "<p>&lt;b&gt;: within peak_lag 3: 2 members</p>",
        row[0]: "",
        verdict: "",
        both[0]: "",
    }
    for result, lead in shown.items():
        assert result._repr_html_().startswith(f"{lead}<table")
    nothing = advise(group.only([1]), assignors=())
    assert "<p>orders: " in nothing._repr_html_()
