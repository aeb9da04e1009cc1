"""A run from Python, with an assignor of one's own."""

import doctest
import sys

import pytest

from assay import run
from compare.fleet.tables import read_table
from compare.page.from_run import page_of_run
from groups import BadInput
from tests.heuristics.assignors import mine


# Without the mark, so that `make test` has one run on Spark.
def test_a_run_from_python_scores_a_function_of_yours_and_says_what_it_was_made_with(
    spark, tmp_path
):
    out = tmp_path / "out"
    counts = run("corpus/captures/3.6.2", out, assignors=[mine.deal], assume_equal=True)
    assert counts.solved == 1
    # The page, too, takes the subscriptions as they were assumed.
    (detail,) = page_of_run(str(out), [], "").details
    assert "whoever reads what" not in str(detail.sentences)
    rows = read_table(out, "scores")[["assignor", "status", "reason"]].sort_values("assignor")
    (now, (name, status, reason)) = rows.to_numpy().tolist()
    assert now == ["current", "scored", None]
    assert name.startswith("tests.heuristics.assignors.mine:deal@")
    assert (status, reason) == ("scored", None)
    (made,) = read_table(out, "runs").to_dict("records")
    assert made["python"] == ".".join(map(str, sys.version_info[:3]))
    assert [one.split()[0] for one in made["solvers"]] == ["ortools", "pulp"]
    assert " core" in made["processor"]
    assert made["commit"] is None or len(made["commit"].rstrip("+")) == 40


@pytest.mark.spark
def test_the_example_of_run_runs(spark):
    (found,) = doctest.DocTestFinder(recurse=False).find(run, "run", globs={})
    assert doctest.DocTestRunner().run(found).failed == 0


@pytest.mark.spark
def test_an_address_without_its_connector_is_bad_input_that_says_what_is_missing(spark, tmp_path):
    with pytest.raises(BadInput, match=r"S3AFileSystem: it needs a connector for this address"):
        run("s3a://nobody/groups.jsonl", tmp_path / "out")
