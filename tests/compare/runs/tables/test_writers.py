"""Several writers at once, and writers that are killed between any two steps."""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from compare.runs.tables.files import UNFINISHED, good
from compare.runs.tables.folder import prepared
from compare.runs.tables.stored import read_table

# Forks writers, round after round: each says of a row that it is written once it is. Those that
# are to be killed are so some moment after a row of theirs; the others write so many.
WRITERS = """
import json, os, signal, sys, time
from datetime import UTC, datetime
from pathlib import Path
from random import Random
import pyarrow as pa
from compare.runs.tables.files import append, new_run
from compare.runs.tables.folder import prepared
from compare.runs.tables.schemas import TABLES

def write(out, name, files, say):
    run = new_run(datetime.now(UTC))
    for number in range(files):
        if number % 4 == 0:
            prepared(out)
        rows = [{"key": f"{number}", "reason": name}, {"key": f"{name}-{number}"}]
        append(out, "failures", pa.Table.from_pylist(rows, TABLES["failures"]), run)
        os.write(say, f"{name}-{number} ".encode())

out, rounds, together, files = Path(sys.argv[1]), *map(int, sys.argv[2:])
rng, written, left = Random(14), [], []
# What only a first call costs is not what a kill should meet.
append(out, "runs", pa.Table.from_pylist([{}], TABLES["runs"]), new_run(datetime.now(UTC)))
for turn in range(rounds):
    pipes = []
    for writer in range(together):
        hear, say = os.pipe()
        child = os.fork()
        if not child:
            try:
                write(out, f"{turn}.{writer}", files or 10**6, say)
            finally:
                os._exit(0)
        os.close(say)
        pipes.append((child, hear))
    for child, hear in pipes:
        said = b""
        if not files:
            rows = rng.randrange(3)
            while said.count(b" ") < rows:
                said += os.read(hear, 4096)
            time.sleep(rng.uniform(0, 0.004))
            os.kill(child, signal.SIGKILL)
        while more := os.read(hear, 4096):
            said += more
        os.close(hear)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == (0 if files else -9)
        # What a kill cut in two was not said.
        written += said.decode().rpartition(" ")[0].split()
    left.append(len(list(out.rglob(".*.unfinished"))))
print(json.dumps([written, left]))
"""


@pytest.fixture
def out(tmp_path):
    """A folder in memory where there is one: what is asked is what a kill does, not a disk."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else tmp_path) as folder:
        yield prepared(Path(folder) / "out")


def write(out: Path, *, rounds: int, together: int, files: int = 0) -> tuple[list[str], list[int]]:
    """Return what writers said is written, and how many unfinished files were there after each."""
    command = [sys.executable, "-c", WRITERS, out, *map(str, (rounds, together, files))]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    written, left = json.loads(run.stdout)
    return written, left


def assert_whole(out: Path, written: list[str]) -> set[str]:
    """Assert that all files are whole and hold what was written, each key once for a reader."""
    files, faults = good(out, "failures")
    assert faults == []
    keys = read_table(out, "failures")["key"].tolist()
    assert len(keys) == len(set(keys))
    assert set(written) <= set(keys)
    assert len(files) >= len(written)
    return set(keys)


def test_four_writers_into_one_folder_lose_nothing_and_are_read_once(out):
    written, _ = write(out, rounds=1, together=4, files=20)
    assert len(written) == len(set(written)) == 4 * 20
    assert assert_whole(out, written) == set(written) | {str(number) for number in range(20)}
    assert list(out.rglob(f".*{UNFINISHED}")) == []


def test_what_a_killed_writer_said_is_written_is_there_and_its_unfinished_file_goes(out):
    written, left = write(out, rounds=25, together=2)
    assert len(written) > 20
    assert max(left) > 0
    assert_whole(out, written)
    prepared(out)
    assert list(out.rglob(f".*{UNFINISHED}")) == []
    assert {path.suffix for path in out.rglob("*") if path.is_file()} == {".parquet"}
    assert_whole(out, written)
