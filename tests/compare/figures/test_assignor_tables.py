"""The tables of assignors say what the scores say."""

import pytest

from assay import Group, Score, ScoreTerm, assign, figures, score, solve
from compare.samples.families import Family


@pytest.fixture(scope="module")
def scored():
    found = []
    for seed in range(3):
        group = Family(4, topics=5, subscriptions="random", event="join-one").group(seed)
        solution = solve(group)
        names = ("range", "kip-54-sticky")
        rows = [score(group, assign(group, n), solution, assignor=n) for n in names]
        found.append((group, [*rows, Score("broken", "failed", "it broke")]))
    return found


def test_shares_count_groups_and_what_was_not_scored(scored):
    rows = {row["assignor"]: row for row in figures.shares_table(scored)}
    assert list(rows) == ["range", "kip-54-sticky", "broken"]
    assert (rows["range"]["groups"], rows["range"]["valid"]) == (3, 3)
    assert rows["range"]["optimal"] == sum(row[0].is_optimal for _, row in scored)
    assert (rows["broken"]["groups"], rows["broken"]["unscored"]) == (0, 3)


def test_excess_is_none_where_there_is_none(scored):
    rows = figures.excess_table(scored)
    assert len(rows) == 9
    for row in rows:
        if row["assignor"] == "broken":
            assert row["excess"] is None is row["excess_most"]
        else:
            assert row["excess"] == row["excess_most"] >= 0


@pytest.mark.parametrize(("excess", "told"), [((-2, 3), (0, 3)), ((1, None), (1, None))])
def test_an_excess_that_is_not_proved_is_an_interval_from_0_on(excess, told):
    group = Group.from_dict({"format": "assay-group/1", "group": "g", "topics": {}, "members": {}})
    row = Score("range", "scored", terms=(ScoreTerm("balance", 5, excess),))
    (found,) = figures.excess_table([(group, [row])])
    assert (found["excess"], found["excess_most"]) == told


def test_seconds_are_of_what_ran(scored):
    assert figures.seconds_table(scored) == []
    group, (row, *_) = scored[0]
    ran = Score("range", "scored", seconds=0.25, terms=row.terms)
    now = Score("current", "scored", seconds=0.25, terms=row.terms)
    (found,) = figures.seconds_table([(group, [ran, now])])
    assert found == {
        "assignor": "range",
        "group": group.name,
        "members": 4,
        "partitions": 40,
        "seconds": 0.25,
    }
