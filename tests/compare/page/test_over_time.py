"""How groups went over their captures, as the page of a run draws it."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compare.fleet.aggregates import Aggregates
from compare.fleet.tables import TABLES, new_run
from compare.history import Trend, ordered
from compare.overview import Glance
from compare.page.from_run import page_of_run
from compare.page.over_time import MOST_CAPTURES, MOST_GROUPS, over_time
from compare.verdict import Verdict
from groups import BadInput

OBJECTIVE = "balance > stickiness"
GOOD, BAD, OPEN = "as good as can be", "improvable", "not proved"
HEADS = "captured_at,group,value"
FIRST = datetime(2026, 11, 1, tzinfo=UTC)


def at(hour: int) -> str:
    return f"{FIRST + timedelta(hours=hour):%Y-%m-%dT%H:%M:%SZ}"


def capture(group: str, hour: int, says: str, moves: int | None = None, **more) -> dict:
    return {
        "group": group,
        "key": f"{group} {hour} {more}",
        "captured_at": at(hour),
        "objective": OBJECTIVE,
        "verdict": {"says": says, "to_move": moves},
        **more,
    }


def drawings(
    folder, captures: list[dict], *worst: str, changes: Sequence[Trend] = ()
) -> dict[str, list[str]]:
    """Return the lines of each drawing's data, by its title."""
    below = folder / "optima" / f"run={new_run(FIRST)}"
    below.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(captures, TABLES["optima"]), below / "part-0.parquet")
    trend = [
        {"statistic": "trend", "captured_at": one["captured_at"][:13], "count": 1}
        | {"label": one["verdict"]["says"]}
        for one in captures
    ]
    trend += [
        {"statistic": "change", "group": one.group, "label": one.what, "x": one.first}
        | {"y": one.last, "count": one.captures, "captured_at": one.since}
        for one in changes
    ]
    found = Aggregates(pa.Table.from_pylist(trend, TABLES["aggregates"]), current=True)
    assert found.changes() == ordered(changes)
    glances = [Glance(name, at(0), 3, 9, Verdict(BAD, sure=True)) for name in worst]
    drawn = over_time(folder, OBJECTIVE, found, glances)
    assert all(one.svg.startswith("<svg") and "NaN" not in one.svg for one in drawn)
    return {one.title: one.data.splitlines() for one in drawn}


def test_a_folder_without_a_run_is_bad_input(tmp_path):
    with pytest.raises(BadInput, match=r"no run in it, assay run fills it"):
        page_of_run(tmp_path, [], "assay report")


def test_verdicts_are_counted_at_each_time_of_capture_the_worst_first(tmp_path):
    captures = [capture("a", 0, GOOD), capture("b", 0, BAD, 2), capture("c", 0, GOOD)]
    found = drawings(tmp_path, [*captures, capture("b", 1, GOOD)])
    assert found == {
        "Verdicts over time": [
            HEADS,
            f"{at(0)},improvable,1",
            f"{at(0)},as good as can be,2",
            f"{at(1)},as good as can be,1",
        ]
    }


def test_the_worst_groups_have_their_moves_over_time_and_a_gap_where_they_are_not_known(tmp_path):
    captures = [
        capture("a", 2, BAD, 1), capture("a", 0, BAD, 3), capture("a", 1, OPEN, 5),
        capture("b", 0, GOOD, 7), capture("b", 1, BAD, 4), capture("fine", 0, GOOD),
        capture("fine", 1, GOOD),
    ]  # fmt: skip
    found = drawings(tmp_path, captures, "b", "a")["Groups over time"]
    assert found == [
        HEADS, f"{at(0)},b,0", f"{at(1)},b,4", f"{at(0)},a,3", f"{at(1)},a,", f"{at(2)},a,1",
    ]  # fmt: skip


def test_of_groups_that_were_captured_once_nothing_goes_over_time(tmp_path):
    captures = [capture("a", 0, BAD, 3), capture("b", 0, BAD, 2)]
    assert drawings(tmp_path, captures, "a", "b") == {}


def test_another_objective_is_no_part_of_how_a_group_went(tmp_path):
    captures = [capture("a", 0, BAD, 3), capture("a", 1, BAD, 2)]
    captures += [capture("a", 1, BAD, 9, objective="balance")]
    found = drawings(tmp_path, captures, "a")["Groups over time"]
    assert found == [HEADS, f"{at(0)},a,3", f"{at(1)},a,2"]


def test_of_many_groups_and_captures_the_worst_and_the_last_are_drawn(tmp_path):
    long = [capture("a", hour, BAD, 1) for hour in range(MOST_CAPTURES + 2)]
    names = [f"g{i:02}" for i in range(MOST_GROUPS + 3)]
    short = [capture(name, hour, BAD, 1) for name in names for hour in range(2)]
    found = drawings(tmp_path, [*long, *short], "a", *names)["Groups over time"][1:]
    times = [line.split(",")[0] for line in found if ",a," in line]
    assert times == [at(hour) for hour in range(2, MOST_CAPTURES + 2)]
    assert {line.split(",")[1] for line in found} == {"a", *names[: MOST_GROUPS - 1]}


def test_what_changed_comes_before_the_worst_and_lag_that_grows_is_drawn(tmp_path):
    captures = [capture(name, hour, GOOD, lag=10 * hour) for name in "ab" for hour in range(2)]
    changes = [Trend("b", "lag", 0, 10, 2), Trend("a", "step", 0, 4, 9, at(1))]
    found = drawings(tmp_path, captures, "b", changes=changes)
    lines = [f"{at(0)},a,0", f"{at(1)},a,0", f"{at(0)},b,0", f"{at(1)},b,0"]
    assert found["Groups over time"] == [HEADS, *lines]
    assert found["Lag that grows"] == [HEADS, f"{at(0)},b,0", f"{at(1)},b,10"]
