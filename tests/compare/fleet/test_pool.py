"""The tables of a run without Spark: those of Spark, row by row."""

import gzip
import json
import shutil
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from assay import BadInput, fleet
from compare.fleet.tables import TABLES
from groups.columnar.parquet import write_groups
from groups.group import Group
from tests.compare.conftest import lopsided

CAPTURES = Path(__file__).parents[3] / "corpus" / "captures"


def fill(folder: Path) -> None:
    """Write groups in every form and under all sorts of names, some twice, and what is none."""
    shutil.copytree(CAPTURES / "3.6.2", folder / "texts")
    lines = [json.dumps(lopsided(f"g{n}")) for n in range(30)]
    broken = [*lines, "", "no group", lines[3]]
    (folder / "a b%20[1].jsonl").write_text("\n".join(broken) + "\n")
    with gzip.open(folder / "b.jsonl.gz", "wt") as packed:
        packed.write("\n".join(lines[:2]) + '\n{"format": "assay-group/1", "group": "cut"')
    (folder / "_passed over.jsonl").write_text(json.dumps(lopsided("nobody")))
    (folder / "x%y {z}").mkdir()
    (folder / "x%y {z}" / "one+?.json").write_text(json.dumps(lopsided("one")))
    (folder / "empty.txt").write_text("")
    write_groups(
        [Group.from_dict(lopsided(f"p{n}")) for n in range(3)], str(folder / "c%20 d*.parquet")
    )


@pytest.mark.spark
def test_the_rows_are_those_of_spark(spark, tmp_path):
    fill(tmp_path)
    found = fleet.tables(tmp_path, ["range"], processes=2)
    groups = fleet.groups(spark, str(tmp_path)).dropDuplicates(["key", "reason"])
    readable = groups.where("reason IS NULL")
    of_spark = {
        "groups": readable.drop("reason"),
        "optima": fleet.optima(readable),
        "scores": fleet.scores(readable, ["range"]),
    }
    assert len(found.optima) == 30 + len({"one.json", "p0", "p1", "p2", "coop-a"})
    for name, frame in of_spark.items():
        # A group that stands in several places is there once: in which of them is left open.
        drop = ["seconds", "source", "place"]
        here = _rows(getattr(found, name), drop)
        assert here == _rows(frame.toArrow(), drop), name
    sources = {Path(row["source"]).name for row in readable.select("source").collect()}
    assert {"one+?.json", "c%20 d*.parquet"} < sources
    reasons = groups.where("reason IS NOT NULL").select("place", "reason").collect()
    told = found.failures.select(["place", "reason"]).to_pylist()
    assert sorted(map(tuple, reasons)) == [(row["place"], row["reason"]) for row in told]
    bad = {row["place"].rpartition("/")[2] for row in told}
    assert bad == {"a b%20[1].jsonl:32", "b.jsonl.gz:3", "empty.txt"}


def _rows(table: pa.Table, drop: list[str]) -> list[str]:
    kept = table.select([name for name in table.column_names if name not in drop])
    return sorted(json.dumps(row, sort_keys=True) for row in kept.to_pylist())


def test_its_tables_have_the_columns_of_a_run_also_of_nothing(tmp_path):
    (tmp_path / "none.jsonl").write_text("no group\n")
    found = fleet.tables(tmp_path / "none.jsonl", processes=1)
    for name in found._fields:
        assert getattr(found, name).schema.names == TABLES[name].names
    assert (len(found.groups), len(found.scores), len(found.failures)) == (0, 0, 1)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda folder: folder / "no", "no: cannot be read: No such file or directory"),
        (lambda folder: folder, ": no snapshot in this folder"),
    ],
)
def test_an_input_that_is_none_is_said_in_a_line(tmp_path, make, said):
    with pytest.raises(BadInput) as told:
        fleet.tables(make(tmp_path))
    assert said in str(told.value)


@pytest.mark.kills
def test_an_assignor_that_dies_costs_itself_alone(tmp_path, monkeypatch):
    (tmp_path / "dies.py").write_text(
        "import os\n\ndef at_g1(group):\n    if group.name == 'g1':\n        os._exit(3)\n"
        "    return {group.members[0]: {t: [*range(n)] for t, n in"
        " zip(group.topics, group.partitions)}}\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "in.jsonl").write_text("\n".join(json.dumps(lopsided(f"g{n}")) for n in range(4)))
    found = fleet.tables(tmp_path / "in.jsonl", ["dies:at_g1"], processes=1)
    sys.modules.pop("dies", None)
    assert found.optima["status"].to_pylist() == ["optimal"] * 4
    asked = [row for row in found.scores.to_pylist() if row["assignor"] != "current"]
    assert [row["status"] for row in asked] == ["scored", "failed", "scored", "scored"]
    assert "died" in asked[1]["reason"]
