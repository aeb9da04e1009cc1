import os
import re

import pytest

from compare.fleet.job import job_of
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
