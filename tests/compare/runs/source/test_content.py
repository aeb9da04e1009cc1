"""A split is known again by every byte, name and number of it, and by nothing else."""

import json
import os
import shutil
from datetime import UTC, datetime

import pytest

from compare.runs.source.content import content_of, standing
from compare.runs.source.planning import seeded_splits, splits
from compare.samples.families import Family
from groups import Group
from groups.columnar.parquet import write_groups
from tests.compare.conftest import CAPTURES, lopsided


def contents(source, **how) -> list[str]:
    return [content_of(split) for split in splits([str(source)], **how)]


def lines(*names: str) -> str:
    return "".join(f"{json.dumps(lopsided(name))}\n" for name in names)


@pytest.fixture
def folder(tmp_path):
    source = tmp_path / "in"
    (source / "views").mkdir(parents=True)
    (source / "a.jsonl").write_text(lines("a", "b"))
    (source / "b.json").write_text(json.dumps(lopsided("c")))
    shutil.copy(CAPTURES / "4.3.1" / "coop-a-describe.txt", source / "views")
    os.utime(source / "views" / "coop-a-describe.txt", (1e9, 1e9))
    write_groups([Group.from_dict(lopsided("d"))], str(source / "c.parquet"))
    return source


def test_the_same_content_has_the_same_digest_whatever_its_files_times_are(folder):
    before = contents(folder)
    for name in ("a.jsonl", "b.json", "c.parquet"):
        copied = folder / f"{name}.new"
        shutil.copyfile(folder / name, copied)
        copied.replace(folder / name)
        os.utime(folder / name, (1, 1))
    assert contents(folder) == before


@pytest.mark.parametrize("name", ["a.jsonl", "b.json", "views/coop-a-describe.txt", "c.parquet"])
def test_a_byte_that_changed_changes_the_digest_also_where_size_and_time_stayed(folder, name):
    before, file = contents(folder), folder / name
    status, data = file.stat(), bytearray(file.read_bytes())
    if name == "c.parquet":
        write_groups([Group.from_dict(lopsided("e"))], str(file))
        assert file.stat().st_size == len(data)
    else:
        at = data.index(b"t0") if b"t0" in data else data.index(b"coop")
        data[at] = ord("u")
        file.write_bytes(data)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert contents(folder) != before


def test_a_name_and_the_time_of_a_text_are_part_of_it(folder):
    before = contents(folder)
    text = folder / "views" / "coop-a-describe.txt"
    at = datetime(2026, 11, 20, tzinfo=UTC).timestamp()
    os.utime(text, (at, at))
    later = contents(folder)
    (folder / "a.jsonl").rename(folder / "b.jsonl")
    assert before != later != contents(folder)


def test_of_a_file_that_grew_all_splits_but_the_last_stay(tmp_path):
    file = tmp_path / "in.jsonl"
    file.write_text(lines(*(f"g{n:03}" for n in range(100))))
    before = contents(file, split_bytes=4_000)
    with file.open("a") as more:
        more.write(lines("g100", "g101"))
    after = contents(file, split_bytes=4_000)
    assert len(before) > 3
    assert before[:-1] == after[: len(before) - 1]
    assert before[-1] != after[len(before) - 1]


def test_a_split_of_other_lines_of_the_same_bytes_is_another(tmp_path):
    file = tmp_path / "in.jsonl"
    file.write_text(lines("a") * 4)
    found = contents(file, split_bytes=len(lines("a")) - 1)
    assert len(found) == len(set(found)) == 4


def test_seeds_are_their_own_content():
    one, two = (seeded_splits([Family(3)], 5, first=first) for first in (1, 2))
    assert [*map(content_of, one)] == [*map(content_of, one)] != [*map(content_of, two)]


def test_how_files_stand_tells_a_change_that_left_size_and_content_alone(tmp_path):
    file = tmp_path / "in.jsonl"
    file.write_text(lines("a"))
    (split,) = splits([str(file)])
    before = standing(split)
    assert standing(split) == before
    os.utime(file, (1, 1))
    assert standing(split) != before
