"""Calls of the `assay` command, and groups to give it."""

import json
import os
import re
import subprocess
import sys
import warnings
from contextlib import chdir
from io import BytesIO, TextIOWrapper
from pathlib import Path
from unittest.mock import patch

import pytest

from assay.cli import main
from tests.clients import keeping_processes
from tests.compare.conftest import holding, lopsided

ASSAY = Path(sys.executable).with_name("assay")
CAPTURES = Path(__file__).parents[2] / "corpus" / "captures"
# What a console tool printed of eleven groups.
ALL_GROUPS = CAPTURES / "3.9.2" / "all-describe.txt"
AS_JSON = ("--format", "json")
# For tests in which the assignors do not matter: of these, none starts a JVM.
ALONE, RANGE = ("--assignor", "current"), ("--assignor", "range")
# c0 owns all five partitions and could give up two of t1: the optimum is balance 1, stickiness 2.
LOPSIDED = lopsided("orders")
EVEN = holding(2, {"a": [0], "b": [1]}, group="even")
# a has a lag of 1,200; the least peak lag is 700 with balanced loads, and 660 with any loads.
LATE = holding([600, 300, 200, 100, 60, 40], {"a": [0, 1, 2, 3], "b": [4, 5]}, group="late")
UNKNOWN = LOPSIDED | {"members": {"c0": {"owned": {"t0": [0]}}, "c1": {"subscription": ["t1"]}}}


def write(folder: Path, files: dict[str, object]) -> Path:
    """Write files into a folder: text as it is, a list as JSON lines, anything else as JSON."""
    for name, content in files.items():
        lines = content if isinstance(content, list) else [content]
        text = content if isinstance(content, str) else "\n".join(map(json.dumps, lines))
        (folder / name).write_text(text)
    return folder


def started(*arguments, stdin: str = "", cwd: Path | None = None, **variables: str):
    """Run the command in another process, with these environment variables."""
    # encoding, not text: universal newlines would hide a carriage return.
    return subprocess.run(
        [str(ASSAY), *map(str, arguments)], input=stdin, encoding="utf-8", capture_output=True,
        timeout=180, cwd=cwd, env=os.environ | variables, check=False,
    )  # fmt: skip


def assay(*arguments, stdin: str = "", cwd: Path | None = None):
    """Call the command in this process."""
    out, err = (TextIOWrapper(BytesIO(), "utf-8", "backslashreplace", "") for _ in range(2))
    given = TextIOWrapper(BytesIO(stdin.encode()), "utf-8", newline="")
    command = ["assay", *map(str, arguments)]
    with (
        patch.multiple(sys, argv=command, stdin=given, stdout=out, stderr=err),
        keeping_processes(),
        chdir(cwd or "."),
        warnings.catch_warnings(),
        pytest.raises(SystemExit) as left,
    ):
        main()
    for stream in (out, err):
        stream.flush()
    printed = (stream.buffer.getvalue().decode() for stream in (out, err))
    return subprocess.CompletedProcess(command, left.value.code, *printed)


def on_a_terminal(
    program: list, folder: Path, stream: str = "stdout", **environment: str
) -> tuple[str, str]:
    """Return what a program writes to a terminal as one of its streams, and to the other."""
    ours, theirs = os.openpty()
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: theirs}
    with subprocess.Popen(
        [*map(str, program)], stdin=subprocess.DEVNULL, cwd=folder,
        env=os.environ | {"COLUMNS": "80", "LINES": "50", "TERM": "xterm-256color"} | environment,
        **streams,
    ) as running:  # fmt: skip
        os.close(theirs)
        said = b"".join(iter(lambda: _arrived(ours), b""))
        piped = (running.stdout or running.stderr).read()
        assert running.wait(60) == 0, said
    os.close(ours)
    return said.decode(), piped.decode()


def _arrived(terminal: int) -> bytes:
    """Return what has come from a terminal; nothing once its last writer has closed it."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def one_after_the_other(calls: dict[str, tuple], cwd: Path) -> dict:
    return {name: assay(*arguments, cwd=cwd) for name, arguments in calls.items()}


def document_of(run) -> dict:
    """Return the JSON document that is the only line of standard output."""
    assert run.stdout.count("\n") == 1, run.stdout
    return json.loads(run.stdout)


def good(run):
    assert (run.returncode, run.stderr) == (0, "")
    return run


def one_line(run, code: int) -> str:
    assert run.returncode == code, run.stderr
    assert run.stdout == ""
    assert re.fullmatch(r"assay: [^\r\n]+\n", run.stderr), run.stderr
    assert "Traceback" not in run.stderr
    return run.stderr[len("assay: ") : -1]
