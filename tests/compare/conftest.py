import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from random import Random
from shutil import copy

import pytest

from compare.samples.families import Family
from tests.optimal.random_groups import random_group

CAPTURES = Path(__file__).parents[1] / "groups" / "captures"
HOSTILE = "<script>alert(1)</script>"
CLOSING = "</script><b>bold</b>"

# One Java start for all of them: what each run says and its exit code, a JSON line a run.
RUNS = """
import json, sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from assay.cli import main

for arguments in json.loads(sys.argv[1]):
    sys.argv = ["assay", "run", *arguments]
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        try:
            main()
        except SystemExit as left:
            code = left.code
    tables = {}
    import pyarrow.parquet as pq
    from pathlib import Path
    for folder in Path(arguments[arguments.index("--out") + 1]).glob("*"):
        files = sorted(folder.glob("run=*/*.parquet"))
        keys = [k for f in files if folder.name not in ("runs", "aggregates", "inputs")
                for k in pq.read_table(f, columns=["key"])["key"].to_pylist()]
        tables[folder.name] = keys or sum(pq.read_metadata(f).num_rows for f in files)
    print(json.dumps([code, out.getvalue(), err.getvalue(), tables]), flush=True)
"""


@dataclass(frozen=True)
class SparkRun:
    """One `assay run`: what it said, and the keys in the files of each table after it."""

    code: int
    out: str
    err: str
    keys: dict[str, list[str]]


@dataclass(frozen=True)
class SparkRuns:
    """The same job twice, with one assignor more and ``--strict``, and one without a group."""

    source: Path
    out: Path
    first: SparkRun
    second: SparkRun
    third: SparkRun
    without_group: SparkRun


def snapshot(group: str, topics: dict, members: dict, **more) -> dict:
    return {
        "format": "assay-group/1",
        "group": group,
        "topics": topics,
        "members": members,
        **more,
    }


def lopsided(name: str = "lopsided", topic: str = "t1", member: str = "c1") -> dict:
    """Balance 1 and stickiness 2 at the optimum; what the members own has balance 5."""
    owned = {"t0": [0, 1], topic: [0, 1, 2]}
    members = {
        "c0": {"subscription": ["t0", topic], "owned": owned},
        member: {"subscription": [topic]},
    }
    return snapshot(name, {"t0": 2, topic: 3}, members)


def fill(folder: Path) -> None:
    """Groups in JSON lines, snapshots, captures, and inputs that are no group."""
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
def spark_runs(tmp_path_factory) -> SparkRuns:
    folder = tmp_path_factory.mktemp("run")
    fill(folder / "in")
    asked = ("current", "range", "kip-54-sticky", "kip-615-constrained")
    job = ["in", "--out", "out", *(word for name in asked for word in ("--assignor", name))]
    more = [
        [],
        ["--fail-above", "balance=3"],
        ["--assignor", "roundrobin", "--timings", "--strict"],
    ]
    (folder / "noise").mkdir()
    copy(folder / "in" / "noise.txt", folder / "noise")
    jobs = [*([*job, *further] for further in more), ["noise", "--out", "nothing", "--strict"]]
    run = subprocess.run(
        [sys.executable, "-c", RUNS, json.dumps(jobs)],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=280,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    runs = [SparkRun(*json.loads(line)) for line in run.stdout.splitlines()]
    if runs[0].code == 2 and "no Java for Spark" in runs[0].err:
        pytest.skip(runs[0].err.splitlines()[-1])
    return SparkRuns(folder / "in", folder / "out", *runs)
