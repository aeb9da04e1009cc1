"""Streams by the published recipe, and what their rules are held against."""

from itertools import pairwise
from pathlib import Path

from compare.samples.streams import speeds
from heuristics.any_fit import RULES
from studies import elastic
from studies.page import read, write

DATA = read(Path(__file__).parents[2] / "docs" / "findings" / "elastic.csv")


def test_a_stream_starts_anywhere_and_changes_by_delta_at_most_within_its_ends():
    stream = list(speeds(40, 15, 60, seed=3))
    assert stream == list(speeds(40, 15, 60, seed=3)) != list(speeds(40, 15, 60, seed=4))
    assert len(stream) == 60
    for before, after in pairwise(stream):
        changes = [new - old for old, new in zip(before, after, strict=True)]
        assert -15 <= min(changes) < max(changes) <= 15
        assert 0 <= min(after) <= max(after) <= 100
    seen = {speed for now in stream for speed in now}
    assert {0, 100} <= seen
    assert len(set(speeds(9, 0, 5, seed=1))) == 1


def test_no_rule_has_fewer_members_or_moves_less_than_the_optimum(tmp_path):
    write(tmp_path / "elastic.csv", elastic.played(32, 10, 4))
    played = read(tmp_path / "elastic.csv")
    assert [row["name"] for row in played] == [*RULES, elastic.FEWEST, elastic.AS_MANY]
    for row in [*played, *DATA]:
        assert float(row["members_over_fewest"]) >= 0
        if row["asked"] != "0":
            assert float(row["least_r_score"]) <= float(row["r_score_asked"])
    made = elastic.page_of(played).splitlines()
    assert made[0] == "### 32 partitions, 4 steps"
    assert made[-1].startswith("Proved: ")


def test_the_data_has_every_stream_with_every_rule():
    asked = [
        (str(partitions), str(delta), str(elastic.STEPS))
        for partitions in elastic.PARTITIONS
        for delta in elastic.DELTAS
    ]
    found = [(row["partitions"], row["delta"], row["steps"]) for row in DATA]
    assert list(dict.fromkeys(found)) == asked
    assert len(DATA) == len(asked) * (len(RULES) + 2)
