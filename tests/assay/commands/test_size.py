import json
import shlex
from pathlib import Path

import pytest

from assay.commands.options import budgets_of, limits_of
from tests.assay.calling import assay, document_of, good, one_after_the_other, one_line, write
from tests.compare.conftest import holding

LAGS = [900, 500, 400, 300, 200, 100]
GROUP = holding(LAGS, {"a": [], "b": []})
CALLS = {
    "time": ("size", "g.json", "--target", "peak_time=2m", "--rate", "10", "--members", "1-8"),
    "never": ("size", "g.json", "--target", "peak_lag=899"),
    "slow": ("size", "g.json", "--target", "peak_time=89", "--rate", "10", "--members", "4-9"),
    "uneven": ("size", "hot.json", "--target", "peak_lag=1000"),
    "uneven json": ("size", "hot.json", "--target", "peak_lag=1000", "--format", "json"),
    "free": ("size", "hot.json", "--target", "peak_lag=1000", "--objective", "peak_lag"),
    "plain": ("size", "g.json", "--members", "3"),
    "first": ("size", "g.json", "--members", "3-4", "--target", "peak_load=2"),
    "digits": ("size", "g.json", "--target", "peak_time=2m", "--rate", "1,000", "--members=1-2"),
    "far": ("size", "counts.json", "--target", "peak_load=3"),
    "nought": ("size", "counts.json", "--target", "peak_load=0"),
    "near": ("size", "counts.json", "--target", "peak_load=3", "--members", "5-7"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    unknown = {m: {"owned": {"t": [k]}} for k, m in enumerate("ab")} | {"c": {}, "d": {}}
    files = {
        "g.json": GROUP,
        "hot.json": holding([900, *[300] * 5], {"a": [], "b": [], "c": []}),
        "counts.json": GROUP | {"topics": {"t": 60}},
        "unknown.json": GROUP | {"members": {"a": {"owned": {"t": [0]}}, "b": {}}},
        "late.json": holding(LAGS, {"a": [0, 1, 2], "b": [3, 4, 5]}),
        "idle.json": GROUP | {"members": unknown},
    }
    return write(tmp_path_factory.mktemp("size"), files)


@pytest.fixture(scope="module")
def said(folder) -> dict:
    runs = one_after_the_other(CALLS, folder)
    return {name: good(run).stdout.splitlines() for name, run in runs.items()}


def test_how_many_are_enough_comes_first_with_why_fewer_are_not(said):
    assert said["time"][:4] == [
        "g: 6 partitions, 2 members now. 2 members are enough to catch up within 2 min with "
        "balanced loads; with 1 it is 4 min, and with 3 it is 1 min 40 s.",
        "Each partition belongs to one member: of more than 6 members some hold none.",
        "One partition (t-0) alone has 900 of lag, however many members there are. A faster "
        "consumer lowers that, and more partitions of the topic do for new records.",
        "New members read what the others read: 1 topic.",
    ]


def test_where_the_members_of_now_need_another_assignment_the_command_for_it_is_said_and_runs(
    folder,
):
    asked = ("size", "late.json", "--target", "peak_time=2m", "--rate", "10")
    first, *rows = good(assay(*asked, cwd=folder)).stdout.splitlines()
    assert first.endswith(
        "The 2 members of now need another assignment for that: as assigned, the time to catch "
        "up is 3 min. 2 moves are enough. assay solve late.json --group g --rate 10 "
        "--objective 'balance > moves' --at-most peak_time=120 prints who gives what to whom."
    )
    assert rows[0].startswith("Who makes the moves: ")
    assert rows[6].endswith(
        "now (time to catch up is 3 min as assigned), enough if the assignor looks at lag"
    )
    command = shlex.split(
        first.rpartition("assay ")[2].removesuffix(" prints who gives what to whom.")
    )
    solved = good(assay(*command, cwd=folder))
    assert ["moves", "2", "2"] in [line.split() for line in solved.stdout.splitlines()]


def test_the_fewest_moves_to_a_target_are_said_also_where_a_member_has_to_join(folder):
    asked = ("size", "late.json", "--target")
    joins, *_ = good(assay(*asked, "peak_lag=1000", cwd=folder)).stdout.splitlines()
    assert (
        "With 1 more member, 2 moves are enough. If loads may be uneven, 1 move is enough."
        in joins
    )
    load, *_ = good(assay(*asked, "peak_load=3", cwd=folder)).stdout.splitlines()
    assert "moves" not in load


def test_fewer_members_that_would_do_with_uneven_loads_are_named(said):
    assert said["uneven"][0].endswith(
        "4 members are enough for a peak lag of at most 1,000 with balanced loads; with 3 it is "
        "1,200, and 5 do not lower it. 3 would do if loads may be uneven: --objective peak_lag."
    )
    assert said["free"][0].endswith(
        "3 members are enough for a peak lag of at most 1,000; with 2 it is 1,200, and 4 do not "
        "lower it."
    )
    found = json.loads(said["uneven json"][0])
    assert (found["smallest"], found["smallest_uneven"]) == (4, 3)


def test_a_row_a_number_says_who_is_idle_and_where_one_more_does_not_help(said):
    rows = [line.split() for line in said["time"][5:13]]
    assert said["time"][4].split() == ["members", "loads", "balance", "peak", "lag", "catch-up"]
    assert rows[0] == ["1", "6", "0", "2,400", "4", "min"]
    assert rows[1] == ["2", "3", "0", "1,200", "2", "min", "as", "many", "as", "now,", "enough"]
    assert rows[3][:3] == ["4", "1-2", "4"]
    assert rows[4][-5:] == ["no", "less", "than", "with", "4"]
    assert rows[7][-2:] == ["2", "idle"]
    assert said["time"][-1] == (
        "each row: the best assignment of so many members, balance > peak_lag; what Kafka's "
        "assignors make may have more, as none looks at lag"
    )


def test_a_target_that_one_partition_alone_is_above_is_said_to_be_out_of_reach(said):
    assert said["never"][0].endswith(
        "No number of members is enough for a peak lag of at most 899."
    )
    assert said["slow"][0].endswith(
        "No number from 4 to 9 is enough to catch up within 1 min 29 s with balanced loads; "
        "others were not tried. The least found is 1 min 30 s."
    )


def test_an_option_takes_numbers_as_answers_print_them(folder, said):
    asked = ("size", "g.json", "--target", "peak_time=2m", "--members=1-2")
    for rate in (("--rate=1,000",), ("--rate", "1k"), ("--rate", "1000")):
        assert good(assay(*asked, *rate, cwd=folder)).stdout.splitlines() == said["digits"]
    assert limits_of(["peak_lag=1,382"], ["peak_lag"]) == {"peak_lag": 1382}
    assert budgets_of(["moved_weight=1,382"]) == {"moved_weight": 1382}


def test_the_first_number_looked_at_is_said_to_be_that(said):
    assert said["first"][0].endswith(
        "3 members are enough for a greatest load of at most 2; fewer than 3 were not tried."
    )
    assert said["plain"][0] == (
        "g: 6 partitions, 2 members now. With 3 members at their best assignment the busiest has "
        "1,000 of lag; larger numbers were not tried."
    )


def test_what_larger_numbers_gain_is_said_of_those_tried(tmp_path):
    """20 members would have 2 of 40 partitions each; 12 have 4, as 10 have."""
    held = {
        m: {"subscription": ["t"], "owned": {"t": [i, i + 1]}} for m, i in (("a", 0), ("b", 2))
    }
    lag = [40, 30, 20, 10]
    groups = {
        "forty.json": {"topics": {"t": 40}, "members": {"a": held["a"], "b": held["b"]}},
        "lag.json": {"topics": {"t": {"partitions": 4, "lag": lag}}, "members": held},
        "none.json": {"topics": {"t": {"partitions": 4, "lag": [0] * 4}}, "members": held},
    }
    write(tmp_path, {n: {"format": "assay-group/1", "group": "g"} | g for n, g in groups.items()})
    line = assay("size", "forty.json", cwd=tmp_path).stdout.splitlines()[1]
    assert line.endswith("has 4 partitions; no larger number tried, up to 12, lowers that.")
    line = assay("size", "none.json", cwd=tmp_path).stdout.splitlines()[0]
    assert "With 4 members at their best assignment the busiest has 1 partition; more" in line
    rows = good(assay("size", "none.json", "--target", "load_spread=0", cwd=tmp_path)).stdout
    assert ["4", "1", "0", "0", "0", "s", "enough"] in [one.split() for one in rows.splitlines()]
    line = assay("size", "lag.json", cwd=tmp_path).stdout.splitlines()[0]
    assert line == (
        "g: 4 partitions, 2 members now. With 3 members at their best assignment the busiest has "
        "40 of lag; more do not lower that. As 2 members are assigned now, the busiest has 70 of "
        "lag; their best assignment has 50. assay solve lag.json --group g --objective 'balance > "
        "peak_lag > moves' prints it."
    )


def test_where_nobody_says_how_far_numbers_go_on_until_one_will_do_or_each_has_one_partition(said):
    answers = [said[name][0].partition("now. ")[2] for name in ("far", "nought", "near")]
    assert [answer.split(" for a greatest load of at most ") for answer in answers] == [
        ["20 members are enough", "3; with 19 it is 4, and 21 do not lower it."],
        ["None of 15 numbers from 1 to 60 is enough", "0. The least found is 1."],
        ["No number from 5 to 7 is enough", "3; others were not tried. The least found is 9."],
    ]


def test_unknown_subscriptions_take_an_assumption_and_say_so(folder):
    asked = ("size", "unknown.json", "--members", "2-3", "--assume-equal", "--format", "json")
    run = assay(*asked, cwd=folder)
    assert run.returncode == 0
    notes = run.stderr.splitlines()
    assert [f"assumed: {line}" for line in document_of(run)["assumed"]] == notes


def test_only_members_that_could_read_in_several_ways_are_unknown(folder):
    """A view that lists idle members leaves known what others read."""
    (refusal,) = one_line(assay("size", folder / "idle.json"), 2).splitlines()
    assert refusal.startswith("members.c.subscription: unknown (and 1 more); ")


def test_size_in_pods_needs_no_file_where_the_number_of_partitions_is_told():
    """docs/how-to/even-out-pods.md shows what it says."""
    said = one_line(assay("size", "--partitions", "24"), 2)
    assert said == "--partitions: with --threads N, and without a file"
    assert "--partitions 24 --threads 4" in one_line(assay("size"), 2)
    more = ("size", "--partitions", "24", "--threads", "4", "--target", "balance=0")
    assert one_line(assay(*more), 2) == "--target: not with --partitions"


def test_size_and_explain_speak_of_tasks_and_threads_of_a_streams_group():
    file = Path(__file__).parents[3] / "docs" / "how-to" / "streams-shop.json"
    for command in ("explain", "size", "solve"):
        said = good(assay(command, file)).stdout
        assert "task" in said
        assert "thread" in said
        assert not any(word in said for word in ("partition", "member", "topic ", "topics"))
    assert "0_3 to 0_5, 1_2 to 1_3" in said
