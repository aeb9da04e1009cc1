from dataclasses import replace

from assay import Group, frontier
from assay.commands.frontier import show_frontier
from assay.commands.options import Asked
from optimal.frontier import Frontier
from optimal.proof import ProofKind
from tests.assay.calling import (
    ALONE,
    AS_JSON,
    EVEN,
    LATE,
    LOPSIDED,
    assay,
    document_of,
    good,
    write,
)
from tests.compare.conftest import holding

# c0 owns all of t0, which all read, and all of t1, which only it and c1 read.
KNEED = {
    "format": "assay-group/1",
    "group": "kneed",
    "topics": {"t0": 6, "t1": 2},
    "members": {
        "c0": {"subscription": ["t0", "t1"], "owned": {"t0": [0, 1, 2, 3, 4, 5], "t1": [0, 1]}},
        "c1": {"subscription": ["t0", "t1"]},
        "c2": {"subscription": ["t1"]},
    },
}


def test_the_knee_is_marked_in_the_table_and_in_json(tmp_path):
    asked = ("frontier", write(tmp_path, {"k.json": KNEED}) / "k.json", "balance", "stickiness")
    run = good(assay(*asked))
    document = document_of(good(assay(*asked, *AS_JSON)))
    found = [tuple(point["values"]) for point in document["points"]]
    assert all(point["proved"] and point["complete"] for point in document["points"])
    assert all(point["bounds"] == point["values"] for point in document["points"])
    assert found == [(2, 5), (4, 4), (8, 3), (10, 2), (14, 1), (16, 0)]
    # At the knee 2 of 14 of the balance and 4 of 5 moves are still to be paid.
    assert document["knee"] == 1
    lines = run.stdout.splitlines()
    assert lines[0] == (
        "kneed: balance 16 for 0 moves, 2 for 5 moves. 4 moves give 86% of what 5 would."
    )
    assert lines[6].split() == ["4", "4", "2-4", "86%", "knee", "certificate"]
    assert not any("knee " in line for line in lines[:6] + lines[7:])


def test_where_nothing_is_to_trade_one_line_says_so(folder):
    run = good(assay("frontier", folder / "even.json", "balance", "stickiness"))
    assert run.stdout == (
        "even: nothing to trade, one assignment is best in both: balance 0, moves 0\n"
    )


def test_partitions_without_an_owner_are_told_by_whatever_looks_at_the_group(folder):
    left = holding([1, 2, 3, 900], {"a": [0, 1], "b": [2]}, group="orders")
    write(folder, {"left.json": left})
    nobody = LOPSIDED | {"members": {}}
    asked = ("frontier", "nobody.json", "balance", "stickiness")
    said = good(assay(*asked, cwd=write(folder, {"nobody.json": nobody}))).stdout
    assert said == "orders: no members, so there is nothing to trade.\n"
    without = "1 partition has no owner: t-3; 900 records wait there."
    scored = assay("score", "left.json", *ALONE, cwd=folder)
    assert without in good(scored).stdout
    for asked in (
        ("frontier", "left.json", "balance", "stickiness"),
        ("size", "left.json", "--target", "balance=0"),
        ("size", "left.json", "--threads", "2"),
        ("explain", "left.json"),
    ):
        said = good(assay(*asked, cwd=folder)).stdout
        assert f"orders: what the members hold is not valid: {without}\n" in said


def test_one_assignment_that_is_not_proved_is_the_best_found(capsys):
    group, tiers = Group.from_dict(EVEN), ("balance", "stickiness")
    (point,) = frontier(group, *tiers)
    open_ = replace(point, second_bound=None, proof=ProofKind.NONE)
    asked = Asked(sources=["even.json"], group=None)
    show_frontier(group, tiers, Frontier([open_], "the time was up: there may be others"), asked)
    assert capsys.readouterr().out == (
        "even: one assignment is the best found in both: balance 0, moves 0\n"
        "Not all points: the time was up: there may be others; --time-limit gives more.\n"
    )


def test_fewer_points_are_said_to_be_fewer(folder):
    run = good(assay("frontier", folder / "orders.json", "balance", "stickiness", "--points", "2"))
    lines = run.stdout.splitlines()
    assert [line.split()[0] for line in lines[2:4]] == ["0", "2"]
    assert lines[5] == (
        "Not all points: at most 2 points were asked for: there may be others between them; "
        "--points gives more."
    )


def test_moves_against_the_peak_say_with_a_rate_how_long_catching_up_takes(tmp_path):
    """docs/how-to/plan-with-lag.md shows the table without a rate."""
    path = write(tmp_path, {"late.json": LATE}) / "late.json"
    # moves is how the tables call stickiness.
    lines = good(assay("frontier", path, "moves", "peak_lag", "--rate", "10")).stdout.splitlines()
    assert lines[1].split() == [
        "moves", "peak_lag", "catch-up", "loads", "balance", "per", "move", "gain", "proof",
    ]  # fmt: skip
    rows = [line.split() for line in lines[2:5]]
    assert rows[0][:8] == ["0", "1,200", "2", "min", "2-4", "2", "(+2)", "-"]
    assert rows[1][:9] == ["1", "700", "1", "min", "10", "s", "3", "0", "500"]
    assert rows[2][:9] == ["2", "660", "1", "min", "6", "s", "2-4", "2", "(+2)"]
    said = "knee: up to here peak_lag falls by more than in proportion to moves, then by less"
    assert lines[5] == said
    assert f"assay solve {path} --rate 10 --objective 'balance > peak_lag > moves'" in lines[9]
    run = good(assay("frontier", path, "stickiness", "peak_lag", "--rate", "10", *AS_JSON))
    points = document_of(run)["points"]
    assert [point["gain_per_move"] for point in points] == [None, 500, 40]
    assert [point["balance"] for point in points] == [2, 0, 2]
    assert document_of(run)["best_balance"] == 0
    assert [point["catch_up_seconds"] for point in points] == [120, 70, 66]
