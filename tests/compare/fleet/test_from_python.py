"""A run from Python, with an assignor of one's own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PROGRAM = """
import doctest, json, sys
from pathlib import Path
from assay import run
from compare.fleet.tables import read_table
from tests.heuristics.assignors import mine

(found,) = doctest.DocTestFinder(recurse=False).find(run, "run", globs={})
failed = doctest.DocTestRunner().run(found, out=sys.stderr.write).failed
out = Path(sys.argv[1])
counts = run("corpus/captures/3.6.2", out, assignors=[mine.deal], assume_equal=True)
rows = read_table(out, "scores")[["assignor", "status", "reason"]].sort_values("assignor")
rows = rows.values.tolist()
(made,) = read_table(out, "runs").to_dict("records")
made = {k: made[k] for k in ("commit", "processor", "python")} | {"solvers": [*made["solvers"]]}
print(json.dumps([failed, counts.solved, rows, made]))
"""


@pytest.mark.cluster
@pytest.mark.spark
def test_a_run_from_python_scores_a_function_of_yours_and_says_what_it_was_made_with(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "out")],
        capture_output=True, text=True, cwd=ROOT, timeout=200, check=False,
    )  # fmt: skip
    if "no Java for Spark" in run.stderr:
        pytest.skip(run.stderr.splitlines()[-1])
    assert run.returncode == 0, run.stderr
    failed, solved, rows, made = json.loads(run.stdout.splitlines()[-1])
    assert failed == 0, run.stderr
    assert solved == 1
    (now, (name, status, reason)) = rows
    assert now == ["current", "scored", None]
    assert name.startswith("tests.heuristics.assignors.mine:deal@")
    assert (status, reason) == ("scored", None)
    assert made["python"] == ".".join(map(str, sys.version_info[:3]))
    assert [one.split()[0] for one in made["solvers"]] == ["ortools", "pulp"]
    assert " core" in made["processor"]
    assert made["commit"] is None or len(made["commit"].rstrip("+")) == 40
