"""Of a peak it says how much it is now, how much at the best, on whom, and why no less."""

import random
import re

import pytest

from compare.reasons.explanation import explain
from compare.reasons.peak import peak_of
from groups import Group
from optimal import solve
from tests.compare.conftest import holding
from tests.optimal.random_groups import random_group


def group_of(lags: list[int], held: list[list[int]], what: str = "lag") -> Group:
    made = holding(len(lags), {f"c{m}": numbers for m, numbers in enumerate(held)})
    return Group.from_dict(made | {"topics": {"t": {"partitions": len(lags), what: lags}}})


HOT = group_of([90, 5, 4, 3, 2, 1], [[0, 1], [2, 3], [4, 5]])


def said(group: Group, objective: str = "peak_lag") -> tuple[str, str]:
    return peak_of(explain(solve(group, objective)))


def test_a_hot_partition_is_named_with_the_peak_now_and_the_least():
    assert said(HOT) == (
        "At the best the most lag on one member is 90 (c0); now it is 95 (c0).",
        "One partition (t-0) alone has 90 of lag: no assignment can put less on its member, "
        "however many members there are.",
    )


def test_with_even_loads_the_holder_of_the_hot_partition_has_more_to_hold():
    found, because = said(HOT, "balance > peak_lag")
    assert found == "At the best the most lag on one member is 91 (c0); now it is 95 (c0)."
    assert because == (
        "One partition (t-0) alone has 90 of lag. With even loads its member holds 2 partitions "
        "or more: with one more it has at least 91."
    )


def test_an_average_is_counted_out():
    group = group_of([30, 20, 10, 40], [[0, 1, 2, 3], []])
    found, because = said(group)
    assert found == (
        "At the best the most lag on one member is 50 (c0 and 1 more); now it is 100 (c0)."
    )
    assert because == "2 members share 100 of lag: one has at least 50."


def test_a_crowd_of_heavy_partitions_is_counted_out_and_what_is_there_is_called_that():
    group = group_of([30, 30, 30, 30, 0, 0], [[0, 1], [2, 4], [3, 5]])
    assert said(group) == (
        "The most lag on one member is 60 (c0).",
        "4 partitions with lag of 30 or more are for 3 members: one holds 2 of them or more, and "
        "has at least 60.",
    )


def test_weights_are_said_as_lags_are_and_other_objectives_have_no_peak():
    group = group_of([90, 5, 4, 3], [[0, 1], [2, 3]], "weight")
    found, because = said(group, "peak_weight")
    assert found == "At the best the most weight on one member is 90 (c0); now it is 95 (c0)."
    assert because.startswith("One partition (t-0) alone has 90 of weight")
    assert peak_of(explain(solve(group, "balance"))) == ("", "")


@pytest.mark.parametrize("objective", ["peak_lag", "balance > peak_lag", "stickiness > peak_lag"])
def test_what_is_said_to_be_at_least_is_the_least_peak(objective):
    rng, reasons = random.Random(objective), 0
    for _ in range(25):
        group = random_group(rng, members=rng.randint(2, 3), partitions=rng.randint(3, 7))
        if not group.members or group.lag_records is None:
            continue
        solution = solve(group, objective)
        found, because = peak_of(explain(solution))
        peak = next(term.value for term in solution.terms if term.name == "peak_lag")
        assert re.search(rf"is {peak:,} \(", found)
        reasons += bool(because)
        assert not because or f"{peak:,}" in because
    assert reasons >= 5
