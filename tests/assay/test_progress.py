"""Progress is a line on a terminal's standard error, and nowhere else; colours are nowhere."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.assay.calling import ASSAY, arrived

SLOW = """
import sys
from assay import progress
progress.AFTER_SECONDS = progress.EVERY_SECONDS = 0.05
sys.argv = ["assay", *sys.argv[1:]]
from assay.cli import main
main()
"""
HUNT = ("hunt", "range", "--promise", "idempotent", "--seconds", "1")


def shown(program: list[str], folder: Path, stream: str, **environment: str) -> tuple[str, str]:
    """What a program shows on a terminal that is one of its streams, and on the other one."""
    ours, theirs = pty.openpty()
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: theirs}
    with subprocess.Popen(
        program, stdin=subprocess.DEVNULL, cwd=folder,
        env=os.environ | {"COLUMNS": "80", "LINES": "24", "TERM": "xterm-256color"} | environment,
        **streams,
    ) as running:  # fmt: skip
        os.close(theirs)
        said = arrived(ours)
        piped = (running.stdout or running.stderr).read()
    os.close(ours)
    return said.decode(), piped.decode()


def test_what_takes_long_says_how_long_and_how_far_and_clears_the_line_at_the_end(folder):
    said, _ = shown([sys.executable, "-c", SLOW, *HUNT], folder, "stderr")
    drawn = said.split("\r")
    assert any(re.fullmatch(r"assay hunt: 0 s", line.rstrip()) for line in drawn)
    assert max(len(line) for line in drawn if line.startswith("assay hunt")) < 80
    # What the command says for good stands on a line that was emptied before.
    end = [line for line in said.split("\r\n") if "idempotent not broken" in line][-1]
    *_, blanks, last = end.split("\r")
    assert re.match(r"range: idempotent not broken on [\d,]+ groups? tried: ", last)
    assert blanks.strip() == ""


def test_standard_error_that_is_no_terminal_gets_no_progress(folder):
    run = subprocess.run(
        [sys.executable, "-c", SLOW, *HUNT], capture_output=True, text=True, cwd=folder,
        check=False,
    )  # fmt: skip
    assert "\r" not in run.stderr
    assert "assay hunt: " not in run.stderr
    assert re.match(r"range: idempotent not broken on [\d,]+ groups? tried: ", run.stderr)


def test_what_is_done_at_once_shows_no_progress(folder):
    said, _ = shown([str(ASSAY), "validate", "orders.json"], folder, "stderr")
    assert said == ""


def test_what_the_user_types_is_not_written_over():
    program = """
import sys
from assay import progress, streams
streams.guard()
sys.stdin.isatty = lambda: True
with progress.progress(["score", "-"]):
    print(sys.stderr.buffer.raw.progress)
with progress.progress(["probe"]):
    print(sys.stderr.buffer.raw.progress)
with progress.progress(["score", "x.json"]):
    print(type(sys.stderr.buffer.raw.progress).__name__)
"""
    _, piped = shown([sys.executable, "-c", program], Path.cwd(), "stderr")
    assert piped.split() == ["None", "None", "_Line"]


@pytest.mark.parametrize(
    "arguments", [("--help",), ("score", "--help"), ("score", "orders.json"), ("assignors",)]
)
def test_no_colours_with_no_color_and_none_where_the_output_is_piped(folder, arguments):
    said, _ = shown([str(ASSAY), *arguments], folder, "stdout", NO_COLOR="1")
    assert said
    assert "\x1b" not in said
    environment = os.environ | {"TERM": "xterm-256color", "FORCE_COLOR": ""}
    run = subprocess.run(
        [str(ASSAY), *arguments], capture_output=True, text=True, cwd=folder, env=environment,
        check=False,
    )  # fmt: skip
    assert "\x1b" not in run.stdout + run.stderr
