import os
import re
import subprocess

import pytest

from compare.fleet.job import job_of
from compare.fleet.run import commit, processor
from groups import BadInput
from heuristics import WRITTEN
from tests.heuristics.assignors import mine

NAME = "tests.heuristics.assignors.mine:deal"


def test_a_job_names_assignors_in_full_and_knows_where_workers_find_those_of_the_user():
    job = job_of("in", "out", assignors=["current", "range", mine.deal, NAME])
    current, written, own = job.assignors
    assert (current, written) == ("current", "range")
    assert re.fullmatch(rf"{NAME}@[0-9a-f]{{12}}", own)
    assert job.folders[0] == os.getcwd()
    assert job_of("in", "out", assignors=["range"]).folders == ()


def test_a_job_refuses_what_its_workers_could_not_find():
    with pytest.raises(BadInput, match="is not a function at the top of a module"):
        job_of("in", "out", assignors=[mine.Least(1)])
    with pytest.raises(BadInput, match="cannot be pickled"):
        job_of("in", "out", assignors=[mine.local()])
    with pytest.raises(BadInput, match="unknown tier 'speed'"):
        job_of("in", "out", objective="speed", assignors=["range"])


def test_where_no_assignor_is_named_a_run_scores_those_as_written():
    job = job_of("in", "out")
    assert job.assignors == ("current", *WRITTEN)
    assert job_of("in", "out", assignors=["current"]).assignors == ("current",)


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
    name, _, cores = processor().rpartition(", ")
    assert name
    assert int(cores.split()[0].replace(",", "")) >= 1
