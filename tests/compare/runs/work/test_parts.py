"""Input that was read is not read again where nothing of it changed and nothing of it was lost."""

import errno
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compare.runs.job import Job
from compare.runs.pipeline import cut
from compare.runs.source.planning import splits
from compare.runs.tables.folder import prepared
from compare.runs.tables.stored import read_table
from compare.runs.work.parts import read_before
from compare.runs.work.phases import Files
from compare.runs.work.process import process_of
from compare.runs.work.reading import ReadingTask
from compare.runs.work.stored import Stored
from compare.runs.work.tally import Tally
from compare.runs.work.task import Task
from compare.runs.work.unwritten import Unwritten
from compare.samples.families import Family
from groups import Group
from groups.columnar.parquet import write_groups
from tests.compare.conftest import lopsided
from tests.compare.runs.work import harmful

RUN, LATER = "20261122T080000000000Z-0123abcd", "20261122T090000000000Z-0123abcd"


@pytest.fixture
def job(tmp_path) -> Job:
    """A job of four parts: two lines, one of them no group, and two documents; all were read."""
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.jsonl").write_text(f"{json.dumps(lopsided('a'))}\n{{}}\n")
    for name in ("b", "c"):
        (source / f"{name}.json").write_text(json.dumps(lopsided(name)))
    made = Job(source, tmp_path / "out", ("balance", "stickiness"), ("current",), 10.0)
    prepared(made.out)
    read(made, RUN)
    return made


def parts_of(job: Job):
    """Each line and each document as a split of its own."""
    return splits([str(job.source)], split_bytes=1)


def read(job: Job, run: str, left=None, **how) -> None:
    stored, tally = Stored(job.out, run, dict(Files.whole(job.out, run).of)), Tally()
    task = Task(job, process_of(()), tally, Unwritten(job.out, run, tally))
    for split in left or parts_of(job):
        ReadingTask(task, stored, **how).work_on(split)


def test_what_was_read_is_known_and_nothing_is_left(job):
    before = read_before(job, parts_of(job))
    assert before.left == []
    assert sorted(before.groups) == sorted(read_table(job.out, "groups")["key"])
    assert before.failures == read_table(job.out, "failures")["key"].tolist()
    assert len(before.groups) == 3


def test_a_file_that_changed_is_left_and_the_others_are_known(job):
    text = (job.source / "b.json").read_text()
    (job.source / "b.json").write_text(text.replace('"b"', '"d"'))
    before = read_before(job, parts_of(job))
    assert [split.parts[0].file.name for split in before.left] == [str(job.source / "b.json")]
    assert len(before.groups) == 2


def test_what_is_taken_as_given_is_part_of_what_was_read(job):
    for other in ({"reset": "earliest"}, {"assume_equal": True}):
        asked = Job(job.source, job.out, job.objective, job.assignors, 10.0, **other)
        assert len(read_before(asked, parts_of(job)).left) == 4


@pytest.mark.parametrize(("name", "left"), [("groups", 3), ("failures", 1), ("parts", 4)])
def test_where_rows_were_lost_the_input_that_they_came_from_is_read_again(job, name, left):
    for file in (job.out / name).glob("*.parquet"):
        file.unlink()
    assert len(read_before(job, parts_of(job)).left) == left
    read(job, LATER)
    assert read_before(job, parts_of(job)).left == []
    assert len(read_table(job.out, "groups")) == 3


def test_a_part_is_written_once(job):
    files = sorted(job.out.rglob("*.parquet"))
    read(job, LATER)
    assert sorted(job.out.rglob("*.parquet")) == files


def test_a_file_that_changes_while_it_is_read_is_read_again(job):
    (job.source / "b.json").write_text(json.dumps(lopsided("first")))
    read(job, LATER, read_before(job, parts_of(job)).left, read=harmful.read_while_it_changes)
    assert len(read_before(job, parts_of(job)).left) == 1
    read(job, LATER)
    assert {"first", "other"} <= set(read_table(job.out, "groups")["group"])


def test_input_that_did_harm_is_tried_again(tmp_path):
    job = Job(tmp_path / "in.jsonl", tmp_path / "out", ("balance",), ("current",), 10.0)
    job.source.write_text(f"{json.dumps(lopsided('raise-harm'))}\n")
    prepared(job.out)
    read(job, RUN, cut(job), read=harmful.read_items)
    assert len(read_table(job.out, "failures")) == 1
    assert len(read_before(job, cut(job)).left) == 1


def test_what_is_known_to_be_out_of_reach_is_known_and_what_turns_out_to_be_is_not(job):
    out_of_reach = job.source / "d.json"
    out_of_reach.symlink_to("/proc/self/mem")
    read(job, LATER)
    before = read_before(job, parts_of(job))
    assert (before.left, len(before.failures)) == ([], 2)
    planned = parts_of(job)
    (job.source / "e.json").write_text(json.dumps(lopsided("e")))
    (late,) = [split for split in parts_of(job) if split not in planned]
    (job.source / "e.json").unlink()
    read(job, LATER, [late])
    (job.source / "e.json").write_text(json.dumps(lopsided("e")))
    assert read_before(job, parts_of(job)).left == [late]


def test_of_a_file_that_grows_only_its_end_is_read(tmp_path):
    job = Job(tmp_path / "in.jsonl", tmp_path / "out", ("balance",), ("current",), 10.0)
    document = Family(100, 50, 50).group(1).to_dict()
    lines = [json.dumps({**document, "group": f"g{n}"}) for n in range(60)]
    job.source.write_text("\n".join(lines) + "\n")
    prepared(job.out)
    assert len(cut(job)) > 2
    read(job, RUN, cut(job))
    with job.source.open("a") as more:
        more.write(json.dumps({**document, "group": "more"}) + "\n")
    before = read_before(job, cut(job))
    assert (len(before.left), before.left[0]) == (1, cut(job)[-1])
    read(job, LATER, before.left)
    assert len(read_table(job.out, "groups")) == 61


@pytest.mark.parametrize(
    "fault", [OSError(errno.EIO, "Input/output error"), pa.ArrowMemoryError("malloc failed")]
)
def test_parquet_that_cannot_be_read_for_a_moment_is_no_damage_and_is_read_again(
    tmp_path, monkeypatch, fault
):
    job = Job(tmp_path / "a.parquet", tmp_path / "out", ("balance",), ("current",), 10.0)
    write_groups([Group.from_dict(lopsided("a"))], str(job.source))
    prepared(job.out)
    planned = cut(job)

    def fail(*_: object, **__: object) -> None:
        raise fault

    with monkeypatch.context() as patched:
        patched.setattr(pq.ParquetFile, "iter_batches", fail)
        read(job, RUN, planned)
    (reason,) = read_table(job.out, "failures")["reason"]
    assert reason.startswith("cannot be read: ")
    assert read_before(job, planned).left == planned
    read(job, LATER, planned)
    assert read_before(job, planned).left == []
