from collections import Counter
from dataclasses import replace

import pytest

from compare.over_groups import Standing, standings_of
from compare.page.contents import Comparison
from compare.page.from_groups import compared_of
from compare.scores import Score, ScoreTerm
from groups import Group

TIERS = ("balance", "stickiness")
COOPERATIVE = "kafka-java/cooperative-sticky@4.4.0"


def scored(assignor: str, *excess, valid: bool = True, seconds: float = 0.01) -> Score:
    terms = tuple(ScoreTerm(t, 5, e) for t, e in zip(TIERS, excess, strict=True))
    return Score(
        assignor, "scored", None, valid, terms=terms, balanced=valid, seconds=seconds, loads=(1,)
    )


def compared_if_any(*rows: Score) -> Comparison | None:
    """Compare scores; each assignor's are of groups g0, g1, ... in turn, of 9 partitions each."""
    seen: Counter[str] = Counter()
    scores: dict[int, list[Score]] = {}
    for row in rows:
        scores.setdefault(seen[row.assignor], []).append(row)
        seen[row.assignor] += 1
    document = {"format": "assay-group/1", "topics": {"t": 9}, "members": {"m": {}}}
    groups = [Group.from_dict(document | {"group": f"g{number}"}) for number in scores]
    return compared_of(groups, [*scores.values()], TIERS)


def compared(*rows: Score) -> Comparison:
    found = compared_if_any(*rows)
    assert found is not None
    return found


def standings(*rows: Score) -> tuple[Standing, ...]:
    """Return the standings, which must be the same from columns and from single scores."""
    found = compared(*rows).standings
    assert standings_of(rows, TIERS) == found
    return found


@pytest.mark.parametrize(
    ("rows", "places"),
    [
        # Equal in everything: one row. Equal in what counts for the place: one place.
        ([scored("b", 0, 0), scored("a", 0, 0), scored("c", 2, None)],
         [(("a", "b"), 1, True), (("c",), 3, False)]),
        ([scored("a", 2, None), scored("b", 4, None)], [(("a",), 1, True), (("b",), 1, True)]),
        # One that covers fewer groups has no place among those that cover all.
        ([scored("most", 0, 0), scored("most", 1, None), scored("most", 1, None),
          scored("few", 0, 0), scored("few", 0, 0), Score("few", "refused", "not for it")],
         [(("most",), 1, False), (("few",), 0, False)]),
        # What is there now stands apart, also where it was counted in more groups.
        ([scored("current", 4, None), scored("current", 4, None), scored("a", 0, 0)],
         [(("a",), 1, False), (("current",), 0, False)]),
    ],
)  # fmt: skip
def test_assignors_that_are_equal_share_a_row_or_a_place_and_others_have_none(rows, places):
    assert [(s.assignors, s.place, s.tied) for s in standings(*rows)] == places


def test_a_fact_that_is_not_known_of_a_group_is_neither_counted_nor_left_out():
    rows = [scored("a", 0, 0), replace(scored("a", 0, 0), balanced=None)]
    rows.append(replace(scored("a", None, None, valid=False), balanced=None))
    (one,) = standings(*rows)
    assert (dict(one.counted)["balanced"], one.may_hold("balanced")) == (1, 2)
    assert (dict(one.counted)["valid"], one.may_hold("valid")) == (2, 2)


def test_what_is_known_of_the_best_stands_beside_them():
    best = [scored(name, 0, 0) for name in ("range", COOPERATIVE)]
    assert compared(*best).best == (
        "Of 2 assignors tried, cooperative-sticky 4.4.0 and range are best: as good as can be. "
        "On some groups whose members read different topics, cooperative-sticky "
        "4.4.0 never ends: docs/findings/shipped.md."
    )
    assert "never" not in compared(scored("range", 0, 0), scored(COOPERATIVE, 2, None)).best


def test_where_the_optimum_is_not_proved_as_good_as_can_be_is_an_interval():
    rows = scored("a", (0, 3), None), scored("a", 0, 0), scored("a", (1, 3), None)
    (standing,) = standings(*rows)
    assert (standing.optimal, standing.maybe) == (1, 2)
    assert standing.tiers[0] == ("balance", 1, 3, 1)


def test_a_later_tier_counts_only_those_that_are_equal_before_it():
    (standing,) = standings(scored("a", 0, 4), scored("a", 2, None))
    assert standing.tiers == (("balance", 1, 2, 2), ("stickiness", 1, 1, 4))


def test_nothing_is_compared_or_drawn_where_no_assignor_gave_anything():
    for rows in ([], [scored("current", 0, 0)], [Score("a", "refused", "no")]):
        assert compared_if_any(*rows) is None
    assert compared(scored("a", None, None, valid=False, seconds=0.0)).drawings == ()


def test_what_was_not_scored_has_its_reason_and_stands_in_the_data():
    found = compared(Score("b", "failed", "it broke"), scored("a", 0, 0))
    assert found.unscored == ((("b",), 1, "failed", "it broke"),)
    assert found.data is not None
    head, failed, good = found.data.splitlines()
    assert head.startswith(
        "group,members,partitions,assignor,status,reason,valid,balanced,balance,"
    )
    assert failed.startswith("g0,1,9,b,failed,it broke,,,,,,,")
    assert good.startswith("g0,1,9,a,scored,,True,True,5,0,5,0,")


def test_of_many_assignors_some_are_drawn_and_those_are_named():
    rows = [scored(f"client{n}/sticky@1", 0, 0) for n in range(12) for _ in range(20)]
    found = compared(*rows)
    assert len(found.drawn) == len(set(found.drawn)) == 8
    assert [len(one.assignors) for one in found.standings] == [12]


def test_of_few_groups_nothing_is_drawn():
    found = compared(*(scored("a", 0, 0) for _ in range(19)))
    assert (found.groups, found.drawings, found.drawn) == (19, (), ())
