"""A run whose folder cannot be written ends in one line, whenever that comes to light."""

import re
import subprocess
import threading
import time

import pytest

from compare.runs.session.failed_session import one_line
from compare.runs.tables.schemas import TABLES
from groups.errors import AssayError, BadInput
from tests.assay.calling import ASSAY, LOPSIDED, assay
from tests.assay.calling import one_line as refused

STACK = """An error occurred while calling o98.parquet.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 failed 3 times
Driver stacktrace:
\tat org.apache.spark.scheduler.DAGScheduler.failJobAndIndependentStages(DAGScheduler.scala:1)
Caused by: {cause}
\tat java.base/java.lang.Thread.run(Thread.java:840)
"""


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        ("java.io.FileNotFoundException: /o/x (Permission denied)", "/o/x (Permission denied)"),
        ("java.io.IOException: No space left on device", "No space left on device"),
        (
            "org.apache.hadoop.fs.ParentNotDirectoryException: Parent path is not a directory",
            "Parent path is not a directory",
        ),
        ("java.nio.file.ReadOnlyFileSystemException: /o", "/o"),
    ],
)
def test_what_files_do_to_a_job_is_bad_input_with_their_reason(tmp_path, cause, said):
    error = one_line(ValueError(STACK.format(cause=cause)), tmp_path)
    assert isinstance(error, BadInput)
    assert str(error) == f"{tmp_path}: cannot be written: {said}"


def test_what_a_task_could_not_write_is_bad_input_in_its_words(tmp_path):
    said = "/o/x: cannot be written: No space left on device"
    told = f"Traceback (most recent call last):\n  ...\ngroups.errors.BadInput: {said}\n"
    error = one_line(ValueError(STACK.format(cause=told)), tmp_path)
    assert isinstance(error, BadInput)
    assert str(error) == f"{said}; what was done is kept; the same command goes on"


def test_anything_else_is_the_first_line_of_what_spark_says(tmp_path):
    error = one_line(ValueError(STACK.format(cause="java.lang.Error: odd")), tmp_path)
    assert (type(error), str(error)) == (
        AssayError, "Spark: An error occurred while calling o98.parquet.",
    )  # fmt: skip
    assert len(str(one_line(ValueError("x" * 5000), tmp_path))) < 400
    assert str(one_line(ValueError(), tmp_path)) == "Spark: ValueError"


def test_whatever_spark_says_a_folder_that_is_gone_is_what_went_wrong(tmp_path):
    error = one_line(ValueError(STACK.format(cause="java.lang.Error: odd")), tmp_path / "gone")
    assert isinstance(error, BadInput)
    assert str(error).endswith("gone: cannot be written: tables in it went away during the run")


@pytest.mark.parametrize("name", TABLES)
def test_a_file_where_a_table_goes_is_refused_before_spark_starts(tmp_path, name):
    (tmp_path / "g.json").write_text(str(LOPSIDED).replace("'", '"'))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).touch()
    no_java = {"JAVA_HOME": str(tmp_path), "KAFKA_ASSAY_CACHE": str(tmp_path), "PATH": ""}
    asked = assay("run", "g.json", "--out", "out", cwd=tmp_path, environment=no_java)
    assert refused(asked, 2) == f"out/{name}: not a folder"


@pytest.mark.spark
def test_a_folder_that_goes_away_during_a_run_costs_one_line_and_exit_code_2(tmp_path):
    (tmp_path / "g.json").write_text(str(LOPSIDED).replace("'", '"'))
    out = tmp_path / "out"

    def take_it_away():
        while not list(out.glob("groups/*.parquet")):
            time.sleep(0.01)
        out.rename(tmp_path / "elsewhere")
        out.touch()

    thread = threading.Thread(target=take_it_away, daemon=True)
    thread.start()
    command = [str(ASSAY), "run", "g.json", "--out", "out", "--assignor", "range"]
    run = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=180, check=False
    )
    if "no Java for Spark" in run.stderr:
        pytest.skip(run.stderr.splitlines()[-1])
    assert run.returncode == 2, run.stderr
    *_, last = run.stderr.splitlines()
    assert re.match(rf"assay: ({out}|out)(/\S+)?: cannot be (read|written): \S.*$", last)
    assert "Traceback" not in run.stderr
    assert "Py4J" not in run.stderr
    assert run.stdout == ""
