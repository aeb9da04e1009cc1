from compare.lags import most_lag, peak_lag
from groups import Assignment, Group


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


def test_lags_beyond_64_bits_together_are_added_up_all_the_same():
    held = holding([2**62, 2**62, 2**62], {"a": [0, 1, 2], "b": []})
    assert peak_lag(held) == 3 * 2**62


def test_nothing_is_said_where_no_lag_is_known_or_nobody_is_behind():
    assert most_lag(holding([None, None], {"a": [0, 1]})) == ""
    assert most_lag(holding([0, 0], {"a": [0], "b": [1]})) == ""
    assert peak_lag(holding([0, 0], {"a": [0], "b": [1]})) == 0
