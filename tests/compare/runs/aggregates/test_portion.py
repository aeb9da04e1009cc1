"""Portions of the tables: together they are the whole, and no group is in two of them."""

from datetime import UTC, datetime
from hashlib import sha256
from shutil import copytree

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from compare.runs.aggregates.families import OTHERS, families_of, found_in, kept_families
from compare.runs.aggregates.made import counts
from compare.runs.aggregates.portion import Portion
from compare.runs.aggregates.stored import Aggregates
from compare.runs.job import job_of
from compare.runs.tables.files import append, good, new_run
from compare.runs.tables.schemas import TABLES
from compare.runs.tables.stored import read_table

OF = ("family", "assignor", "tier", "label", "captured_at", "x", "y")
MINUTE = 16


@pytest.fixture(scope="module")
def job(spark_runs):
    asked = ("range", "kip-54-sticky", "kip-615-constrained", "roundrobin")
    return job_of(spark_runs.source, spark_runs.out, assignors=asked)


def portions(folder, of):
    files = {
        name: list(map(str, good(folder, name)[0])) for name in ("groups", "optima", "scores")
    }
    return [Portion(i, of, files, kept_families(files["groups"])) for i in range(of)]


@pytest.mark.spark
def test_what_several_portions_count_is_what_spark_added_up(spark_runs, job):
    objective = " > ".join(job.objective)
    found = Aggregates.read(spark_runs.out, objective)
    counted, sizes = [], []
    for portion in portions(spark_runs.out, 3):
        sizes.append(len(portion.rows(job)[0]))
        counted += counts(portion, job, MINUTE)
    assert sum(sizes) == 23
    assert min(sizes) > 0
    several = Aggregates(pa.concat_tables(counted), current=True)
    statistics = set(found.table["statistic"].to_pylist())
    assert len(statistics) == 13
    for statistic in statistics - {"worst"}:
        assert several.rows(statistic, *OF) == found.rows(statistic, *OF), statistic


@pytest.mark.spark
@pytest.mark.parametrize("first", ["0", "z"])
def test_the_rows_of_a_job_win_over_those_of_another(spark_runs, job, tmp_path, first):
    copytree(spark_runs.out, tmp_path / "out")
    run = new_run(datetime(2020, 1, 1, tzinfo=UTC))
    for name in ("optima", "scores"):
        table = pa.Table.from_pandas(
            read_table(spark_runs.out, name), TABLES[name], preserve_index=False
        )
        keys = pa.array([f"{first}{key[1:]}" for key in table["key"].to_pylist()])
        other = table.set_column(table.schema.get_field_index("key"), "key", keys)
        append(tmp_path / "out", name, other, run)
    (alone,), (beside,) = portions(spark_runs.out, 1), portions(tmp_path / "out", 1)
    for rows, mixed in zip(alone.rows(job), beside.rows(job), strict=True):
        assert sorted(mixed["key"].to_pylist()) == sorted(rows["key"].to_pylist())


def test_the_smallest_families_beyond_the_limit_count_as_one():
    sources = pa.array(["a/x.jsonl, b/y.json", "b/y.json", "z.json", "/z.json", "c/D.Parquet"])
    assert found_in(sources).to_pylist() == ["a/x.jsonl", "b", ".", ".", "c/D.Parquet"]
    assert pc.value_counts(families_of(sources, ["."])).to_pylist() == [
        {"values": OTHERS, "counts": 3},
        {"values": ".", "counts": 2},
    ]


def test_of_no_files_nothing_is_counted(tmp_path):
    job = job_of("in", tmp_path, assignors=["range"])
    (nothing,) = portions(tmp_path, 1)
    assert sum(map(len, counts(nothing, job, MINUTE))) == 0


def test_a_group_of_many_captures_is_in_all_portions_and_its_trend_and_name_count_once(tmp_path):
    job = job_of("in", tmp_path, assignors=["current"])
    run = new_run(datetime(2026, 11, 20, tzinfo=UTC))
    keys = [sha256(str(number).encode()).hexdigest()[:32] for number in range(600)]
    groups = [
        {"group": "orders", "key": key, "source": "in/orders.jsonl", "n_partitions": 6}
        for key in keys
    ]
    verdicts = [{"says": says, "sure": True} for says in ("improvable", "as good as can be")]
    optima = [
        {
            "group": "orders",
            "key": made,
            "group_key": key,
            "captured_at": f"2026-11-20T{number // 60:02}:{number % 60:02}:00Z",
            "objective": " > ".join(job.objective),
            "status": "optimal",
            "assumed": [],
            "verdict": verdicts[number % 2],
        }
        for number, (key, made) in enumerate(zip(keys, job.optimum_keys(keys), strict=True))
    ]
    for name, rows in (("groups", groups), ("optima", optima)):
        (tmp_path / name).mkdir()
        append(tmp_path, name, pa.Table.from_pylist(rows, TABLES[name]), run)
    (alone,), several = portions(tmp_path, 1), portions(tmp_path, 3)
    sizes = [len(portion.rows(job)[0]) for portion in several]
    assert sum(sizes) == 600
    assert min(sizes) > 150
    whole, parts = (
        Aggregates(pa.concat_tables(table for one in some for table in counts(one, job, 13)), True)
        for some in ([alone], several)
    )
    assert len(whole.rows("trend", "captured_at", "label")) == 20
    for statistic in ("trend", "names", "verdict", "groups"):
        assert parts.rows(statistic, *OF) == whole.rows(statistic, *OF)
    assert parts.counts("names") == {"every": 1, "improvable": 1}
