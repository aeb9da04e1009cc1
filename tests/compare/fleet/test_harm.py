"""Assignors that come to harm at some groups, in a run on a real session without retries."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from compare.fleet.tables import read_table
from tests.compare.conftest import lopsided

pytestmark = pytest.mark.kills

ROOT = Path(__file__).parents[3]
SECONDS = 2.0
REASONS = {
    "segfault-harm": ("failed", r"the child process died \(exit code -11\)"),
    "killed-harm": ("failed", r"the child process died \(exit code -9\)"),
    "raise-harm": ("failed", r"KeyError: 'arc 7' \(harmful.py:\d+\)"),
    "hang-harm": ("timed-out", r"no answer within 2 s"),
    "loop-harm": ("timed-out", r"no answer within 2 s"),
}


@pytest.mark.spark
def test_groups_at_which_an_assignor_comes_to_harm_are_rows_and_all_others_are_scored(tmp_path):
    names = [f"g{i}" for i in range(60)]
    for i, name in enumerate(REASONS):
        names.insert(5 + 11 * i, name)
    lines = [json.dumps(lopsided(name)) for name in names]
    (tmp_path / "in.jsonl").write_text("\n".join(lines) + "\n")
    mine = "tests.compare.fleet.harmful:by_name"
    command = [
        Path(sys.executable).with_name("assay"), "run", "in.jsonl", "--out", "out",
        "--assignor", "current", "--assignor", mine, "--assignor", "range",
        "--time-limit", str(SECONDS), "--master", "local[2]",
    ]  # fmt: skip
    run = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, timeout=250, check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    if "no Java for Spark" in run.stderr:
        pytest.skip(run.stderr.splitlines()[-1])
    assert run.returncode == 0, run.stderr
    out = tmp_path / "out"
    optima = read_table(out, "optima")
    assert sorted(optima["group"]) == sorted(names)
    assert set(optima["status"]) == {"optimal"}
    scores = read_table(out, "scores")
    assert len(scores) == 3 * len(names)
    bad = scores[scores["status"] != "scored"].set_index("group")
    assert sorted(bad.index) == sorted(REASONS)
    for name, row in bad.iterrows():
        status, reason = REASONS[name]
        assert row["assignor"].startswith(f"{mine}@")
        assert row["status"] == status
        assert re.fullmatch(reason, row["reason"])
