"""Several writers at once, and writers that are killed between any two steps."""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

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
rng, written = Random(14), []
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
print(json.dumps(written))
"""

# Forks a writer that kills itself at its nth line, for every n until it gets to its end.
STEPS = """
import json, os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
import pyarrow as pa
from compare.runs.tables import files
from compare.runs.tables.schemas import TABLES

out, run = Path(sys.argv[1]), files.new_run(datetime.now(UTC))
files.append(out, "runs", pa.Table.from_pylist([{}], TABLES["runs"]), run)
left = []
while True:
    child = os.fork()
    if not child:
        lines = 0

        def trace(frame, event, _):
            global lines
            if frame.f_code.co_filename != files.__file__:
                return None
            lines += event == "line"
            if lines > len(left):
                os.kill(os.getpid(), signal.SIGKILL)
            return trace

        rows = pa.Table.from_pylist([{"key": str(len(left))}], TABLES["failures"])
        sys.settrace(trace)
        files.append(out, "failures", rows, run)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    found = [p.name for p in (out / "failures").iterdir()]
    left.append(sum(name.endswith(".unfinished") for name in found))
    if not code:
        break
    assert code == -9
print(json.dumps([left, sum(name.endswith(".parquet") for name in found)]))
"""


@pytest.fixture
def out(tmp_path):
    """A folder in memory where there is one: what is asked is what a kill does, not a disk."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else tmp_path) as folder:
        yield prepared(Path(folder) / "out")


def ran(program: str, *arguments: object) -> Any:
    command = [sys.executable, "-c", program, *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    return json.loads(run.stdout)


def unfinished(out: Path) -> list[Path]:
    return list(out.rglob(f".*{UNFINISHED}"))


def assert_whole(out: Path, written: list[str]) -> set[str]:
    """Assert that all files are whole and hold what was written, each key once for a reader."""
    _, faults = good(out, "failures")
    assert faults == []
    keys = read_table(out, "failures")["key"].tolist()
    assert len(keys) == len(set(keys))
    assert set(written) <= set(keys)
    return set(keys)


def test_four_writers_into_one_folder_lose_nothing_and_are_read_once(out):
    written = ran(WRITERS, out, 1, 4, 20)
    assert len(written) == len(set(written)) == 4 * 20
    assert assert_whole(out, written) == set(written) | {str(number) for number in range(20)}
    assert unfinished(out) == []


def test_what_a_killed_writer_said_is_written_is_there(out):
    written = ran(WRITERS, out, 25, 2, 0)
    assert len(written) > 20
    assert_whole(out, written)
    prepared(out)
    assert unfinished(out) == []
    assert_whole(out, written)


def test_a_writer_killed_between_any_two_lines_leaves_a_file_that_is_whole_or_unfinished(out):
    left, whole = ran(STEPS, out)
    assert len(left) > 30
    assert max(left) == len(unfinished(out)) > 5
    assert whole > 1
    assert len(assert_whole(out, [str(len(left) - 1)])) == whole
    prepared(out)
    assert unfinished(out) == []
    assert {path.suffix for path in out.rglob("*") if path.is_file()} == {".parquet"}
    assert len(assert_whole(out, [])) == whole
