"""One Spark session for all tests of a process, and `assay run` results that several files use."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random
from shutil import copy

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compare.fleet.session import spark_session
from compare.fleet.tables import read_table
from compare.samples.families import Family
from groups import BadInput, Group
from groups.table.batch import each_of
from groups.table.layout import LAYOUT
from tests.assay.calling import assay
from tests.compare.conftest import CAPTURES, CLOSING, HOSTILE, lopsided, snapshot
from tests.optimal.random_groups import random_group


@pytest.fixture(scope="session")
def spark():
    """A session that never retries a task, so that the test fails if a worker ends."""
    try:
        opened = spark_session(master="local[2]")
        session = opened.__enter__()
    except BadInput as error:
        if "no Java for Spark" not in str(error):
            raise
        pytest.skip(str(error))
    yield session
    opened.__exit__(None, None, None)


@dataclass(frozen=True)
class SparkRun:
    """One `assay run`: its exit code and output, and the keys in each table's files after it."""

    code: int
    out: str
    err: str
    keys: dict[str, list[str]]


@dataclass(frozen=True)
class SparkRuns:
    """A job run twice, then with one more assignor and ``--strict``; and a job without a group."""

    source: Path
    out: Path
    first: SparkRun
    second: SparkRun
    third: SparkRun
    without_group: SparkRun

    @cached_property
    def groups(self) -> dict[str, Group]:
        """The groups in the tables, by key."""
        rows = read_table(self.out, "groups")
        batch = pa.RecordBatch.from_pandas(rows[LAYOUT.names], LAYOUT)
        return dict(zip(rows["key"], each_of(batch), strict=True))


def fill(folder: Path) -> None:
    """Write JSON lines of groups, single snapshots, captures, and inputs that hold no group."""
    groups = [
        lopsided(),
        lopsided(HOSTILE, topic=CLOSING, member="<!-- <script>"),
        snapshot("nobody", {"t": 3}, {}),
        snapshot("nothing", {}, {}),
        snapshot("unread", {"t": 1, "u": 4}, {"a": {"subscription": ["t"]}}),
        snapshot(
            "contested", {"t": 2}, {m: {"subscription": ["t"], "owned": {"t": [0]}} for m in "ab"}
        ),
        *(Family(6, 4, 5, "random", event).group(3).to_dict() for event in ("join-one", "stable")),
        *(
            random_group(Random(seed), members=5, partitions=12).to_dict()
            | {"group": f"random-{seed}"}
            for seed in range(12)
        ),
    ]
    lines = [json.dumps(group) for group in groups]
    broken = [
        '{"format": "assay-group/1", "group": "cut", "topics": {"t"',
        json.dumps({"format": 1}),
    ]
    lines[3:3] = broken
    folder.mkdir()
    (folder / "groups.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "again.json").write_text(json.dumps(lopsided(), indent=1))
    format_last = lopsided("format-last")
    format_last["assumed"] = ["x" * 5000]
    format_last["format"] = format_last.pop("format")
    (folder / "last.json").write_text(json.dumps(format_last))
    (folder / "noise.txt").write_text("there is no group in this\n")
    (folder / "unreadable.parquet").write_text("PAR1, and no more")
    views = folder / "views"
    views.mkdir()
    copy(CAPTURES / "4.3.1" / "coop-a-describe.txt", views)
    copy(CAPTURES / "kafka-python" / "coop-a-describe.json", views)
    unknown = folder / "unknown"
    unknown.mkdir()
    for view in ("describe", "members-verbose"):
        copy(CAPTURES / "4.3.1" / f"next-b-{view}.txt", unknown)


@pytest.fixture(scope="session")
def spark_runs(spark, tmp_path_factory) -> SparkRuns:
    folder = tmp_path_factory.mktemp("run")
    fill(folder / "in")
    (folder / "noise").mkdir()
    copy(folder / "in" / "noise.txt", folder / "noise")
    asked = ("current", "range", "kip-54-sticky", "kip-615-constrained")
    words = [word for name in asked for word in ("--assignor", name)]

    def run(source: str, *more: str, out: str = "out") -> SparkRun:
        ran = assay("run", source, "--out", folder / out, *more, cwd=folder)
        keys = {place.name: keys_in(place) for place in (folder / out).glob("*")}
        return SparkRun(ran.returncode, ran.stdout, ran.stderr, keys)

    return SparkRuns(
        folder / "in",
        folder / "out",
        run("in", *words),
        run("in", *words, "--fail-above", "balance=3"),
        run("in", *words, "--assignor", "roundrobin", "--timings", "--strict"),
        run("noise", "--strict", out="nothing"),
    )


def keys_in(table: Path) -> list[str] | int:
    """Return the keys of a table's rows, or the number of its rows if it has no keys."""
    files = sorted(table.glob("run=*/*.parquet"))
    if table.name in ("runs", "aggregates", "inputs"):
        return sum(pq.read_metadata(file).num_rows for file in files)
    return [key for f in files for key in pq.read_table(f, columns=["key"])["key"].to_pylist()]
