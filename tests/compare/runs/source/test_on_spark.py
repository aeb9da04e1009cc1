"""The data source on a real session: what splits give, as a DataFrame."""

import doctest
import gzip
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.errors import PySparkException

from assay import spark_source
from compare.runs.source.rows import INPUT
from compare.samples.families import Family, family_named
from groups import Group
from groups.columnar.key import keys_of
from groups.columnar.parquet import write_groups
from groups.columnar.rows import batch_of
from heuristics.shipped.java.runtime import spark_java_home
from tests.compare.runs.source.test_reading import all_at_once, line

ROOT = Path(__file__).parents[4]
PAGE = ROOT / "docs/reference/data-source.md"
pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def spark(spark):
    spark_source(spark)
    return spark


def keys(groups) -> list[str]:
    return sorted(keys_of(batch_of(groups)))


def test_every_kind_of_input_is_read_as_it_is_without_spark(spark, tmp_path):
    shutil.copytree(ROOT / "corpus/captures", tmp_path / "captures")
    texts = [line(n) for n in range(30)]
    (tmp_path / "a.jsonl").write_text("\n".join([*texts[:10], "{", *texts[10:20]]))
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress("\n".join(texts[20:]).encode()))
    (tmp_path / "c.json").write_text(line(99, captured_at="2026-11-20T10:00:00Z"))
    write_groups([Group.from_json(line(100))], str(tmp_path / "d.parquet"))
    good, bad = all_at_once([tmp_path])
    for split_bytes in (2000, 2**24):
        read = spark.read.format("assay").option("split_bytes", split_bytes).load(str(tmp_path))
        assert read.schema.names == INPUT.names
        rows = read.collect()
        assert sorted(row["key"] for row in rows if row["reason"] is None) == sorted(
            row[4] for row in good
        )
        assert sorted(row["place"] for row in rows if row["reason"] is not None) == sorted(
            row[1] for row in bad
        )
    assert read.where("size(members) = 3").count() >= 30


def test_captures_of_one_group_are_told_apart_by_their_times(spark, tmp_path):
    times = [f"2026-11-20T{hour:02}:00:00Z" for hour in range(24)]
    (tmp_path / "a.jsonl").write_text("\n".join(line(1, captured_at=time) for time in times))
    read = spark.read.format("assay").load(str(tmp_path / "a.jsonl"))
    assert read.select("group", "captured_at").distinct().count() == 24
    assert read.select("key").distinct().count() == 24


@pytest.mark.parametrize("split_bytes", [1000, 2**24])
def test_a_family_is_the_same_groups_under_any_partitioning(spark, split_bytes):
    family = Family(4, 5, 3, "random", "join-one", skewed=True)
    read = (
        spark.read.format("assay")
        .option("family", f"{family.name}, 10x10-10-topics-equal-fresh")
        .option("seeds", 12)
        .option("first_seed", 3)
        .option("split_bytes", split_bytes)
        .load()
    )
    assert (read.rdd.getNumPartitions() > 10) == (split_bytes == 1000)
    expected = [one.group(seed) for one in (family, Family(10)) for seed in range(3, 15)]
    assert sorted(row["key"] for row in read.select("key").collect()) == keys(expected)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "expected load"),
        ({"path": "a", "family": "b"}, "expected load"),
        ({"path": "/nowhere.jsonl"}, "/nowhere.jsonl: cannot be read: No such file"),
        ({"path": "a", "seeds": "0"}, "option seeds: '0', expected an integer of 1 or more"),
        ({"path": "a", "colour": "red"}, "option 'colour' is not known"),
        ({"path": "a", "reset": "never"}, "option reset: 'never', expected latest or earliest"),
        ({"path": "a", "assume_equal": "si"}, "option assume_equal: 'si'"),
        ({"family": "10x10"}, "family: '10x10', expected MEMBERSx"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(spark, options, said):
    with pytest.raises(PySparkException, match=re.escape(said)):
        spark.read.format("assay").options(**options).load().collect()


def test_the_example_of_the_source_runs(spark):
    (found,) = doctest.DocTestFinder(recurse=False).find(spark_source, "spark_source", globs={})
    said = []
    assert found.examples
    assert not doctest.DocTestRunner().run(found, out=said.append).failed, "".join(said)


def test_the_page_on_the_data_source_runs_where_another_python_is_first_on_the_path(tmp_path):
    (tmp_path / "corpus").symlink_to(ROOT / "corpus")
    other = tmp_path / "python3"
    other.write_text("#!/bin/sh\necho another Python >&2\nexit 1\n")
    other.chmod(0o755)
    programs = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert programs
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYSPARK_")
    } | {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "JAVA_HOME": str(spark_java_home()),
    }
    for program in programs:
        ran = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path,
            env=environment, timeout=240, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    "family", [Family(3), Family(12, 7, 5, "nested", "partitions-added", skewed=True)]
)
def test_a_family_is_found_by_its_name(family):
    assert family_named(family.name) == family
