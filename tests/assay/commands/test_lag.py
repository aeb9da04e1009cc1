"""Lag in what `score` and `solve` print: per member, beside the least there can be, as a time."""

import json
import random
import re
from pathlib import Path

import pytest

from tests.assay.calling import (
    ALL_GROUPS,
    ALONE,
    AS_JSON,
    LATE,
    RANGE,
    assay,
    document_of,
    good,
    one_after_the_other,
    write,
)
from tests.compare.conftest import holding

HOT = LATE | {"group": "hot", "topics": {"t": {"partitions": 6, "lag": [5000, 1, 0, 0, 0, 0]}}}
WORTH = ("solve", "late.json", "--only-if-peak-falls")
CALLS = {
    "one": ("score", "late.json", *RANGE),
    "rate": ("score", "late.json", *RANGE, "--rate", "10"),
    "json": ("score", "late.json", *ALONE, "--rate", "10", *AS_JSON),
    "many": ("score", "late.json", "hot.json", "--rate", "10"),
    "solve": ("solve", "late.json", "--objective", "balance > peak_lag", "--rate", "10"),
    "hot": ("solve", "hot.json", "--objective", "balance > peak_lag"),
    "counts": ("solve", "late.json"),
    "some": (*WORTH, "10"),
    "free": (*WORTH, "45%", "--objective", "peak_lag"),
    "time": (*WORTH, "90%", "--objective", "balance > peak_time", "--rate", "10"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return write(tmp_path_factory.mktemp("lag"), {"late.json": LATE, "hot.json": HOT})


@pytest.fixture(scope="module")
def said(folder) -> dict:
    runs = one_after_the_other(CALLS, folder)
    return {name: good(run).stdout.splitlines() for name, run in runs.items()}


def cells(lines: list[str], name: str) -> list[str]:
    return re.split(r" {2,}", next(line for line in lines if re.match(rf"{name}\b", line)))


def test_each_member_has_its_lag_now_and_best_and_what_moves_leaves_least(said):
    lines = said["one"]
    assert cells(lines, "member") == ["member", "now", "best", "lag now", "lag best", "gives"]
    assert cells(lines, "a")[2:] == ["4", "3", "1,200", "600", "1 to b"]
    assert cells(lines, "b")[2:] == ["2", "3", "100", "700"]
    assert "Of all assignments as good, this one has the least peak lag." in lines


def test_each_row_has_its_peak_beside_the_least(said):
    lines = said["one"]
    assert cells(lines, "current")[-2] == "1,200 (+500)"
    assert cells(lines, "optimum")[-2] == "700"
    assert lines[-1] == (
        "peak lag: of the member with most, at which balance > moves does not look; in brackets: "
        "how much more than 700, the least with balanced loads, by any number of moves"
    )


def test_a_rate_shows_the_time_to_catch_up_beside_the_records(said):
    lines = said["rate"]
    assert lines[2].endswith("Longest to catch up: a with 2 min.")
    assert lines[3].endswith("That is 1 min 10 s to catch up, not 2 min.")
    assert cells(lines, "current")[-2] == "2 min"
    assert cells(said["solve"], "a")[-3:-1] == ["2 min", "1 min 10 s"]
    table = said["many"]
    assert cells(table, "late")[-2:] == ["1,200 / 700 / 700", "2 min / 1 min 10 s"]
    assert cells(table, "hot")[-2:] == ["5,001 / 5,000 / 5,000", "8 min 21 s / 8 min 20 s"]


def test_json_has_the_peaks_and_the_times(said):
    document = json.loads(said["json"][0])
    assert document["lag"] == {
        "peak": 1200,
        "lowest": 700,
        "bound": 700,
        "could_fall": {
            "to": 700,
            "moves": [{"topic": "t", "partition": 0, "from": "a", "to": "b"}],
        },
        "most_in_one_partition": {"topic": "t", "partition": 0, "records": 600},
        "latest_assumed": 0,
    }
    current = document["scores"][0]
    assert (current["assignor"], current["peak_lag"]) == ("current", 1200)
    assert current["catch_up_seconds"] == 120


def test_solve_says_what_becomes_of_the_peak_and_what_holds_it(said):
    """docs/how-to/plan-with-lag.md shows these lines without a rate."""
    rate = "now 1,200 (42% less). To catch up takes 1 min 10 s, not 2 min. One partition (t-0) "
    assert any(rate in line for line in said["solve"])
    hot = "now 5,001 (under 1% less). One partition (t-0) alone has 5,000 of lag: no assignment "
    assert any(hot in line for line in said["hot"])


def test_an_objective_about_counts_prints_no_lag_but_that_none_as_good_has_less(said):
    assert [line for line in said["counts"] if "lag" in line] == [
        "Of all assignments as good, this one has the least peak lag."
    ]


def test_fewer_moves_are_offered_only_where_it_is_known_who_reads_what(folder):
    lags = {"t": [900, 850, 700, 640, 15, 20], "u": [310, 250, 5, 3]}
    topics = {name: {"partitions": len(lag), "lag": lag} for name, lag in lags.items()}
    owned = {
        "a": {"t": [0, 1, 2, 3], "u": [0, 1]},
        "b": {"t": [4, 5], "u": [2]},
        "c": {"u": [3]},
    }
    reads = {"a": ["t", "u"], "b": ["t", "u"], "c": None}
    members = {m: {"subscription": reads[m], "owned": held} for m, held in owned.items()}
    half = write(folder, {"half.json": LATE | {"group": "half", "topics": topics} | {
        "members": members}})  # fmt: skip
    offer = "assay frontier half.json --group half"
    asked = ("advise", "half.json", *RANGE)
    assert offer not in good(assay(*asked, cwd=half)).stdout
    assert offer in assay(*asked, "--assume-equal", cwd=half).stdout


@pytest.mark.parametrize("given", [(), ("--assume-equal",)])
def test_score_solve_and_advise_show_the_same_moves_of_a_group(given):
    asked = (ALL_GROUPS, "--group", "kpr-c", *given)
    moves = []
    advise = ("advise", "--lower", "peak_load", *RANGE)
    for command in (("score", *ALONE), ("solve",), advise):
        lines = assay(*command, *asked).stdout.splitlines()
        moves.append({line.strip() for line in lines if re.match(r" +2 from kpr-0-", line)})
    assert len(moves[0]) == 1
    assert moves[0] == moves[1] == moves[2]


def test_a_gap_that_is_left_is_told(folder):
    rng = random.Random(8)
    lag = [rng.randint(0, 10**9) for _ in range(200)]
    hard = write(folder, {"hard.json": holding(lag, {f"m{i}": [] for i in range(63)})})
    asked = ("solve", "hard.json", "--objective", "balance > peak_lag", "--time-limit", "0.05")
    table = good(assay(*asked, cwd=hard)).stdout
    assert document_of(good(assay(*asked, *AS_JSON, cwd=hard)))["status"] == "feasible"
    row = next(line for line in table.splitlines() if line.startswith("peak_lag "))
    value, bound = (int(number.replace(",", "")) for number in row.split()[1:3])
    share = f"{100 * (value - bound) / value:.2g}"
    assert f"Not proved: the best may have up to {share}% less." in table
    assert re.search(r"^member +now +best found ", table, re.MULTILINE)


def test_an_objective_about_lag_has_one_optimum_in_sentence_members_table_and_gate():
    asked = ("--objective", "peak_lag > stickiness", "--fail-above", "peak_lag=276")
    ran = assay("score", ALL_GROUPS, "--group", "kpr-c", "--assume-equal", *ALONE, *asked)
    gate, *lines = ran.stdout.splitlines()
    assert gate == (
        "kpr-c (peak_lag +482, and 453 whoever reads what, if consumers start at the end) fails "
        "--fail-above peak_lag=276."
    )
    assert lines[0] == (
        "kpr-c: improvable if all members read the same topics. "
        "Moving 4 of 14 partitions lowers peak_lag by 482."
    )
    assert (
        "900 of lag if all members read the same topics, and no less: 482 less than now. "
        in lines[3]
    )
    assert cells(lines, "kpr-1")[2:6] == ["5", "3", "243", "900"]
    assert cells(lines, "current")[4] == "1,382 (+482)"
    assert ran.returncode == 1
    assert ran.stderr.splitlines()[-1] == (
        "assay: kpr-c: current: peak_lag exceeds the optimum by 482, and 453 whoever reads what, "
        "more than 276, if consumers start at the end"
    )


def test_where_moves_are_for_balance_and_lag_both_are_named():
    asked = ("--assume-equal", *ALONE, "--objective", "balance > peak_lag")
    lines = assay("score", ALL_GROUPS, "--group", "kpr-c", *asked).stdout.splitlines()
    lag = "gives everyone 7 and takes the lag of the busiest member from 1,382 to 903; now kpr-0-"
    assert f" Moving 6 of 14 partitions {lag}" in lines[0]
    assert "2 moves are enough for loads as even; the others are for less lag." in lines


def test_an_invalid_plan_has_no_peak_lag_to_be_compared(folder):
    write(folder, {"half.json": {"a": {"t": [0, 1]}, "b": {"t": [4, 5]}}})
    asked = ("score", "late.json", "--plan", "half.json")
    lines = assay(*asked, cwd=folder).stdout.splitlines()
    assert cells(lines, "half +")[-2] == "-"
    document = document_of(assay(*asked, *AS_JSON, cwd=folder))
    (row,) = [row for row in document["scores"] if row["assignor"] == "half"]
    assert (row["valid"], row["peak_lag"], row["catch_up_seconds"]) == (False, None, None)


def test_lags_too_large_to_be_compared_are_said_to_be(folder):
    lag = [2**63 - 1, 2**62, 0, 0, 0, 0]
    vast = LATE | {"group": "vast", "topics": {"t": {"partitions": 6, "lag": lag}}}
    write(folder, {"vast.json": vast})
    said = "peak lag: not compared for 'vast', whose lag adds up to 2^62 records or more"
    for files in (["vast.json"], ["vast.json", "late.json"]):
        lines = good(assay("score", *files, *ALONE, cwd=folder)).stdout.splitlines()
        assert lines.count(said) == 1


def test_where_loads_are_uneven_now_the_lowest_peak_of_even_ones_may_be_higher(folder):
    topics = {"t": {"partitions": 4, "lag": [9, 2, 2, 2]}}
    held = {"a": {"subscription": ["t"], "owned": {"t": [0]}}}
    held |= {"b": {"subscription": ["t"], "owned": {"t": [1, 2, 3]}}}
    write(folder, {"one.json": LATE | {"group": "one", "topics": topics, "members": held}})
    ran = good(assay("solve", "one.json", "--only-if-peak-falls", "10%", cwd=folder))
    assert ran.stdout.splitlines() == [
        "one: leave it alone: the peak lag is 9 now, the lowest possible with balanced loads is "
        "11: 22% higher, and 8 was asked for."
    ]


def test_a_group_is_left_alone_or_as_little_is_moved_as_makes_the_peak_fall_enough(said):
    assert said["time"] == [
        "late: leave it alone: the time to catch up is 2 min now, the lowest possible with "
        "balanced loads is 1 min 10 s: 42% lower, and 12 s was asked for."
    ]
    lines = said["some"]
    assert lines[0] == (
        "late: 1 move brings the peak lag from 1,200 to 700: 42% lower. Fewer are not enough."
    )
    assert lines[-2:] == ["moves:", "  1 from a to b: t: 0"]
    assert said["free"][0].startswith(
        "late: 2 moves bring the peak lag from 1,200 to 660: 45% lower."
    )


def test_what_more_readers_could_have_bounds_the_least_lag_of_an_objective_about_lag():
    """929 was called the least, whoever reads what, where 903 is had if all read alike."""
    asked = ("score", ALL_GROUPS, "--group", "kpr-c", *ALONE, "--objective", "balance > peak_lag")
    lag = document_of(assay(*asked, *AS_JSON))["lag"]
    assert (lag["lowest"], lag["bound"]) == (929, 903)
    assert "929 of lag or less, whoever reads what: at least 453 less" in assay(*asked).stdout
    equal = document_of(assay(*asked, "--assume-equal", *AS_JSON))["lag"]
    assert (equal["lowest"], equal["bound"]) == (903, 903)
