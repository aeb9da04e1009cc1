from dataclasses import replace

import pytest

from assay import advise
from compare.lag.behind import behind, most_lag, peak_lag, rates_of
from groups import Assignment, BadInput, Group
from groups.columns.member_details import MemberDetails


def holding(lag, owned):
    members = {
        member: {"subscription": ["t"], "owned": {"t": numbers}}
        for member, numbers in owned.items()
    }
    topics = {"t": {"partitions": len(lag), "lag": lag}}
    document = {"format": "assay-group/1", "group": "g", "topics": topics, "members": members}
    return Assignment.current(Group.from_dict(document))


def test_the_member_with_most_lag_is_named_with_its_share():
    held = holding([1000, 1, 2, 3], {"a": [1, 2, 3], "b": [0]})
    assert most_lag(held) == "Most lag: b with 1,000 of 1,006 records."
    assert peak_lag(held) == 1000


def test_an_unknown_lag_is_told_and_counts_for_nobody():
    held = holding([5, None, 7, None], {"a": [0, 1], "b": [2, 3]})
    assert most_lag(held) == (
        "Most lag: b with 7 of 12 records. The lag of 2 partitions is unknown."
    )
    assert peak_lag(held) is None


def test_partitions_without_an_owner_count_in_all_that_lags_as_in_advice():
    held = holding([5, 5, 2], {"a": [0], "b": [2]})
    assert most_lag(held) == "Most lag: a with 5 of 12 records."
    assert advise(held.group, assignors=()).total == 12


def test_lags_beyond_64_bits_together_are_added_up_all_the_same():
    held = holding([2**62, 2**62, 2**62], {"a": [0, 1, 2], "b": []})
    assert peak_lag(held) == 3 * 2**62


def test_nothing_is_said_where_no_lag_is_known_or_nobody_is_behind():
    assert most_lag(holding([None, None], {"a": [0, 1]})) == ""
    assert most_lag(holding([0, 0], {"a": [0], "b": [1]})) == ""
    assert peak_lag(holding([0, 0], {"a": [0], "b": [1]})) == 0


def test_the_slowest_to_catch_up_is_named_where_all_rates_are_known():
    held = holding([1000, 900], {"a": [0], "b": [1]})
    slow = replace(held.group, details=(MemberDetails(capacity=100), MemberDetails(capacity=10)))
    assert most_lag(Assignment.current(slow)) == (
        "Most lag: a with 1,000 of 1,900 records. Longest to catch up: b with 1 min 30 s."
    )
    half = replace(held.group, details=(MemberDetails(capacity=100), MemberDetails()))
    assert behind(Assignment.current(half)).longest is None
    assert "catch up" not in most_lag(Assignment.current(half))


def test_who_is_not_behind_needs_no_rate_and_seconds_are_rounded_up():
    held = holding([101, 0], {"a": [0], "b": [1]})
    half = replace(held.group, details=(MemberDetails(capacity=100), MemberDetails()))
    assert behind(Assignment.current(half)).seconds == (2, 0)


def test_a_rate_is_for_those_without_a_capacity():
    group = holding([1, 2], {"a": [0], "b": [1]}).group
    mixed = replace(group, details=(MemberDetails(capacity=7, host="h"), MemberDetails()))
    assert rates_of(group) == (None, None)
    assert rates_of(group.with_rate(5)) == (5, 5)
    assert rates_of(mixed.with_rate(5)) == (7, 5)
    assert mixed.with_rate(5).details[0] == mixed.details[0]
    for bad in (0, -1, 2**63):
        with pytest.raises(BadInput, match=f"rate: {bad}, expected 1 or more records a second"):
            group.with_rate(bad)
