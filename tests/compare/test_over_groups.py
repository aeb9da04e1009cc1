from compare.over_groups import NotScored, in_a_line, over_groups, unscored_of
from compare.scores import Score, ScoreTerm


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


def scored(*excess):
    terms = map(ScoreTerm, ("balance", "stickiness"), (9, 9), excess)
    return Score("a", "scored", valid=True, terms=tuple(terms))


def test_over_groups_it_is_told_in_how_many_an_assignor_is_worse_in_each_tier_and_at_worst():
    rows = [scored(0, 2), scored(0, 5), scored(0, 0), scored(4, None), scored((1, 3), None)]
    (found,) = over_groups(rows)
    assert found.worse == {"balance": (1, 4), "stickiness": (2, 5)}


def test_over_groups_nothing_is_told_of_a_tier_where_no_excess_is_known():
    (found,) = over_groups([scored(4, None), scored(2, None)])
    assert found.worse == {"balance": (2, 4), "stickiness": None}
