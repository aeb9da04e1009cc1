from compare.over_groups import NotScored, in_a_line, unscored_of
from compare.scores import Score


def refused(assignor, reason):
    return Score(assignor, "refused", reason)


def test_a_row_stands_for_all_groups_and_has_the_reason_of_most_of_them():
    rows = [refused("a", f"the lag of t{n % 2}-0 is unknown") for n in range(5)]
    assert unscored_of(rows) == (NotScored(("a",), 5, "refused", "the lag of t0-0 is unknown"),)


def test_assignors_that_fare_alike_share_a_row():
    rows = [refused(name, "subscriptions differ") for name in "abc"]
    late = Score("b", "timed-out", "no answer within 1 s")
    first, second = unscored_of([*rows, late])
    assert (first.assignors, first.names) == (("a", "b", "c"), "a and 2 more")
    assert second == NotScored(("b",), 1, "timed-out", "no answer within 1 s")
    assert in_a_line([first, second]) == "3 assignors are not scored on every group:"
    assert in_a_line([second]) == "1 assignor is not scored on every group:"


def test_what_is_scored_everywhere_has_no_row():
    assert unscored_of([Score("a", "scored")]) == ()
