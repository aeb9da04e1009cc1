from compare.page.comparison import comparison_of, standings
from compare.page.trials import Trial, excesses, trials_csv
from compare.scores import Score, ScoreTerm

TIERS = ("balance", "stickiness")


def scored(assignor: str, *excess, valid: bool = True, seconds: float = 0.01) -> Score:
    terms = tuple(ScoreTerm(t, 5, e) for t, e in zip(TIERS, excess, strict=True))
    return Score(
        assignor, "scored", None, valid, terms=terms, balanced=valid, seconds=seconds, loads=(1,)
    )


def trials(*rows: Score) -> list[Trial]:
    """Each assignor's rows are of groups g0, g1, ... in turn."""
    seen: dict[str, int] = {}
    found = []
    for row in rows:
        number = seen[row.assignor] = seen.get(row.assignor, -1) + 1
        found.append(Trial(f"g{number}", 3, 9, row))
    return found


def test_assignors_that_are_equal_in_everything_share_a_row():
    rows = [scored(n, 0, 0) for n in ("b", "a")] + [scored("c", 2, None)]
    found = standings(trials(*rows), TIERS)
    assert [(s.assignors, s.place, s.tied) for s in found] == [
        (("a", "b"), 1, True),
        (("c",), 3, False),
    ]


def test_assignors_that_are_equal_in_what_counts_for_it_share_a_place():
    rows = [scored("a", 2, None), scored("b", 4, None)]
    found = standings(trials(*rows), TIERS)
    assert [(s.assignors, s.place, s.tied) for s in found] == [
        (("a",), 1, True),
        (("b",), 1, True),
    ]


def test_one_that_covers_fewer_groups_has_no_place_among_those_that_cover_all():
    rows = [scored("most", 0, 0), scored("most", 1, None), scored("most", 1, None)]
    rows += [scored("few", 0, 0), scored("few", 0, 0), Score("few", "refused", "not for it")]
    found = standings(trials(*rows), TIERS)
    assert [(s.assignors, s.place) for s in found] == [(("most",), 1), (("few",), 0)]


def test_what_is_there_now_stands_apart_without_a_place():
    found = standings(trials(scored("current", 4, None), scored("a", 0, 0)), TIERS)
    assert [(s.assignors, s.place) for s in found] == [(("a",), 1), (("current",), 0)]


def test_where_the_optimum_is_not_proved_as_good_as_can_be_is_an_interval():
    rows = trials(scored("a", (0, 3), None), scored("a", 0, 0), scored("a", (1, 3), None))
    (standing,) = standings(rows, TIERS)
    assert (standing.optimal, standing.maybe) == (1, 2)
    ends = [(row["excess"], row["excess_most"]) for row in excesses(rows, "balance")]
    assert ends == [(0, 3), (0, 0), (1, 3)]


def test_a_later_tier_counts_only_those_that_are_equal_before_it():
    (standing,) = standings(trials(scored("a", 0, 4), scored("a", 2, None)), TIERS)
    assert standing.tiers == (("balance", 1, 2, 2), ("stickiness", 1, 1, 4))


def test_nothing_is_compared_or_drawn_where_no_assignor_gave_anything():
    assert comparison_of([], TIERS) is None
    assert comparison_of(trials(scored("current", 0, 0)), TIERS) is None
    assert comparison_of(trials(Score("a", "refused", "no")), TIERS) is None


def test_a_figure_without_rows_is_not_drawn():
    found = comparison_of(trials(scored("a", None, None, valid=False, seconds=0.0)), TIERS)
    assert found is not None
    assert found.drawings == ()


def test_what_was_not_scored_has_its_reason_and_stands_in_the_data():
    rows = trials(scored("a", 0, 0), Score("b", "failed", "it broke"))
    found = comparison_of(rows, TIERS)
    assert found is not None
    assert found.unscored == ((("b",), 1, "failed", "it broke"),)
    assert "g0,3,9,b,failed" in trials_csv(rows, TIERS)


def test_of_many_assignors_some_are_drawn_and_those_are_named():
    rows = [scored(f"client{n}/sticky@1", 0, 0) for n in range(12) for _ in range(20)]
    found = comparison_of(trials(*rows), TIERS)
    assert found is not None
    assert len(found.drawn) == len(set(found.drawn)) == 8
    assert [len(one.assignors) for one in found.standings] == [12]


def test_of_few_groups_nothing_is_drawn():
    found = comparison_of(trials(*(scored("a", 0, 0) for _ in range(19))), TIERS)
    assert found is not None
    assert (found.groups, found.drawings, found.drawn) == (19, (), ())
