"""What a job is made of, and the keys that follow from all that made a row."""

import os
import re
import subprocess
import time
from dataclasses import replace

import pyarrow as pa
import pytest

from compare.fleet.job import job_of
from compare.fleet.run import commit, processor
from compare.fleet.tables import TABLES, Tables, content_key, row_keys
from groups import BadInput
from heuristics import WRITTEN
from tests.heuristics.assignors import mine

NAME = "tests.heuristics.assignors.mine:deal"
JOB = job_of("in", "out", assignors=["current", "range"])
GROUPS = [content_key({"group": n}) for n in range(2000)]


def test_a_job_names_assignors_in_full_and_knows_where_workers_find_those_of_the_user():
    job = job_of("in", "out", assignors=["current", "range", mine.deal, NAME])
    current, written, own = job.assignors
    assert (current, written) == ("current", "range")
    assert re.fullmatch(rf"{NAME}@[0-9a-f]{{12}}", own)
    assert (job.folders[0], JOB.folders) == (os.getcwd(), ())
    assert job_of("in", "out").assignors == ("current", *WRITTEN)


def test_a_job_refuses_what_its_workers_could_not_find():
    with pytest.raises(BadInput, match="is not a function at the top of a module"):
        job_of("in", "out", assignors=[mine.Least(1)])
    with pytest.raises(BadInput, match="cannot be pickled"):
        job_of("in", "out", assignors=[mine.local()])
    with pytest.raises(BadInput, match="unknown tier 'speed'"):
        job_of("in", "out", objective="speed", assignors=["range"])


def git(folder, *words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    command = ["git", "-C", str(folder), *who, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_the_commit_has_a_plus_where_files_differ_from_it(tmp_path):
    assert commit(tmp_path) is None
    git(tmp_path, "init")
    assert commit(tmp_path) is None
    (tmp_path / "a").write_text("one")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-m", "one")
    head = git(tmp_path, "rev-parse", "HEAD")
    assert commit(tmp_path) == head
    (tmp_path / "a").write_text("two")
    assert commit(tmp_path) == f"{head}+"


def test_the_processor_is_named_with_its_cores():
    assert re.fullmatch(r".+, [1-9][\d,]* cores?", processor())


def test_every_row_has_a_key_of_its_own_whichever_keys_are_asked_for_with_it():
    made = [key for made_by in JOB.made_by for key in row_keys(made_by, GROUPS)]
    assert len(set(made)) == 3 * len(GROUPS)
    assert all(re.fullmatch("[0-9a-f]{32}", key) for key in made)
    assert row_keys(JOB.optimum_made_by, reversed(GROUPS[5:7])) == made[6:4:-1]


def test_what_makes_a_row_makes_its_key(monkeypatch):
    jobs = [JOB, replace(JOB, objective=("stickiness", "balance")), replace(JOB, time_limit=11.0)]
    made = {key for job in jobs for key in (job.optimum_made_by, job.score_made_by("range"))}
    for package in ("kafka-assay", "ortools"):
        monkeypatch.setattr(
            "compare.fleet.job.version_of", lambda name, it=package: "next" if name == it else "1"
        )
        job = replace(JOB)
        made |= {job.optimum_made_by, job.score_made_by("range")}
    assert len(made) == 10


def test_where_a_row_is_written_and_how_its_time_limit_is_spelt_does_not_make_its_key():
    moved = replace(JOB, source="elsewhere", tables=Tables("there"), assignors=("current",))
    whole = job_of("in", "out", time_limit=10)
    for job in (moved, whole):
        assert job.optimum_made_by == JOB.optimum_made_by
        assert job.score_made_by("range") == JOB.score_made_by("range")


@pytest.mark.parametrize("column", [pa.field("new", pa.string()), pa.field("key", pa.int64())])
def test_rows_of_other_columns_are_made_again_in_that_table_alone(monkeypatch, column):
    """Else a new column stayed null in every row that is there already."""
    kept = [one for one in TABLES["optima"] if one.name != column.name]
    monkeypatch.setitem(TABLES, "optima", pa.schema([*kept, column]))
    changed = replace(JOB)
    assert changed.optimum_made_by != JOB.optimum_made_by
    assert changed.score_made_by("range") == JOB.score_made_by("range")


def test_keys_of_many_groups_take_some_microseconds_each():
    started = time.process_time()
    row_keys(JOB.optimum_made_by, GROUPS * 10)
    assert time.process_time() - started < len(GROUPS) * 10 * 10e-6
