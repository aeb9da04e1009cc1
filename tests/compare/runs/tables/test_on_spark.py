"""The tables as Spark reads them, and a run after a file of theirs was damaged."""

import json
import re
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from compare.runs.job import job_of
from compare.runs.pipeline import run_job
from compare.runs.tables.files import append, good, new_run
from compare.runs.tables.folder import prepared
from compare.runs.tables.schemas import TABLES
from compare.runs.tables.stored import frame, read_table
from tests.compare.conftest import lopsided

pytestmark = pytest.mark.spark
ROOT = Path(__file__).parents[4]
HOSTILE = "a b[1]{x,y}*?:%20\\é'"


def failures(*rows: tuple[str, str]) -> pa.Table:
    return pa.Table.from_pylist(
        [{"key": key, "reason": reason} for key, reason in rows], TABLES["failures"]
    )


def test_spark_reads_each_key_once_and_the_row_that_pandas_reads(spark, tmp_path):
    out = prepared(tmp_path / HOSTILE)
    later, earlier = (new_run(datetime(2026, 11, day, tzinfo=UTC)) for day in (21, 19))
    append(out, "failures", failures(("a", "later"), ("b", "later"), ("b", "again")), later)
    append(out, "failures", failures(("a", "earlier"), ("c", "earlier")), earlier)
    damaged = append(out, "failures", failures(("d", "damaged")), later)
    damaged.write_bytes(damaged.read_bytes()[:-1])
    with pytest.warns(UserWarning, match="damaged"):
        read = frame(spark, out, "failures")
    with pytest.warns(UserWarning, match="damaged"):
        stored = read_table(out, "failures")
    assert read.schema.names == TABLES["failures"].names
    rows = read.orderBy("key").select("key", "reason").collect()
    assert [tuple(row) for row in rows] == [("a", "earlier"), ("b", "later"), ("c", "earlier")]
    assert {tuple(row) for row in stored[["key", "reason"]].values} == {*map(tuple, rows)}


def test_a_table_that_is_not_there_is_an_empty_frame_with_its_columns(spark, tmp_path):
    for name, schema in TABLES.items():
        read = frame(spark, tmp_path, name)
        assert (read.count(), read.schema.names) == (0, schema.names)


@pytest.mark.filterwarnings("ignore:.* damaged")
def test_rows_of_a_damaged_file_are_made_again_and_the_tables_are_as_before(spark, tmp_path):
    lines = [json.dumps(lopsided(f"g{n}")) for n in range(5)]
    (tmp_path / "in.jsonl").write_text("\n".join([*lines, '{"format": 1}']))
    job = job_of(tmp_path / "in.jsonl", tmp_path / "out", assignors=["current", "range"])

    def again() -> tuple[int, list[str]]:
        said: list[str] = []
        counts = run_job(job, said.append, session=lambda _: nullcontext(spark))
        assert counts.solved == 5
        return counts.new, said

    def tables() -> dict:
        return {
            name: read_table(job.out, name)
            .drop(columns=["seconds"], errors="ignore")
            .sort_values("key", ignore_index=True)
            for name, schema in TABLES.items()
            if "key" in schema.names
        }

    assert again()[0] == 5
    before = tables()
    assert [len(table) for table in before.values()] == [5, 5, 10, 1, 1]
    victims = []
    for name in before:
        (victim, *_), _ = good(job.out, name)
        data = bytearray(victim.read_bytes())
        data[len(data) // 2] ^= 1
        victim.write_bytes(data)
        victims.append(victim)
    new, said = again()
    assert new > 0
    for victim in victims:
        assert [line.startswith(f"{victim}: damaged: ") for line in said].count(True) == 1
    after = tables()
    for name, table in before.items():
        assert pa.Table.from_pandas(table).equals(pa.Table.from_pandas(after[name])), name
    assert again()[0] == 0
    for victim in victims:
        victim.unlink()
    new, said = again()
    assert (new, [line for line in said if ": damaged: " in line]) == (0, [])


def test_what_the_page_says_is_never_null_never_is(spark_runs):
    page = (ROOT / "docs" / "reference" / "formats.md").read_text("utf-8")
    checked = 0
    for name in TABLES:
        section = re.search(rf"^### `{name}`\n(.*?)(?=^##|\Z)", page, re.M | re.S)[1]
        never = re.findall(r"^\| `(\w+)` \| [^|]+ \| never \|", section, re.M)
        nulls = read_table(spark_runs.out, name, never).isna().sum()
        assert nulls[nulls > 0].to_dict() == {}, name
        checked += len(never)
    assert checked > 40
