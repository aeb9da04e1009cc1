"""How groups went over their captures: who gets steadily worse, and who goes to and fro."""

from itertools import combinations, permutations

import numpy as np
import pytest

from compare.history import LEAST_Z, Capture, Trend, changes_of, sentences_of, trend
from compare.judged import judge
from compare.overview import overview_of
from groups.collection import latest_in
from tests.compare.series import series_of_four, snapshot
from tests.optimal.small_groups import group_of


@pytest.mark.parametrize("values", [[1, 2, 2, 3, 1, 5, 5, 5], [4, 4, 1], [0, 9, 9, 9, 9, 9, 9, 1]])
def test_the_variance_of_the_trend_is_that_over_all_orders_of_the_values(values):
    orders = {*permutations(values)} if len(values) < 8 else None
    if orders is None:
        rng = np.random.default_rng(1)
        orders = [rng.permutation(values) for _ in range(20_000)]
    every = [sum(np.sign(b - a) for a, b in combinations(one, 2)) for one in orders]
    spread = np.sqrt(np.mean(np.square(every)))
    up = sorted(values)
    rises = sum(np.sign(b - a) for a, b in combinations(up, 2))
    assert trend(up) == pytest.approx((rises - 1) / spread, rel=0.03)


def test_what_does_not_change_is_hardly_ever_called_a_trend():
    rng = np.random.default_rng(7)
    seen = sum(trend(rng.integers(0, 50, 20).tolist()) >= LEAST_Z for _ in range(8_000))
    assert seen / 8_000 < 1 / 370


@pytest.mark.parametrize("values", [range(6), [0, 0, 0, 0, 0, 0, 90], [5] * 30, range(40, 0, -1)])
def test_few_captures_one_peak_and_what_gets_better_are_no_trend(values):
    assert trend([*values]) < LEAST_Z


def test_captures_of_which_nothing_is_known_are_passed_over():
    captures = [Capture(f"{hour:02}", "not proved", None, None, None) for hour in range(20)]
    assert changes_of("g", captures) == []
    known = [Capture(f"{hour:02}x", "improvable", "balance", hour, None) for hour in range(7)]
    assert changes_of("g", [*captures, *known]) == [Trend("g", "balance", 0, 6, 7)]


@pytest.mark.parametrize(
    ("values", "change"),
    [
        ([0, 0, 0, 4, 4], Trend("g", "step", 0, 4, 2, "03")),
        ([1, 0, 2, 2, 4], Trend("g", "step", 0, 4, 3, "02")),
        # Once or twice is not steadily, however many captures there are.
        ([0] * 20 + [2] * 20 + [4] * 20, Trend("g", "step", 0, 4, 40, "20")),
        ([0] * 20 + [1] * 20 + [2] * 20 + [4] * 20, Trend("g", "balance", 0, 4, 80)),
        # One capture on a side shows no step, and what comes back is none.
        ([0, 0, 0, 0, 4], None),
        ([0, 4, 4, 4, 4], None),
        ([0, 0, 4, 4, 0], None),
    ],
)
def test_a_step_is_told_with_its_time_and_apart_from_what_gets_steadily_worse(values, change):
    captures = [
        Capture(f"{at:02}", "improvable", "balance", value, 4) for at, value in enumerate(values)
    ]
    assert changes_of("g", captures) == ([] if change is None else [change])
    # Lag that rises in a capture or two does not grow steadily; a step of it is twice as much.
    waiting = [one._replace(at_least=0, lag=one.at_least) for one in captures]
    of_lag = {"balance": ["lag"], "step": ["lag_step"] * (values[0] == 0)}
    kinds = [] if change is None else of_lag[change.what]
    assert [one.what for one in changes_of("g", waiting)] == kinds


def test_the_sentence_on_a_step_says_since_when_and_in_how_many_captures():
    assert sentences_of([Trend("g", "step", 0, 4, 3, "2026-11-20T12:00:00Z")]) == [
        "Balance is worse than before: g from 0 to 4 above the best in all 3 captures since "
        "2026-11-20T12:00:00Z."
    ]
    assert sentences_of([Trend("g", "lag_step", 955, 10_552, 4, "2026-11-20T12:00:00Z")]) == [
        "Total lag is more than twice what it was before: g from 955 to 10,552 records in all 4 "
        "captures since 2026-11-20T12:00:00Z."
    ]


def test_that_a_trend_is_open_is_said_where_who_reads_what_decides_some_captures():
    known = [Capture(f"{hour:02}", "improvable", "balance", hour, None) for hour in range(4)]
    unknown = [
        Capture(f"{hour:02}", "depends on who reads what", None, None, None) for hour in (4, 5)
    ]
    (change,) = changes_of("g", [*known, *unknown])
    assert change == Trend("g", "open", 0, 2, 6)
    assert sentences_of([change]) == [
        "Balance depends on who reads what, so whether it gets worse is open: "
        "g in 2 of 6 captures."
    ]
    assert changes_of("g", unknown) == []
    worse = [Capture(f"x{hour:02}", "improvable", "balance", hour, None) for hour in range(4, 9)]
    assert [one.what for one in changes_of("g", [*known, *unknown, *worse])] == ["balance"]


@pytest.fixture(scope="module")
def judged():
    return judge(series_of_four())


def test_an_overview_is_of_the_latest_capture_and_says_how_groups_went(judged):
    found = overview_of(judged)
    assert found.captured == 40
    assert found.groups == found.now == 4
    assert found.says == {"improvable": 2, "as good as can be": 2}
    assert [one.name for one in found.worst] == ["worse", "flaps", "behind", "healthy"]
    assert {one.captured_at for one in found.worst} == {"2026-11-20T09:00:00Z"}
    assert found.headline() == (
        "4 groups, judged by their latest captures: 2 improvable; 2 as good as can be."
    )
    assert [(one.name, one.to_do) for one in found.attention()[0]] == [
        ("worse", "let an assignor move 4 partitions"),
        ("flaps", "let an assignor move 2 partitions"),
    ]
    assert found.who_moves() == "Who makes the moves: an assignor, at a rebalance."
    assert found.history() == [
        "Balance gets steadily worse: worse from 0 to 16 above the best in 10 captures.",
        "Total lag grows steadily: behind from 1,800 to 18,000 records in 10 captures.",
        "Good, and improvable or not valid, in turns: flaps changed 9 times in 10 captures.",
    ]


def test_the_order_in_which_captures_come_does_not_matter(judged):
    mixed = [judged[at] for at in np.random.default_rng(2).permutation(len(judged))]
    one, other = overview_of(judged), overview_of(mixed)
    assert (one.headline(), one.history()) == (other.headline(), other.history())
    assert one.attention() == other.attention()


def test_captures_without_a_time_all_count_and_have_no_history():
    groups = [snapshot("g", None, [4, 6, 8] if n % 2 else [6, 6, 6]) for n in range(8)]
    found = overview_of(judge(groups))
    assert (found.now, found.groups, found.history()) == (8, 1, [])
    assert found.headline() == "8 captures of 1 group: 4 improvable; 4 as good as can be."
    assert [one.name for one in found.attention()[0]] == ["g"]
    assert latest_in([("a", None), ("a", "2026"), ("b", None), ("b", "2025")]) == [0, 1, 2, 3]
    # Of captures of one time the last that was read counts.
    assert latest_in([("a", "2026"), ("b", "2025"), ("a", "2026"), ("a", "2025")]) == [1, 2]


def test_a_group_whose_captures_without_a_time_have_two_verdicts_needs_attention_once():
    """A group more was said to need attention that is not there."""
    held = [{"m0": {"a": [0, 1, 2]}, "m1": {"a": [3]}}, {"m0": {"a": [0, 1, 2]}, "m1": {"a": [2]}}]
    groups = [group_of({"a": 4}, dict.fromkeys(one), one) for one in held]
    found = overview_of(judge(groups))
    assert found.headline() == "2 captures of 1 group: 1 not valid; 1 improvable."
    assert (len(found.attention()[0]), found.attention()[1]) == (1, 0)
    assert overview_of([]).headline() == "0 groups."


def test_a_sentence_names_three_and_counts_all():
    changes = [Trend(f"g{n}", "lag", 0, 90 - n, 9) for n in range(5)]
    (said,) = sentences_of(changes, {"lag": 70})
    assert said == (
        "Total lag grows steadily: g0 from 0 to 90 records in 9 captures, g1 from 0 to 89 records "
        "in 9 captures, g2 from 0 to 88 records in 9 captures and 67 more."
    )
