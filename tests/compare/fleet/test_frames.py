"""Groups, optima, scores and verdicts as DataFrames."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from assay import fleet, solve
from compare.fleet.job import job_of
from compare.fleet.run import Run
from compare.fleet.session import NO_COLON, set_for_now
from compare.fleet.tables import TABLES, Tables, latest, read_table
from groups import BadInput, Group
from heuristics.shipped.java.jars import spark_java_home
from tests.assay.calling import assay, write
from tests.compare.conftest import lopsided, snapshot

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[3]


def test_a_frame_of_groups_or_of_their_json_gives_optima_scores_and_verdicts_of_each(
    spark, tmp_path
):
    lines = [json.dumps(lopsided(f"g{n}")) for n in range(5)]
    (tmp_path / "in.jsonl").write_text("\n".join([*lines, "no group"]))
    groups = fleet.groups(spark, str(tmp_path / "in.jsonl"))
    assert groups.columns == [*TABLES["groups"].names, "reason"]
    (failure,) = groups.where("reason is not null").collect()
    assert (failure["place"], failure["group"]) == (f"{tmp_path}/in.jsonl:6", None)
    texts = spark.createDataFrame([(line,) for line in lines], ["value"])
    optima, of_texts = (fleet.optima(one).orderBy("group").collect() for one in (groups, texts))
    assert [row["key"] for row in of_texts] == [row["key"] for row in optima]
    assert [row["group"] for row in optima] == [f"g{n}" for n in range(5)]
    terms = [vars(term) for term in solve(Group.from_dict(lopsided())).terms]
    for row in (*optima, *of_texts):
        assert [term.asDict() for term in row["terms"]] == terms
    scores = fleet.scores(groups, ["range"]).collect()
    assert sorted((row["group"], row["assignor"]) for row in scores) == [
        (f"g{n}", name) for n in range(5) for name in ("current", "range")
    ]
    verdicts = fleet.verdicts(groups).collect()
    assert {(row["says"], row["at_least"], row["to_move"]) for row in verdicts} == {
        ("improvable", 4, 2)
    }


def test_a_line_of_a_file_that_several_tasks_read_has_its_own_number(spark, tmp_path):
    lines = [json.dumps(lopsided(f"g{n}")) for n in range(800)]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    with set_for_now(spark, {"spark.sql.files.maxPartitionBytes": "40000"}):
        groups = fleet.groups(spark, str(tmp_path / "in.jsonl"))
        rows = groups.select("group", "place").collect()
    assert {row["group"]: row["place"] for row in rows} == {
        f"g{n}": f"{tmp_path}/in.jsonl:{n + 1}" for n in range(800)
    }


def test_each_bad_row_of_a_table_is_a_failure_with_a_number_of_its_own(spark, tmp_path):
    """Rows of several tasks had the same number, and of those that failed alike one was left."""
    source = tmp_path / "in"
    source.mkdir()
    for name in "abc":
        write(source, {f"{name}.txt": f"no group\n{json.dumps(lopsided(name))}\nnor this\n"})
    job = job_of(source, tmp_path / "out", assignors=["current"], input_format="text")
    found = Run(spark, job).fill()
    assert (found.captured, found.failures) == (3, 6)
    places = [read_table(tmp_path / "out", name)["place"] for name in ("groups", "failures")]
    assert len({place for those in places for place in those}) == 9


def test_files_with_a_colon_in_their_names_fail_and_are_told_to_be_renamed(spark, tmp_path):
    """Hadoop's reason names a checksum file, and each cost another attempt at its portion."""
    source = tmp_path / "at-10:00"
    source.mkdir()
    names = ("a.json", "2026-11-20T10:00.json", "2026-11-20T10:00.jsonl")
    write(source, {name: lopsided(name) for name in names})
    found = Run(spark, job_of(source, tmp_path / "out", assignors=["current"])).fill().found
    assert (found.groups, found.unread[0]) == (1, 2)
    assert {one.reason for one in found.unread[1]} == {NO_COLON}


def test_files_that_vanish_while_they_are_found_are_failures_and_spare_the_others(
    spark, tmp_path, monkeypatch
):
    folder = tmp_path / "in"
    folder.mkdir()
    write(folder, {name: lopsided(name) for name in ("a.json", "b.json", "c.jsonl", "d.json")})
    write(folder, {"notes.md": "no group"})
    reader, frame = type(spark.read), type(spark.range(1))
    load, input_files = reader.load, frame.inputFiles

    def vanish(*names):
        for name in names:
            (folder / name).unlink(missing_ok=True)

    def while_listing(*asked, **more):
        found = load(*asked, **more)
        vanish("b.json", "notes.md")
        return found

    def after_listing(self):
        found = input_files(self)
        vanish("c.jsonl", "d.json")
        return found

    monkeypatch.setattr(reader, "load", while_listing)
    monkeypatch.setattr(frame, "inputFiles", after_listing)
    found = Run(spark, job_of(folder, tmp_path / "out", assignors=["current"])).fill()
    assert (found.found.groups, found.failures) == (1, 3)
    assert {one.place for one in found.found.unread[1]} == {
        str(folder / name) for name in ("b.json", "c.jsonl", "d.json")
    }


@pytest.fixture(params=["parquet", "orc", "json", "catalogue"])
def tables(request, spark, tmp_path):
    if request.param != "catalogue":
        yield Tables(str(tmp_path), format=request.param)
        return
    yield Tables("default", in_catalogue=True)
    for name in TABLES:
        spark.sql(f"DROP TABLE IF EXISTS default.{name}")


@pytest.mark.cluster
def test_tables_of_any_format_are_read_as_written_with_nulls_for_an_earlier_version(spark, tables):
    assert tables.read(spark, "inputs").count() == 0
    tables.write(spark.createDataFrame([("a",), ("b",)], "key string"), "inputs", "run-1")
    assert [row["is_group"] for row in tables.read(spark, "inputs").collect()] == [None, None]
    rows = spark.createDataFrame([(True, "b"), (False, "c")], "is_group boolean, key string")
    tables.write(rows, "inputs", "run-2")
    found = latest(tables.read(spark, "inputs")).select("key", "is_group", "run").orderBy("key")
    assert [*map(tuple, found.collect())] == [
        ("a", None, "run-1"), ("b", True, "run-2"), ("c", False, "run-2"),
    ]  # fmt: skip
    held = spark.createDataFrame(
        [("a", ("improvable",))], "key string, verdict struct<says:string>"
    )
    tables.write(held, "optima", "run-1")
    (verdict,) = tables.read(spark, "optima").select("verdict.says", "verdict.lag_now").collect()
    assert tuple(verdict) == ("improvable", None)
    if tables.in_catalogue:
        said = "^default.optima: its column verdict has the type of another version: name another"
        with pytest.raises(BadInput, match=said):
            tables.require(spark)


@pytest.mark.cluster
@pytest.mark.parametrize("tables", ["orc", "json", "catalogue"], indirect=True)
def test_runs_go_on_in_tables_that_no_page_reads_and_say_so(spark, tables, tmp_path):
    (tmp_path / "g.json").write_text(json.dumps(lopsided()))
    options = ["--out", tables.place, "--output-format", tables.format]
    options += ["--output-tables"] * tables.in_catalogue
    for new in (1, 0):
        ran = assay("run", tmp_path / "g.json", *options, "--assignor", "current")
        assert ran.returncode == 0, ran.stderr
        assert f"1 group, 1 of them with a proved optimum, {new} of them new" in ran.stdout
        assert "every group on a page" not in ran.stdout


@pytest.mark.cluster
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("nosuch --input-table --out out", "Spark: [TABLE_OR_VIEW_NOT_FOUND] The table or view "),
        ("a-b --input-table --out out", "Spark: [INVALID_IDENTIFIER] The unquoted identifier a-b"),
        ("nosuch --input-format json --out out", "Spark: [PATH_NOT_FOUND] Path does not exist: "),
        (". --input-format nosuch --out out", "Spark: [DATA_SOURCE_NOT_FOUND] Failed to find the"),
        (". --out nosuch --output-tables", "nosuch: no such database in the catalogue"),
        (". --out a-b --output-tables", "Spark: [INVALID_IDENTIFIER] The unquoted identifier a-b"),
        (". --out at-10:00", f"at-10:00/failures: {NO_COLON}"),
    ],
)
def test_names_that_spark_does_not_know_are_the_users_mistake(spark, tmp_path, words, said):
    (tmp_path / "g.json").write_text(json.dumps(lopsided()))
    ran = assay("run", *words.split(), cwd=tmp_path)
    assert ran.returncode == 2
    assert ran.stderr.splitlines()[-1].startswith(f"assay: {said}")


@pytest.mark.cluster
def test_the_page_runs_where_another_python_is_first_on_the_path(tmp_path):
    page = (ROOT / "docs" / "reference" / "spark.md").read_text("utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=280,
        check=False,
        env={
            "PATH": f"{tmp_path}:/usr/bin:/bin", "JAVA_HOME": str(spark_java_home()),
            "SPARK_LOCAL_IP": "127.0.0.1",
        },
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-2000:]


def test_the_reset_that_is_asked_for_reaches_the_rows_of_spark(spark, tmp_path):
    offsets = {"partitions": 1, "offsets": [{"beginning": 2, "end": 9, "committed": None}]}
    write(tmp_path, {"g.json": snapshot("g", {"t": offsets}, {})})
    row = fleet.groups(spark, str(tmp_path / "g.json"), reset="earliest").first()
    assert (row["lag"], row["assumed"]) == ([7], [])
