"""The aggregates that Spark makes, held against the same computed plainly from the rows."""

import math
import random
from collections import Counter
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.commands.run import missed
from compare.fleet.aggregates import Aggregates, aggregates_of, state_of
from compare.fleet.facts import (
    EXACT,
    FACTS,
    FAMILY,
    OTHERS,
    PER_DOUBLING,
    ROWS,
    Breakdown,
    added_up,
    digits_between,
    facts_in,
    integer_bins,
    most_frequent_texts,
    one_row_each,
)
from compare.fleet.tables import TABLES, read_table, stored
from compare.judged import judge
from compare.overview import NOT_JUDGED, overview_of
from compare.page.comparison import comparison_in
from compare.page.from_run import families_apart
from compare.scores import CURRENT, Score, stored_score
from groups import BadInput


def bin_of(value: float) -> float:
    return 2 ** (math.ceil(PER_DOUBLING * math.log2(value)) / PER_DOUBLING)


def integer_bin_of(value: int) -> float:
    return float(value if value <= EXACT else math.floor(bin_of(value)))


OBJECTIVE = "balance > stickiness"
TIERS = ("balance", "stickiness")
FAMILIES = ["in", "in/groups.jsonl", "in/unknown", "in/views"]


@pytest.fixture(scope="module")
def found(spark_runs) -> Aggregates:
    return Aggregates.stored(spark_runs.out, OBJECTIVE)


@pytest.fixture(scope="module")
def scores(spark_runs) -> dict[str, list[Score]]:
    """Return all scores of the run, by the keys of their groups."""
    found: dict[str, list[Score]] = {}
    for row in stored(spark_runs.out, "scores", TABLES["scores"].names).to_pylist():
        found.setdefault(row["group_key"], []).append(stored_score(row))
    return found


@pytest.mark.spark
def test_aggregates_are_bounded_and_of_the_files_that_are_there(spark_runs, found):
    assert found.current
    assert found.families == FAMILIES
    assert set(found.table["objective"].to_pylist()) == {OBJECTIVE}
    assert found.table.schema.equals(TABLES["aggregates"])
    # The first run and the third, which scored one assignor more; the second did nothing.
    assert len([*(spark_runs.out / "aggregates").glob("run=*")]) == 2


@pytest.mark.spark
def test_assignors_stand_as_they_do_when_every_score_is_at_hand(found, scores, spark_runs):
    compared = comparison_in(found, TIERS)
    groups = spark_runs.groups
    rows = [scores[key] for key in groups]
    plain = comparison_in(aggregates_of([*groups.values()], rows, TIERS), TIERS)
    assert (compared.standings, compared.groups) == (plain.standings, plain.groups)
    assert compared.unscored == plain.unscored
    assert [one.title for one in compared.drawings] == [one.title for one in plain.drawings]


@pytest.mark.spark
@pytest.mark.parametrize("end", ["excess", "excess_most"])
def test_a_distribution_is_exact_at_the_end_of_each_bin(found, scores, end):
    rows = found.rows(end, "assignor", "tier", "x")
    for number, tier in enumerate(TIERS):
        plain: Counter[tuple[str, float]] = Counter()
        for score in (one for some in scores.values() for one in some if one.terms):
            excess = score.terms[number].excess
            least, most = excess if isinstance(excess, tuple) else (excess, excess)
            value = most if end == "excess_most" else least and max(least, 0)
            if value is not None:
                plain[score.assignor, integer_bin_of(value)] += 1
        assert {
            (row["assignor"], row["x"]): row["count"] for row in rows if row["tier"] == tier
        } == plain
    assert len({row["x"] for row in rows}) > 3


@pytest.mark.spark
def test_a_performance_profile_counts_how_many_times_the_fastest_each_took(
    found, scores, spark_runs
):
    sizes = {key: group.n_partitions for key, group in spark_runs.groups.items()}
    took = {
        (key, one.assignor): one.seconds
        for key, some in scores.items()
        for one in some
        if one.status == "scored" and one.assignor != CURRENT and sizes[key] and one.seconds
    }
    least = {key: min(took[one] for one in took if one[0] == key) for key, _ in took}
    plain = Counter(
        (name, round(bin_of(seconds / least[key]), 9)) for (key, name), seconds in took.items()
    )
    told = found.rows("times the fastest", "assignor", "x")
    assert {(row["assignor"], round(row["x"], 9)): row["count"] for row in told} == plain
    (timed,) = found.rows("timed groups", "statistic")
    assert timed["count"] == len(least)
    sized = found.rows("seconds by partitions", "assignor", "x", "y")
    assert sum(row["count"] for row in sized) == len(took)
    assert {row["x"] for row in sized} == {sizes[key] for key, _ in took}


@pytest.mark.spark
def test_verdicts_are_counted_by_family_and_add_up(found, spark_runs):
    groups = read_table(spark_runs.out, "groups").set_index("key")
    judged = dict(zip(spark_runs.groups, judge([*spark_runs.groups.values()]), strict=True))
    plain = Counter(
        ("in/groups.jsonl" if source.endswith("jsonl") else source.rpartition("/")[0], says)
        for source, says in (
            (groups.loc[key, "source"].split(", ")[0], one.verdict.says)
            for key, one in judged.items()
        )
    )
    rows = found.rows("verdict", "family", "label")
    assert {(row["family"], row["label"]): row["count"] for row in rows} == plain
    of_groups = found.counts("groups")
    assert (of_groups["proved"], of_groups["unknown"]) == (23, 1)


@pytest.mark.spark
def test_the_worst_groups_come_first_and_some_of_each_verdict_that_a_sentence_names(
    found, spark_runs
):
    expected = [one.name for one in overview_of(judge([*spark_runs.groups.values()])).worst]
    assert [row["group"] for row in found.worst(1000)] == expected
    first = found.worst(3)
    assert [row["group"] for row in first[:3]] == expected[:3]
    assert {row["label"] for row in first[3:]} == {"improvable"}


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


@pytest.mark.spark
def test_a_file_of_many_groups_is_a_family_also_if_it_is_gzipped(spark):
    files = ["in/a.jsonl", "in/a.jsonl.gz", "in/a.parquet", "in/a.json.gz", "in/a.txt, in/b.txt"]
    rows = spark.createDataFrame([(file,) for file in files], ["source"])
    families = [row["family"] for row in rows.selectExpr(f"{FAMILY} AS family").collect()]
    assert families == [*files[:3], "in", "in"]


def test_a_folder_without_aggregates_is_bad_input(tmp_path):
    with pytest.raises(BadInput, match="no run for balance in it came to its end"):
        Aggregates.stored(tmp_path, "balance")


def test_a_run_for_another_objective_leaves_aggregates_current_and_one_for_theirs_does_not(
    tmp_path,
):
    add = partial(write_row, tmp_path)
    add("aggregates", "1", objective=OBJECTIVE, state=state_of(["1"]))
    add("optima", "1", key="a", objective=OBJECTIVE)
    add("optima", "2", key="b", objective="peak_lag")
    assert Aggregates.stored(tmp_path, OBJECTIVE).current
    add("scores", "3", key="c", objective=OBJECTIVE)
    assert not Aggregates.stored(tmp_path, OBJECTIVE).current


def test_a_row_that_was_written_twice_is_read_once_and_as_it_was_written_last(tmp_path):
    for run, seconds in (("2", 2.5), ("1", 1.5)):
        write_row(tmp_path, "scores", run, key="c", seconds=seconds)
    found = read_table(tmp_path, "scores", ["key", "run", "seconds"])
    assert found.to_numpy().tolist() == [["c", "2", 2.5]]


def write_row(out: Path, table: str, run: str, **row: object) -> None:
    folder = out / table / f"run={run}"
    folder.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist([row], TABLES[table]), folder / "rows.parquet")


def test_a_trend_has_some_hundred_points():
    at = "2026-11-20T10:00:00Z"
    ends = {"2026-11-20T23": 16, "2026-12-01": 13, "2027-11-20": 10, "2031-01-01": 7}
    assert {end: digits_between(at, end) for end in ends} == ends
    assert digits_between("yesterday", at) == 7


def test_a_bin_holds_what_is_at_most_its_end():
    of_values = integer_bins(np.arange(2000)).tolist()
    assert of_values == [integer_bin_of(value) for value in range(2000)]
    ends = sorted(set(of_values))
    assert ends[:65] == list(map(float, range(65)))
    assert len(ends) < 160
    for value in range(2000):
        end = of_values[value]
        assert value <= end <= max(value, 1.05 * value + 1)
        assert ends.index(end) == 0 or ends[ends.index(end) - 1] < value


def stored_rows(count: int) -> list[dict]:
    """Return random rows of optima and scores in Spark's order, with a group's rows together."""
    draw = random.Random(5)
    rows = []
    for name in sorted(f"g{number}" for number in range(count)):
        for at in range(draw.choice([1, 1, 7])):
            key, family = f"{name} {at}", f"in{draw.randrange(80)}"
            says = draw.choice(["improvable", "as good as can be", "not valid", None])
            captured = None if draw.random() < 0.2 else f"2026-11-{10 + at}T10:00:00Z"
            common = {"group": name, "group_key": key, "family": family, "own": True, "run": "1"}
            rows.append(
                {**common, "key": f"o {key}", "status": "optimal" if says else "failed"}
                | {"says": says, "tier": "balance", "at_least": draw.randrange(9), "lag": 9 * at}
                | {"to_move": draw.randrange(5), "known": True, "asked": False}
                | {"captured_at": captured, "assumed": [f"line {draw.randrange(300)}"]}
            )
            for assignor in ("current", "range"):
                excess = [draw.randrange(200), draw.randrange(3)]
                rows.append(
                    {**common, "key": f"s {key} {assignor}", "assignor": assignor}
                    | {"status": draw.choice(["scored", "failed"]), "n_partitions": 1234}
                    | {"valid": True, "balanced": False, "seconds": draw.random()}
                    | {"excess": excess, "excess_from": [None, -1], "excess_to": [None, 4]}
                )
    return rows


def facts_of(parts: list[list[dict]], size: int, families: frozenset[str] | None) -> list[dict]:
    """Return the aggregates of rows that come in several parts, and in batches of a size."""
    asked = Breakdown(TIERS, families, 10)
    told = [
        facts
        for part in parts
        for facts in facts_in(asked, pa.Table.from_pylist(part, ROWS).to_batches(size))
    ]
    found = most_frequent_texts(added_up(pa.Table.from_batches(told))).to_pylist()
    return sorted(found, key=lambda row: [str(value) for value in row.values()])


@pytest.mark.parametrize("parts", [2, 5])
def test_what_groups_come_to_depends_on_no_partition_batch_or_order(parts):
    rows = stored_rows(150)
    some = frozenset(f"in{number}" for number in range(60))
    expected = facts_of([rows], 10**6, some)
    cut: list[list[dict]] = [[] for _ in range(parts)]
    for row in rows:
        cut[int(row["group"][1:]) % parts].append(row)
    assert facts_of(cut[::-1], 7, some) == expected
    statistics = {row["statistic"] for row in expected}
    assert statistics >= {"change", "names", "worst", "timed groups", NOT_JUDGED, "excess_most"}
    assert OTHERS in {row["family"] for row in expected}


def test_a_row_of_this_job_comes_before_those_of_others_and_later_ones_before_earlier():
    rows = [("a", False, "1"), ("b", False, "2"), ("c", True, "1"), ("d", False, "1")]
    for some, key in ((rows[:2], "b"), (rows[:3], "c"), (rows[::3], "a")):
        told = [
            dict(zip(("key", "own", "run"), row, strict=True)) | {"group": "g"} for row in some
        ]
        (kept,) = one_row_each(pa.Table.from_pylist(told, ROWS)).to_pylist()
        assert kept["key"] == key


def test_of_one_capture_judged_under_several_assumptions_the_answer_of_this_job_counts():
    optimum = next(row for row in stored_rows(9) if row.get("captured_at"))
    alike = {**optimum, "source": "in.jsonl", "place": "in.jsonl:1"}
    mine = {"own": True, "says": "improvable"}
    other = {"own": False, "says": "not valid", "run": "2"}
    for keys in ("ab", "ba"):
        rows = [
            alike | of_job | {"group_key": key, "key": key}
            for of_job, key in zip((mine, other), keys, strict=True)
        ]
        found = facts_of([rows], 10, None)
        assert [row["label"] for row in found if row["statistic"] == "verdict"] == ["improvable"]


def test_a_verdict_of_another_version_is_bad_input_in_one_line():
    (optimum, *_) = stored_rows(1)
    said = (
        "^the tables have the verdict 'fine' of another version: assay run fills another folder$"
    )
    with pytest.raises(BadInput, match=said):
        facts_of([[{**optimum, "says": "fine"}]], 10, None)


def test_of_what_may_be_many_the_first_are_kept():
    (optimum, *_) = stored_rows(1)
    alike = {**optimum, "family": "in/a.jsonl", "says": "improvable", "captured_at": None}
    rows = [
        alike
        | {"group": f"g{n:04}", "group_key": f"{n}", "key": f"{n:04}", "assumed": [f"{n:04}"]}
        | {"at_least": n % 2}
        for n in range(1_200)
    ]
    kept = facts_of([rows], 100, None)
    found = Counter(row["statistic"] for row in kept)
    assert (found["worst"], found["assumed"]) == (1_000, 100)
    groups = sorted(row["group"] for row in kept if row["statistic"] == "worst")
    worst = [f"g{n:04}" for n in range(1_200) if n % 2] + [f"g{2 * n:04}" for n in range(400)]
    assert groups == sorted(worst)
    lines = {row["label"] for row in kept if row["statistic"] == "assumed"}
    assert lines == {f"{n:04}" for n in range(100)}
    unjudged = facts_of([[row | {"says": None} for row in rows]], 100, None)
    without = pa.Table.from_pylist(unjudged, FACTS)
    many, first = Aggregates(without, current=True).overview([]).without_verdict
    assert (many, first) == (1_200, [f"g{n:04}" for n in range(20)])


def test_a_group_that_was_captured_twice_in_one_minute_counts_once_in_the_trend():
    (optimum, *_) = stored_rows(1)
    seen = (("00:10", "improvable"), ("00:40", "as good as can be"), ("01:10", "not valid"))
    rows = [
        optimum
        | {"group_key": at, "key": at, "says": says}
        | {"captured_at": f"2026-11-20T10:{at}Z"}
        for at, says in seen
    ]
    asked = Breakdown(TIERS, None, 16)
    facts = pa.Table.from_batches(facts_in(asked, pa.Table.from_pylist(rows, ROWS).to_batches()))
    trend = [row for row in facts.to_pylist() if row["statistic"] == "trend"]
    assert {(row["captured_at"], row["label"], row["count"]) for row in trend} == {
        ("2026-11-20T10:00", "as good as can be", 1),
        ("2026-11-20T10:01", "not valid", 1),
    }


def test_strict_counts_the_groups_without_a_verdict_beyond_those_that_it_names():
    told = SimpleNamespace(without_verdict=(500, ["g0", "g1", "g2", "g3"]), says={})
    counts = SimpleNamespace(failures=0, found=SimpleNamespace(overview=told))
    assert missed(counts, limited=False) == ["not judged: 500 groups: g0, g1, g2 and 497 more"]
