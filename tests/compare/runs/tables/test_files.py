"""A file of a table is whole or not there; one that was changed is named and left out."""

import os
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compare.runs.tables.files import (
    UNFINISHED,
    append,
    good,
    left_out,
    new_run,
    remove_unfinished,
)
from compare.runs.tables.folder import prepared
from compare.runs.tables.schemas import TABLES
from compare.runs.tables.stored import read_table
from groups import BadInput

RUN = new_run(datetime(2026, 11, 20, tzinfo=UTC))
SCHEMA = TABLES["failures"]


def rows(*keys: str, reason: str = "r") -> pa.Table:
    return pa.Table.from_pylist([{"key": key, "reason": reason} for key in keys], SCHEMA)


@pytest.fixture
def out(tmp_path):
    return prepared(tmp_path / "out")


def keys(out) -> list[str]:
    return read_table(out, "failures")["key"].tolist()


def unfinished(out) -> list[str]:
    return [file.name for file in out.rglob(f".*{UNFINISHED}")]


def test_a_file_is_known_by_its_run_and_a_checksum(out):
    file = append(out, "failures", rows("a"), RUN)
    assert re.fullmatch(r"20261120T000000000000Z-[0-9a-f]{8}-[0-9a-f]{32}\.parquet", file.name)
    assert good(out, "failures") == ([file], [])
    assert append(out, "failures", rows("a"), RUN) == file
    assert list((out / "failures").iterdir()) == [file]


def test_no_rows_are_no_file(out):
    assert append(out, "failures", rows(), RUN) is None
    assert list((out / "failures").iterdir()) == []
    assert read_table(out, "failures").empty


def damaged(out, name: str, change) -> str:
    """Damage a file between two whole ones, and return the line on it."""
    for key in "abc":
        append(out, "failures", rows(key, reason=name), RUN)
    before = keys(out)
    victim = good(out, "failures")[0][1]
    change(victim)
    files, (line,) = good(out, "failures")
    assert len(files) == 2
    with pytest.warns(UserWarning, match=re.escape(line)):
        assert keys(out) == [before[0], before[2]]
    assert left_out(out) == [line]
    found = re.fullmatch(
        rf"{victim}: (.+); it is left out, and a run makes its rows again: .+", line
    )
    return found[1]


def flip(file) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


CHECKSUM = "damaged: its content is not what its name says"


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda file: file.write_bytes(file.read_bytes()[:-1]), CHECKSUM),
        (lambda file: file.write_bytes(file.read_bytes()[:100]), CHECKSUM),
        (lambda file: file.write_bytes(b""), "damaged: empty"),
        (flip, CHECKSUM),
        (lambda file: file.write_text("no"), CHECKSUM),
        (lambda file: file.write_bytes(file.read_bytes() + b"x"), CHECKSUM),
        (lambda file: (file.unlink(), file.mkdir()), "cannot be read: Is a directory"),
        (lambda file: (file.unlink(), file.symlink_to("gone")),
         "cannot be read: No such file or directory"),
    ],
    ids=["cut", "cut early", "empty", "a bit", "text", "longer", "folder", "dangling link"],
)  # fmt: skip
def test_a_file_that_is_damaged_is_named_in_one_line_and_left_out(out, change, fault):
    assert damaged(out, "r", change) == fault


def test_every_bit_of_a_file_counts(out):
    file = append(out, "failures", rows("a"), RUN)
    whole = file.read_bytes()
    for at in range(0, len(whole), 7):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :])
        os.utime(file, ns=(at, at))
        assert good(out, "failures")[0] == [], at
    file.write_bytes(whole)
    assert good(out, "failures") == ([file], [])


def test_a_file_with_other_columns_is_left_out_whatever_its_checksum(out):
    file = append(out, "failures", rows("a"), RUN)
    shutil.move(file, out / "groups")
    (line,) = left_out(out)
    assert ": of other columns than those of this version; " in line
    with pytest.warns(UserWarning, match="of other columns"):
        assert read_table(out, "groups").empty


def test_files_of_other_names_are_one_line_a_table(out):
    file = append(out, "failures", rows("a"), RUN)
    shutil.copy(file, out / "failures" / "mine.parquet")
    shutil.copy(file, out / "failures" / "other.parquet")
    (out / "failures" / "notes.txt").write_text("no table")
    (line,) = left_out(out)
    assert line == (
        f"{out / 'failures'}: 2 files left out, not a file of this version of assay run: "
        "mine.parquet and others; delete what an earlier version left"
    )
    assert good(out, "failures")[0] == [file]


def test_of_two_rows_with_one_key_that_of_the_run_that_started_first_is_read(out):
    later, earlier = (new_run(datetime(2026, 11, day, tzinfo=UTC)) for day in (21, 19))
    append(out, "failures", rows("a", "b", reason="later"), later)
    append(out, "failures", rows("a", "c", reason="earlier"), earlier)
    stored = read_table(out, "failures").set_index("key")["reason"]
    assert stored.to_dict() == {"a": "earlier", "b": "later", "c": "earlier"}


def test_a_table_that_is_not_there_is_empty(tmp_path):
    assert good(tmp_path, "optima") == ([], [])
    assert read_table(tmp_path, "optima").empty


def test_a_table_that_cannot_be_listed_is_bad_input(tmp_path):
    (tmp_path / "optima").touch()
    with pytest.raises(BadInput, match="optima: cannot be read: Not a directory"):
        good(tmp_path, "optima")


def test_a_folder_that_is_not_there_is_refused_by_a_writer(tmp_path):
    with pytest.raises(BadInput, match=r"failures/.+: cannot be written: No such file or dir"):
        append(tmp_path, "failures", rows("a"), RUN)


# A limit on the size of a file stands for a disk that is full: what is written fails half way.
FULL = """
import resource, signal, sys
from pathlib import Path
from compare.runs.tables.files import append
from compare.runs.tables.schemas import TABLES
from groups.errors import BadInput
import pyarrow as pa
out, run = Path(sys.argv[1]), sys.argv[2]
rows = pa.Table.from_pylist([{"key": str(n)} for n in range(5000)], TABLES["failures"])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    append(out, "failures", rows, run)
except BadInput as error:
    print(error)
"""


def test_a_file_that_cannot_be_written_to_its_end_leaves_nothing(out):
    run = subprocess.run(
        [sys.executable, "-c", FULL, out, RUN], capture_output=True, text=True, check=True
    )
    assert re.fullmatch(rf"{out}/failures/\S+: cannot be written: File too large\n", run.stdout)
    assert list((out / "failures").iterdir()) == []


def test_what_a_dead_writer_left_is_removed_and_what_a_living_one_writes_is_not(out):
    import fcntl

    dead = out / "failures" / f".x.parquet.1{UNFINISHED}"
    dead.write_text("half")
    living = out / "groups" / f".y.parquet.2{UNFINISHED}"
    with living.open("w") as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)
        remove_unfinished(out)
        assert unfinished(out) == [living.name]
    prepared(out)
    assert unfinished(out) == []


def test_readers_do_not_see_what_is_unfinished(out):
    append(out, "failures", rows("a"), RUN)
    (out / "failures" / f".x.parquet.1{UNFINISHED}").write_text("half")
    assert keys(out) == ["a"]
    assert left_out(out) == []
    assert pq.read_table(out / "failures").num_rows == 1


def test_a_folder_that_an_earlier_version_filled_is_refused(out):
    (out / "groups" / "part-00000-4b0c.c000.snappy.parquet").touch()
    with pytest.raises(BadInput, match="out: filled by an earlier version of assay run, whose"):
        prepared(out)
