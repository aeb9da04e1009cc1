import pytest

from compare.over_groups import (
    NotScored,
    Standing,
    best_in,
    in_a_line,
    ranked,
    unscored_of,
    worst_groups,
)
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
    assert unscored_of([Score("a", "scored")]) == ()


def scored(*excess):
    terms = map(ScoreTerm, ("balance", "stickiness"), (9, 9), excess)
    return Score("a", "scored", valid=True, terms=tuple(terms))


def test_the_worst_group_is_furthest_above_in_the_first_tier_that_differs():
    rows = {"x": (2, None), "y": (3, 1), "z": (3, 4), "last": (3, 4), "open": ((1, None), 9)}
    named = [(group, scored(*excess)) for group, excess in rows.items()]
    tiers = ("balance", "stickiness")
    found = worst_groups([*named, ("late", Score("b", "timed-out"))], tiers)
    assert found == {"a": ("z", "balance", 3)}
    assert worst_groups([("x", scored(0, 2)), ("y", scored(0, 1))], tiers) == {
        "a": ("x", "stickiness", 2)
    }
    assert worst_groups([("x", scored(0, 0)), ("y", scored(-1, None))], tiers) == {}


def standing(optimal, maybe=None, *, groups=9, **more):
    counted = (("valid", groups), ("balanced", groups))
    most = optimal if maybe is None else maybe
    return Standing(groups, 0, optimal, most, counted=counted, tiers=(), **more)


def best(**standings):
    return best_in(ranked({name.replace("_", "-"): one for name, one in standings.items()}))


THREE = {name: standing(8) for name in "abc"}
NONE = "No assignor that was tried is as good as can be in any of 9 groups."


@pytest.mark.parametrize(
    ("standings", "said"),
    [
        (THREE | {"d": standing(7), "current": standing(6)},
         "Of 4 assignors tried, a, b and c are best: as good as can be in 8 of 9 groups. "
         "What members hold now is as good in 6."),
        # What is there now is named only if it is of the same groups.
        (THREE | {"d": standing(8), "current": standing(6, groups=10)},
         "Of 4 assignors tried, a, b, c and 1 more are best: as good as can be in 8 of 9 groups."),
        # A rule that nobody can run is named only where it is better.
        ({"kip_54_sticky": standing(9), "range": standing(9)},
         "Of 2 assignors tried, range is best: as good as can be in 9 of 9 groups."),
        ({"kip_54_sticky": standing(9), "range": standing(4)},
         "Of 2 assignors tried, kip-54-sticky is best: as good as can be in 9 of 9 groups."),
        # Where an optimum is not proved, it is told in how many groups at least.
        ({"a": standing(3, 5)}, "a is as good as can be in at least 3 of 9 groups."),
        # None is ever as good as can be, or none gave anything.
        ({"a": standing(0)}, NONE),
        ({"a": standing(0), "b": standing(0)}, NONE),
        ({"a": standing(0, groups=0), "current": standing(4)}, ""),
        ({"current": standing(4)}, ""),
    ],
)  # fmt: skip
def test_the_best_are_named_with_the_groups_in_which_they_are(standings, said):
    assert best(**standings) == said
