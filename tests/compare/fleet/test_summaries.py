"""The aggregates that Spark makes, held against the same computed plainly from the rows."""

import math
from collections import Counter

import pytest

from compare.fleet.ending import stored_score
from compare.fleet.summaries import (
    EVERY,
    EXACT,
    OTHERS,
    PER_DOUBLING,
    Aggregates,
    digits_between,
    integer_bin_of,
)
from compare.fleet.tables import TABLES, read_table
from compare.judged import judge
from compare.overview import overview_of
from compare.page.aggregated import comparison_in
from compare.page.comparison import comparison_of, standings
from compare.page.from_run import families_apart
from compare.page.trials import Trial, excesses, times
from groups import BadInput
from tests.compare.fleet.stored_groups import groups_of


def bin_of(value: float) -> float:
    return 2 ** (math.ceil(PER_DOUBLING * math.log2(value)) / PER_DOUBLING)


def integer_bin(value: int) -> float:
    return float(value if value <= EXACT else math.floor(bin_of(value)))


OBJECTIVE = "balance > stickiness"
TIERS = ("balance", "stickiness")
FAMILIES = ["in", "in/groups.jsonl", "in/unknown", "in/views"]


@pytest.fixture(scope="module")
def found(spark_runs) -> Aggregates:
    return Aggregates.stored(spark_runs.out, OBJECTIVE)


@pytest.fixture(scope="module")
def trials(spark_runs) -> list[Trial]:
    """Every score of the run, as a row of the page's plain comparison."""
    sizes = read_table(spark_runs.out, "groups").set_index("key")
    return [
        Trial(
            row["group_key"],
            int(sizes.loc[row["group_key"], "n_members"]),
            int(sizes.loc[row["group_key"], "n_partitions"]),
            stored_score(row),
        )
        for row in read_table(spark_runs.out, "scores").to_dict("records")
    ]


@pytest.mark.spark
def test_aggregates_are_bounded_and_of_the_files_that_are_there(spark_runs, found):
    assert found.current
    assert found.families == FAMILIES
    assert set(found.table["objective"].to_pylist()) == {OBJECTIVE}
    assert found.table.schema.equals(TABLES["aggregates"])
    # The first run and the third, which scored one assignor more; the second did nothing.
    assert len([*(spark_runs.out / "aggregates").glob("run=*")]) == 2


@pytest.mark.spark
def test_assignors_stand_as_they_do_when_every_score_is_looked_at(found, trials):
    compared = comparison_in(found, TIERS)
    assert compared.standings == standings(trials, TIERS)
    plain = comparison_of(trials, TIERS)
    assert compared.groups == plain.groups
    assert compared.unscored == plain.unscored
    assert [one.title for one in compared.drawings] == [one.title for one in plain.drawings]


@pytest.mark.spark
@pytest.mark.parametrize("end", ["excess", "excess_most"])
def test_a_distribution_is_exact_at_the_end_of_each_bin(found, trials, end):
    rows = found.rows(end, "assignor", "tier", "x")
    for tier in TIERS:
        plain = Counter(
            (row["assignor"], integer_bin(row[end]))
            for row in excesses(trials, tier)
            if row[end] is not None
        )
        assert {
            (row["assignor"], row["x"]): row["count"] for row in rows if row["tier"] == tier
        } == plain
    assert len({row["x"] for row in rows}) > 3


@pytest.mark.spark
def test_a_performance_profile_counts_how_many_times_the_fastest_each_took(found, trials):
    took = times(trials)
    least: dict[str, float] = {}
    for row in took:
        least[row["group"]] = min(row["seconds"], least.get(row["group"], row["seconds"]))
    plain = Counter(
        (row["assignor"], round(bin_of(row["seconds"] / least[row["group"]]), 9)) for row in took
    )
    told = found.rows("times the fastest", "assignor", "x")
    assert {(row["assignor"], round(row["x"], 9)): row["count"] for row in told} == plain
    (timed,) = found.rows("timed groups", "statistic")
    assert timed["count"] == len(least)
    sized = found.rows("seconds by partitions", "assignor", "x", "y")
    assert sum(row["count"] for row in sized) == len(took)
    assert {row["x"] for row in sized} == {row["partitions"] for row in took}


@pytest.mark.spark
def test_verdicts_and_names_are_counted_by_family_and_add_up(found, spark_runs):
    groups = read_table(spark_runs.out, "groups").set_index("key")
    judged = dict(
        zip(groups_of(spark_runs), judge([*groups_of(spark_runs).values()]), strict=True)
    )
    plain = Counter(
        ("in/groups.jsonl" if source.endswith("jsonl") else source.rpartition("/")[0], says)
        for source, says in (
            (groups.loc[key, "source"].split(", ")[0], one.verdict.says)
            for key, one in judged.items()
        )
    )
    rows = found.rows("verdict", "family", "label")
    assert {(row["family"], row["label"]): row["count"] for row in rows} == plain
    overview = overview_of([*judged.values()])
    names = found.counts("names")
    assert names.pop(EVERY) == overview.groups
    assert names == {says: overview.names[says] for says in names}
    assert set(names) == {"not valid", "improvable"}
    of_groups = found.counts("groups")
    assert of_groups["proved"] == 23
    assert of_groups["unknown"] == 1
    assert {said: of_groups.get(said, 0) for said in overview.guessed} == overview.guessed


@pytest.mark.spark
def test_the_worst_groups_come_first(found, spark_runs):
    worst = found.worst(1000)
    groups = sorted(groups_of(spark_runs).values(), key=lambda group: group.name)
    expected = overview_of(judge(groups)).worst
    assert [row["group"] for row in worst] == [one.name for one in expected]
    assert [row["label"] for row in worst] == [one.verdict.says for one in expected]
    assert [row["group"] for row in found.worst(3)] == [one.name for one in expected[:3]]


@pytest.mark.spark
def test_a_trend_counts_verdicts_by_time_of_capture(found, spark_runs):
    captured = read_table(spark_runs.out, "groups")["captured_at"].dropna()
    rows = found.rows("trend", "captured_at", "label")
    assert {row["captured_at"] for row in rows} == {at[:16] for at in captured}
    assert sum(row["count"] for row in rows) == len(captured)


@pytest.mark.spark
def test_some_families_can_be_set_apart(found):
    apart = families_apart(found, ["./in/groups.jsonl"])
    assert apart == {"in/groups.jsonl"}
    assert families_apart(found, ["in"]) == set(FAMILIES)
    rest = found.of([one for one in found.families if one not in apart])
    assert sum(row["count"] for row in rest.rows("verdict", "label")) == 3
    with pytest.raises(BadInput, match=r"in/again\.json: of a run only files of many groups and"):
        families_apart(found, ["in/again.json"])
    assert OTHERS not in found.families


def test_a_folder_without_aggregates_is_bad_input(tmp_path):
    with pytest.raises(BadInput, match="no run for balance in it came to its end"):
        Aggregates.stored(tmp_path, "balance")


def test_a_trend_has_some_hundred_points():
    at = "2026-11-20T10:00:00Z"
    ends = {"2026-11-20T23": 16, "2026-12-01": 13, "2027-11-20": 10, "2031-01-01": 7}
    assert {end: digits_between(at, end) for end in ends} == ends
    assert digits_between("yesterday", at) == 7


@pytest.mark.spark
def test_a_bin_holds_what_is_at_most_its_end(spark):
    ends_of = spark.range(2000).selectExpr(f"double({integer_bin_of('id')}) AS end").collect()
    of_values = [row["end"] for row in ends_of]
    assert of_values == [integer_bin(value) for value in range(2000)]
    ends = sorted(set(of_values))
    assert ends[:65] == list(map(float, range(65)))
    assert len(ends) < 160
    for value in range(2000):
        end = of_values[value]
        assert value <= end <= max(value, 1.05 * value + 1)
        assert ends.index(end) == 0 or ends[ends.index(end) - 1] < value
