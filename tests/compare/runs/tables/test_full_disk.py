"""A disk that takes nothing more costs one line, and nothing half is left on it."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from secrets import token_hex

import pytest

from tests.assay.calling import ASSAY, LOPSIDED
from tests.compare.conftest import lopsided

# In a mount namespace of its own, in which a small disk is made full in one way after the other.
DISK = """
import json, os, re, subprocess, sys
from datetime import UTC, datetime
from pathlib import Path
import pyarrow as pa
from compare.runs.tables.files import append, new_run
from compare.runs.tables.folder import prepared
from compare.runs.tables.schemas import TABLES
from groups.errors import BadInput

disk, command = Path(sys.argv[1]), sys.argv[2:]
out = disk / "out"
rows = [{"key": os.urandom(4000).hex()} for _ in range(9)]
rows = pa.Table.from_pylist(rows, TABLES["failures"])

def mount(options):
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", disk], check=True)
    prepared(out)

def one_line(call):
    try:
        call()
    except BadInput as error:
        return str(error)

def tried():
    lines = [
        one_line(lambda: append(out, "failures", rows, new_run(datetime.now(UTC)))),
        one_line(lambda: prepared(out)),
    ]
    run = subprocess.run([*command, "--out", out], capture_output=True, text=True, timeout=60)
    return [*lines, [run.returncode, run.stdout, run.stderr], [p.name for p in out.rglob("*.*")]]

told = {}
mount("size=32k")
told["nearly full"] = [one_line(lambda: append(out, "failures", rows, new_run(datetime.now(UTC)))),
                       [p.name for p in out.rglob("*.*")]]
mount("size=32k")
(disk / "filler").write_bytes(bytes(32768))
told["full"] = tried()
# The root, the folder, its tables, and the file that is tried.
mount(f"nr_inodes={len(TABLES) + 3}")
for number in range(9):
    try:
        (disk / str(number)).touch()
    except OSError:
        break
told["no inodes"] = tried()
mount("size=1m")
subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
told["read-only"] = tried()
print(json.dumps(told))
"""


MOUNT = "mount -t tmpfs -o size=96k tmpfs disk"
FILLED = """
"$0" run groups.jsonl --out disk/out --assignor range
echo exit $?
find disk -type f -name '.*'
"$1" -c "
from pathlib import Path
from compare.runs.tables.files import good, left_out
from compare.runs.tables.schemas import TABLES
out = Path('disk/out')
print(left_out(out), sum(len(good(out, name)[0]) for name in TABLES))
"
"""


def alone(folder: Path, *command: object) -> subprocess.CompletedProcess:
    """Run a command in a mount namespace of its own."""
    return subprocess.run(
        ["unshare", "--map-root-user", "--mount", *map(str, command)],
        cwd=folder, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder in which a small disk can be mounted."""
    folder = tmp_path_factory.mktemp("disk")
    (folder / "disk").mkdir()
    if not shutil.which("unshare") or alone(folder, "sh", "-c", MOUNT).returncode:
        pytest.skip("no mount namespace here, in which a disk can be made full")
    return folder


@pytest.fixture(scope="module")
def told(folder) -> dict:
    (folder / "g.json").write_text(json.dumps(LOPSIDED))
    command = [sys.executable, "-c", DISK, folder / "disk", ASSAY, "run", folder / "g.json"]
    run = alone(folder, *command)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_a_file_for_which_the_disk_has_too_little_room_is_not_there(told):
    line, left = told["nearly full"]
    assert re.fullmatch(r"\S+/failures/\S+: cannot be written: No space left on device", line)
    assert left == []


@pytest.mark.parametrize(
    ("disk", "reason"),
    [
        ("full", "No space left on device"),
        ("no inodes", "No space left on device"),
        ("read-only", "Read-only file system"),
    ],
)
def test_a_disk_that_takes_nothing_is_one_line_before_anything_starts(told, disk, reason):
    appended, prepared, (code, out, err), left = told[disk]
    assert re.fullmatch(rf"\S+/failures/\S+: cannot be written: {reason}", appended)
    assert re.fullmatch(rf"\S+/out: cannot be written: {reason}", prepared)
    assert (code, out) == (2, "")
    assert re.fullmatch(rf"assay: \S+/out: cannot be written: {reason}\n", err)
    assert left == []


@pytest.mark.spark
def test_a_disk_that_fills_while_tasks_write_ends_the_run_in_one_line_and_keeps_the_rest(folder):
    lines = [json.dumps(lopsided(token_hex(300))) for _ in range(100)]
    (folder / "groups.jsonl").write_text("\n".join(lines))
    run = alone(folder, "sh", "-c", f"{MOUNT} && {FILLED}", ASSAY, sys.executable)
    if "no Java for Spark" in run.stderr:
        pytest.skip(run.stderr.splitlines()[-1])
    *said, last = run.stderr.splitlines()
    assert all("assay: " not in line for line in said), run.stderr
    assert re.fullmatch(
        r"assay: \S+/disk/out/\w+/\S+: cannot be written: No space left on device; "
        "what was done is kept; the same command goes on",
        last,
    )
    assert re.fullmatch(r"exit 2\n\[\] \d+\n", run.stdout)
