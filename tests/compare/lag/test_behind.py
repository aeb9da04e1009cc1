from dataclasses import replace

import pytest

from assay import advise
from compare.lag.behind import behind, most_lag, peak_lag, rates_of
from groups import Assignment, BadInput, Group
from groups.columns.places import MemberDetails
from tests.compare.conftest import holding


def held_now(lag, owned, *rates):
    """Return the current assignment of a group with these lags and rates of members."""
    group = Group.from_dict(holding(lag, owned))
    return Assignment.current(
        replace(group, details=tuple(MemberDetails(capacity=rate) for rate in rates))
    )


@pytest.mark.parametrize(
    ("lag", "owned", "said", "peak"),
    [
        ([1000, 1, 2, 3], {"a": [1, 2, 3], "b": [0]},
         "Most lag: b with 1,000 of 1,006 records.", 1000),
        # Unknown lag is mentioned, and counts for no member.
        ([5, None, 7, None], {"a": [0, 1], "b": [2, 3]},
         "Most lag: b with 7 of 12 records. The lag of 2 partitions is unknown.", None),
        # Lag without an owner counts in the total, as in advice.
        ([5, 5, 2], {"a": [0], "b": [2]}, "Most lag: a with 5 of 12 records.", 5),
        ([5, None, 2], {"a": [0], "b": [2]},
         "Most lag: a with 5 of 7 records. The lag of 1 partition is unknown.", 5),
        # Of several members with the most lag the first is named.
        ([5, 5, 2], {"a": [0], "b": [1], "c": [2]},
         "Most lag: a and 1 more, each with 5 of 12 records.", 5),
        # The total needs more than 64 bits.
        ([2**62] * 3, {"a": [0, 1, 2], "b": []},
         f"Most lag: a with {3 * 2**62:,} of {3 * 2**62:,} records.", 3 * 2**62),
        ([None, None], {"a": [0, 1]}, "", None),
        ([0, 0], {"a": [0], "b": [1]}, "", 0),
    ],
)  # fmt: skip
def test_the_member_with_most_lag_is_named_with_its_share(lag, owned, said, peak):
    held = held_now(lag, owned)
    assert (most_lag(held), peak_lag(held)) == (said, peak)
    if held.owner.min() < 0 and None not in lag:
        assert advise(held.group, assignors=()).total == 12


def test_the_slowest_to_catch_up_is_named_where_all_rates_are_known():
    lag, owned = [1000, 900], {"a": [0], "b": [1]}
    assert most_lag(held_now(lag, owned, 100, 10)) == (
        "Most lag: a with 1,000 of 1,900 records. Longest to catch up: b with 1 min 30 s."
    )
    half = held_now(lag, owned, 100, None)
    assert behind(half).longest is None
    assert "catch up" not in most_lag(half)
    # Who is not behind needs no rate, and seconds are rounded up.
    assert behind(held_now([101, 0], {"a": [0], "b": [1]}, 100, None)).seconds == (2, 0)


def test_a_rate_is_for_those_without_a_capacity():
    group = Group.from_dict(holding([1, 2], {"a": [0], "b": [1]}))
    mixed = replace(group, details=(MemberDetails(capacity=7, host="h"), MemberDetails()))
    assert rates_of(group) == (None, None)
    assert rates_of(group.with_rate(5)) == (5, 5)
    assert rates_of(mixed.with_rate(5)) == (7, 5)
    assert mixed.with_rate(5).details[0] == mixed.details[0]
    for bad in (0, -1, 2**63):
        with pytest.raises(BadInput, match=f"rate: {bad}, expected 1 or more records a second"):
            group.with_rate(bad)
