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


@pytest.mark.parametrize(
    ("what", "amounts", "held", "first", "found", "because"),
    [
        pytest.param(
            "lag", [90, 5, 4, 3, 2, 1], [[0, 1], [2, 3], [4, 5]], "",
            "At the best the most lag on one member is 90 (c0); now it is 95 (c0).",
            "One partition (t-0) alone has 90 of lag: no assignment can put less on its member, "
            "however many members there are.",
            id="a hot partition",
        ),
        pytest.param(
            "lag", [90, 5, 4, 3, 2, 1], [[0, 1], [2, 3], [4, 5]], "balance > ",
            "At the best the most lag on one member is 91 (c0); now it is 95 (c0).",
            "One partition (t-0) alone has 90 of lag. With even loads its member holds 2 "
            "partitions or more: with one more it has at least 91.",
            id="what its holder has besides where loads are even",
        ),
        pytest.param(
            "lag", [30, 20, 10, 40], [[0, 1, 2, 3], []], "",
            "At the best the most lag on one member is 50 (c0 and 1 more); now it is 100 (c0).",
            "2 members share 100 of lag: one has at least 50.",
            id="the average",
        ),
        pytest.param(
            "lag", [30, 30, 30, 30, 0, 0], [[0, 1], [2, 4], [3, 5]], "",
            "The most lag on one member is 60 (c0).",
            "4 partitions with lag of 30 or more are for 3 members: one holds 2 of them or more, "
            "and has at least 60.",
            id="a crowd of heavy partitions where what is there is the best",
        ),
        pytest.param(
            "weight", [90, 5, 4, 3], [[0, 1], [2, 3]], "",
            "At the best the most weight on one member is 90 (c0); now it is 95 (c0).",
            "One partition (t-0) alone has 90 of weight: no assignment can put less on its "
            "member, however many members there are.",
            id="weights",
        ),
        pytest.param(
            # With a partition that nobody holds the peak would seem to rise to 7.
            "lag", [3, 4], [[0]], "",
            "At the best the most lag on one member is 7 (c0).",
            "1 member reads 7 of lag: it has at least 7.",
            id="nothing is there now if the assignment is not valid",
        ),
    ],
)  # fmt: skip
def test_a_peak_is_said_as_it_is_now_and_at_the_best_and_why_no_less(
    what, amounts, held, first, found, because
):
    made = holding(len(amounts), {f"c{m}": numbers for m, numbers in enumerate(held)})
    topics = {"t": {"partitions": len(amounts), what: amounts}}
    group = Group.from_dict(made | {"topics": topics})
    assert peak_of(explain(solve(group, f"{first}peak_{what}"))) == (found, because)
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
