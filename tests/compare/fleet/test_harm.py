"""Assignors that come to harm at some groups, in a run on a real session without retries."""

import json
import re

import pytest

from assay import run
from compare.fleet.tables import read_table
from tests.compare.conftest import lopsided
from tests.compare.fleet.harmful import by_name

pytestmark = [pytest.mark.kills, pytest.mark.spark]

SECONDS = 2.0
REASONS = {
    "segfault-harm": ("failed", r"the child process died: exit code -11 \(SIGSEGV\)"),
    "killed-harm": ("failed", r"the child process died: exit code -9 \(SIGKILL\)"),
    "raise-harm": ("failed", r"KeyError: 'arc 7' \(harmful.py:\d+\)"),
    "hang-harm": ("timed-out", r"no answer within 2 s"),
    "loop-harm": ("timed-out", r"no answer within 2 s"),
}


def test_groups_at_which_an_assignor_comes_to_harm_are_rows_and_all_others_are_scored(
    spark, tmp_path
):
    names = [f"g{i}" for i in range(60)]
    for i, name in enumerate(REASONS):
        names.insert(5 + 11 * i, name)
    source, out = tmp_path / "in.jsonl", tmp_path / "out"
    source.write_text("".join(f"{json.dumps(lopsided(name))}\n" for name in names))
    run(source, out, assignors=["current", by_name, "range"], time_limit=SECONDS, spark=spark)
    optima = read_table(out, "optima")
    assert sorted(optima["group"]) == sorted(names)
    assert set(optima["status"]) == {"optimal"}
    scores = read_table(out, "scores")
    assert len(scores) == 3 * len(names)
    bad = scores[scores["status"] != "scored"].set_index("group")
    assert sorted(bad.index) == sorted(REASONS)
    for name, row in bad.iterrows():
        status, reason = REASONS[name]
        assert row["assignor"].startswith("tests.compare.fleet.harmful:by_name@")
        assert row["status"] == status
        assert re.fullmatch(reason, row["reason"])
