"""The tables that figures draw say what assignments and scores say."""

from functools import partial
from operator import itemgetter

import numpy as np
import pytest

from assay import (
    Assignment,
    BadInput,
    Group,
    Score,
    ScoreTerm,
    assign,
    figures,
    fleet,
    frontier,
    judge,
    read_groups,
    score,
    score_assignors,
    solve,
)
from compare.samples.families import Family
from tests.compare.conftest import snapshot

CAPTURES, NAMES = "corpus/captures/3.6.2", ["range", "kip-54-sticky"]
DOCUMENT = snapshot(
    "orders",
    {
        "t0": {"partitions": 4, "lag": [10, 20, None, 40]},
        "t1": {"partitions": 2, "lag": [1, 2]},
    },
    {
        "c0": {"subscription": ["t0", "t1"], "owned": {"t0": [0, 1, 2, 3], "t1": [0]}},
        "c1": {"subscription": ["t0", "t1"], "owned": {"t1": [1]}},
        "c2": {"subscription": ["t0"]},
    },
)


EACH_TABLE = pytest.mark.parametrize(
    "made", [figures.excess_table, figures.shares_table, figures.seconds_table]
)


@pytest.fixture(scope="module")
def group():
    return Group.from_dict(DOCUMENT)


@pytest.fixture(scope="module")
def best(group):
    return solve(group)


def test_loads_add_up_to_what_each_member_holds(group, best):
    others = {"range": assign(group, "range")}
    rows = figures.loads_table(group, best, others)
    every = {"now": Assignment.current(group), **others, "best": best.assignment}
    assert list(dict.fromkeys(row["whose"] for row in rows)) == list(every)
    for whose, assignment in every.items():
        for member, load in zip(group.members, assignment.loads.tolist(), strict=True):
            held = [r for r in rows if (r["whose"], r["member"]) == (whose, member)]
            assert sum(row["partitions"] for row in held) == load


def test_the_floor_of_loads_is_the_greatest_load_of_a_proved_balance(group, best):
    assert figures.loads_floor(best) == 2 == best.assignment.loads.max()
    assert figures.loads_floor(solve(group, "stickiness > balance")) is None
    assert figures.loads_floor(solve(group, "balance", at_most={"stickiness": 0})) is None


def test_moves_are_those_of_the_best_assignment(group, best):
    rows = figures.moves_table(best)
    assert sum(row["partitions"] for row in rows) == len(best.assignment.moved) == 3
    assert rows == figures.moves_table(best.assignment)
    assert figures.moves_table(Assignment.current(group)) == []


def test_lag_counts_what_is_known_and_says_how_much_is_not(group):
    rows = figures.lag_table(group)
    assert rows == [
        {"member": "c0", "whose": "now", "records": 71, "unknown": 1},
        {"member": "c1", "whose": "now", "records": 2, "unknown": 0},
        {"member": "c2", "whose": "now", "records": 0, "unknown": 0},
    ]


def test_moves_are_what_is_paid_whichever_tier_comes_first(group):
    for tiers in (("balance", "stickiness"), ("stickiness", "balance")):
        rows = figures.trade_off_table(tiers, frontier(group, *tiers))
        assert [row["paid"] for row in rows] == [0, 1, 2, 3]
        assert all(np.diff([row["bought"] for row in rows]) < 0)
        assert all(row["proved"] and row["bound"] == row["bought"] for row in rows)


def test_a_group_of_nobody_has_no_rows():
    group = Group.from_dict(DOCUMENT | {"members": {}})
    assert figures.loads_table(group, solve(group)) == []
    assert figures.lag_table(group, solve(group)) == []


def test_costs_are_those_of_the_scores_and_last_of_the_best(group, best):
    rows = figures.costs_table(best, [score(group, assign(group, "range"), best, assignor="r")])
    assert [(row["assignor"], row["tier"]) for row in rows] == [
        ("r", "balance"), ("r", "stickiness"), ("best", "balance"), ("best", "stickiness"),
    ]  # fmt: skip
    assert [row["value"] for row in rows[2:]] == [term.value for term in best.terms]
    assert figures.costs_table(best, [Score("r", "failed", "it broke")]) == rows[2:]


def test_the_floor_of_lag_says_of_which_assignments_it_is_one(group):
    known = group.with_unknown_lag(0)
    assert figures.lag_floor(solve(known, "peak_lag")) == (40, "in every assignment")
    _, among = figures.lag_floor(solve(known, "balance > peak_lag"))
    assert among == "wherever loads are as even as can be,"
    _, among = figures.lag_floor(solve(known, "stickiness > peak_lag"))
    assert among == "wherever moves is at its best,"
    assert figures.lag_floor(solve(known)) is None


def test_a_trend_has_a_row_for_each_capture_that_says_when_it_was(group):
    at = "2026-11-20T10:00:00Z"
    even = {m: {**said, "owned": {}} for m, said in DOCUMENT["members"].items()}
    even["c0"]["owned"], even["c1"]["owned"] = {"t0": [0, 1]}, {"t1": [0, 1]}
    even["c2"]["owned"] = {"t0": [2, 3]}
    documents = [
        DOCUMENT | {"captured_at": at},
        DOCUMENT | {"captured_at": at, "group": "even", "members": even},
        DOCUMENT | {"captured_at": at, "group": "nobody", "members": {}},
        DOCUMENT,
    ]
    judged = judge([Group.from_dict(document) for document in documents])
    assert figures.trend_table(judged, "moves") == [
        {"captured_at": at, "group": "orders", "value": 3},
        {"captured_at": at, "group": "even", "value": 0},
        {"captured_at": at, "group": "nobody", "value": None},
    ]
    first, *_ = figures.trend_table(judged)
    assert first["value"] == judged[0].verdict.at_least == 10


@pytest.fixture(scope="module")
def scored():
    found = []
    for seed in range(3):
        group = Family(4, topics=5, subscriptions="random", event="join-one").group(seed)
        solution = solve(group)
        names = ("range", "kip-54-sticky")
        rows = [score(group, assign(group, n), solution, assignor=n) for n in names]
        found.append((group, [*rows, Score("broken", "failed", "it broke")]))
    return found


def test_shares_count_groups_and_what_was_not_scored(scored):
    rows = {row["assignor"]: row for row in figures.shares_table(scored)}
    assert list(rows) == ["range", "kip-54-sticky", "broken"]
    assert (rows["range"]["groups"], rows["range"]["valid"]) == (3, 3)
    assert rows["range"]["optimal"] == sum(row[0].is_optimal for _, row in scored)
    assert (rows["broken"]["groups"], rows["broken"]["unscored"]) == (0, 3)


def test_excess_is_none_where_there_is_none_and_an_interval_from_0_on_if_not_proved(scored):
    rows = figures.excess_table(scored)
    assert len(rows) == 9
    for row in rows:
        if row["assignor"] == "broken":
            assert row["excess"] is None is row["excess_most"]
        else:
            assert row["excess"] == row["excess_most"] >= 0
    group, _ = scored[0]
    for open_, told in (((-2, 3), (0, 3)), ((1, None), (1, None))):
        row = Score("range", "scored", terms=(ScoreTerm("balance", 5, open_),))
        (found,) = figures.excess_table([(group, [row])])
        assert (found["excess"], found["excess_most"]) == told


def test_seconds_are_of_what_ran(scored):
    assert figures.seconds_table(scored) == []
    group, (row, *_) = scored[0]
    ran = Score("range", "scored", seconds=0.25, terms=row.terms)
    now = Score("current", "scored", seconds=0.25, terms=row.terms)
    (found,) = figures.seconds_table([(group, [ran, now])])
    assert found == {
        "assignor": "range",
        "group": group.name,
        "members": 4,
        "partitions": 40,
        "seconds": 0.25,
    }


@pytest.fixture(scope="module")
def found():
    return fleet.tables(CAPTURES, NAMES, assume_equal=True, processes=1)


@EACH_TABLE
def test_tables_are_made_of_the_scores_of_a_fleet_in_whatever_form_they_come(found, made):
    records = made(found.scores.to_pylist())
    assert records == made(found.scores) == made(found.scores.to_pandas())
    assert {row["assignor"] for row in records} <= {*found.scores["assignor"].to_pylist()}


def test_the_scores_of_a_fleet_say_what_those_of_its_groups_do(found):
    (group,) = (one.with_equal_subscriptions() for one in read_groups(CAPTURES))
    solution = solve(group)
    scores = [(group, score_assignors(group, solution, ["current", *NAMES]))]
    for made in (partial(figures.excess_table, tier="stickiness"), figures.shares_table):
        rows = [sorted(made(one), key=itemgetter("assignor")) for one in (found.scores, scores)]
        assert rows[0] == rows[1]


@EACH_TABLE
def test_what_holds_no_scores_is_refused_in_one_line_that_names_the_shape(found, scored, made):
    one_line = r"^\w+_table: .*, expected pairs of a group and its scores, \[\(group, [^\n]*$"
    wrong = found, found.optima, found.optima.to_pandas(), [rows for _, rows in scored], 3
    for given in wrong:
        with pytest.raises(BadInput, match=one_line):
            made(given)


def test_a_figure_refuses_the_scores_of_a_fleet_in_a_short_line(found):
    for table in (found.scores, found.scores.to_pandas(), found.scores.to_pylist()):
        with pytest.raises(
            BadInput, match=r"^ecdf: no column 'excess', there are: group, "
        ) as error:
            figures.ecdf(table)
        assert len(str(error.value)) < 250
    with pytest.raises(BadInput, match=r"^ecdf: a row is of type Score, expected a DataFrame"):
        figures.ecdf([Score("range", "scored")])
