"""A row's key follows from all that made it, and is quick."""

import time
from dataclasses import replace

import pyarrow as pa
import pytest

from compare.fleet.job import job_of
from compare.fleet.tables import TABLES, Tables, content_key, row_keys

JOB = job_of("in", "out", assignors=["current", "range"])
GROUPS = [content_key({"group": n}) for n in range(2000)]


def test_every_row_has_a_key_of_its_own():
    made = [key for made_by in JOB.made_by for key in row_keys(made_by, GROUPS)]
    assert len(set(made)) == 3 * len(GROUPS)
    assert {len(key) for key in made} == {32}
    assert set("".join(made)) == set("0123456789abcdef")


def test_a_key_does_not_depend_on_which_keys_are_asked_for_with_it():
    assert row_keys(JOB.optimum_made_by, GROUPS[:9]) == row_keys(JOB.optimum_made_by, GROUPS)[:9]
    some = row_keys(JOB.score_made_by("range"), reversed(GROUPS[5:7]))
    assert row_keys(JOB.score_made_by("range"), GROUPS)[5:7] == some[::-1]


def test_what_makes_a_row_makes_its_key(monkeypatch):
    jobs = [
        JOB,
        replace(JOB, objective=("stickiness", "balance")),
        replace(JOB, time_limit=11.0),
    ]
    made = {key for job in jobs for key in (job.optimum_made_by, job.score_made_by("range"))}
    for package in ("kafka-assay", "ortools"):
        monkeypatch.setattr(
            "compare.fleet.job.version_of", lambda name, it=package: "next" if name == it else "1"
        )
        job = replace(JOB)
        made |= {job.optimum_made_by, job.score_made_by("range")}
    assert len(made) == 10


@pytest.mark.parametrize("column", [pa.field("new", pa.string()), pa.field("key", pa.int64())])
def test_rows_of_other_columns_are_made_again_in_that_table_alone(monkeypatch, column):
    """Else a new column stayed null in every row that is there already."""
    kept = [one for one in TABLES["optima"] if one.name != column.name]
    monkeypatch.setitem(TABLES, "optima", pa.schema([*kept, column]))
    changed = replace(JOB)
    assert changed.optimum_made_by != JOB.optimum_made_by
    assert changed.score_made_by("range") == JOB.score_made_by("range")


def test_a_whole_number_of_seconds_is_the_same_limit_as_a_fraction():
    limits = {job_of("in", "out", time_limit=limit).optimum_made_by for limit in (10, 10.0)}
    assert limits == {JOB.optimum_made_by}


def test_where_a_row_is_written_and_read_from_does_not_make_its_key():
    moved = replace(JOB, source="elsewhere", tables=Tables("there"), assignors=("current",))
    assert moved.optimum_made_by == JOB.optimum_made_by
    assert moved.score_made_by("range") == JOB.score_made_by("range")


def test_keys_of_many_groups_take_some_microseconds_each():
    started = time.process_time()
    row_keys(JOB.optimum_made_by, GROUPS * 10)
    assert time.process_time() - started < len(GROUPS) * 10 * 10e-6
