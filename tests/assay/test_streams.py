"""Standard streams: full, closed or odd ones, and what a terminal shows besides."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from unittest.mock import patch

import pytest

from assay.progress import AFTER_SECONDS
from heuristics.catalogue import WRITTEN
from tests.assay.calling import ASSAY, assay, on_a_terminal
from tests.processes import in_python

LONG = "x" * 300
FULL = r"standard output: cannot be written: No space left on device"
CLOSED = r"standard output: cannot be written: Bad file descriptor"
STREAMS = {
    "assay solve orders.json >/dev/full": (2, FULL),
    "assay --help >/dev/full": (2, FULL),
    "assay solve orders.json >&-": (2, CLOSED),
    "assay generate random -o made.json >&-": (0, ""),
    "assay solve - <&-": (2, r"standard input: cannot be read: it is closed"),
    "assay solve - 0>/dev/null": (2, r"standard input: cannot be read: Bad file descriptor"),
    "assay solve missing.json 2>/dev/full": (2, ""),
    "KAFKA_ASSAY_CACHE=/dev/null/x assay fetch kafka-java@4.4.0": (
        2, r"kafka-java@4\.4\.0: /dev/null/x/jars: cannot be written: Not a directory",
    ),
    "KAFKA_ASSAY_CACHE=/dev/null/x assay assignors | grep -c written >&2": (0, f"{len(WRITTEN)}"),
    f"KAFKA_ASSAY_CACHE={LONG} assay assignors": (2, r"x+/jars: cannot be read: .* too long"),
    # As on a read-only disk: not even a temporary folder can be written.
    "ulimit -f 0; assay solve orders.json | wc -l >&2": (0, r" *10"),
    "assay diff <(cat orders.json) <(assay solve orders.json --format json) | wc -l >&2": (
        0, " *9",
    ),
    "assay scenario <(cat orders.json) --scale-out 1 --assignor range | grep -c new-1 >&2": (
        0, "[1-9]",
    ),
    "mkdir gone; cd gone; rmdir ../gone; assay generate random -o made.json": (
        2, r"made\.json: cannot be written: No such file or directory",
    ),
    "assay solve missing.json 2>&-": (2, ""),
    "assay solve orders.json <&- >&- 2>&-": (2, ""),
    "assay generate grid --members 100 | head -c 10 >&2; exit ${PIPESTATUS[0]}": (
        141, r'\{"format":',
    ),
    "assay solve --help | true; exit ${PIPESTATUS[0]}": (141, ""),
    "PYTHONIOENCODING=ascii assay validate $'\\xff.json' >&2": (
        0, r"\\udcff\.json: well-formed: group テ😀, 2 members, 5 partitions",
    ),
    "PYTHONIOENCODING=ascii assay solve $'\\xff.json' --format json | grep -c テ😀 >&2": (0, "1"),
}  # fmt: skip


@pytest.fixture(scope="module")
def streamed(folder) -> dict:
    text = (folder / "orders.json").read_text().replace('"orders"', '"テ😀"')
    (folder / "\udcff.json").write_text(text)
    environment = os.environ | {"PATH": f"{ASSAY.parent}{os.pathsep}{os.environ['PATH']}"}

    def run(line: str):
        return subprocess.run(
            ["bash", "-c", line], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
            timeout=120, cwd=folder, env=environment, check=False,
        )  # fmt: skip

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(STREAMS, pool.map(run, STREAMS), strict=True))


@pytest.mark.parametrize("line", STREAMS)
def test_a_stream_that_fails_costs_one_line_and_its_exit_code(streamed, line):
    code, said = STREAMS[line]
    assert streamed[line].stdout == ""
    assert re.fullmatch(f"(assay: )?({said})\n?", streamed[line].stderr)
    assert streamed[line].returncode == code


WARNS = """
import warnings
from assay import cli

cli.app = lambda **_: warnings.warn("of a library", FutureWarning)
cli.main()
"""


def test_warnings_of_libraries_do_not_reach_the_terminal_unless_asked_for():
    for options, said in (((), False), (("-W", "always"), True)):
        run = in_python(*options, "-c", WARNS)
        assert ("of a library" in run.stderr) == said
        assert run.stdout == ""


SLOW = """
import sys
from assay import progress
progress.AFTER_SECONDS = progress.EVERY_SECONDS = 0.05
sys.argv = ["assay", *sys.argv[1:]]
from assay.cli import main
main()
"""
HUNT = ("hunt", "range", "--promise", "idempotent", "--seconds", "0.4")


def test_what_takes_long_says_how_long_and_how_far_and_clears_the_line_at_the_end(folder):
    said, _ = on_a_terminal([sys.executable, "-c", SLOW, *HUNT], folder, "stderr")
    drawn = said.split("\r")
    assert any(re.fullmatch(r"assay hunt: 0 s", line.rstrip()) for line in drawn)
    assert max(len(line) for line in drawn if line.startswith("assay hunt")) < 80
    # The command clears the line of progress before it prints a result there.
    end = [line for line in said.split("\r\n") if "idempotent not broken" in line][-1]
    *_, blanks, last = end.split("\r")
    assert re.match(r"range: idempotent not broken on [\d,]+ groups? tried: ", last)
    assert blanks.strip() == ""


def test_standard_error_that_is_no_terminal_gets_no_progress(folder):
    run = in_python("-c", SLOW, *HUNT, cwd=folder)
    assert "\r" not in run.stderr
    assert "assay hunt: " not in run.stderr
    assert re.match(r"range: idempotent not broken on [\d,]+ groups? tried: ", run.stderr)


def test_what_is_done_at_once_shows_no_progress(folder):
    start = monotonic()
    said, _ = on_a_terminal([ASSAY, "validate", "orders.json"], folder, "stderr")
    # On a busy machine it is not done at once.
    assert said == "" or monotonic() - start > AFTER_SECONDS


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
    _, piped = on_a_terminal([sys.executable, "-c", program], Path(), "stderr")
    assert piped.split() == ["None", "None", "_Line"]


@pytest.mark.parametrize(
    "arguments", [("score", "--help"), ("score", "orders.json", "--assignor", "current")]
)
def test_no_colours_with_no_color_and_none_where_the_output_is_piped(folder, arguments):
    said, _ = on_a_terminal([ASSAY, *arguments], folder, "stdout", NO_COLOR="1")
    assert said
    assert "\x1b" not in said
    with patch.dict(os.environ, {"TERM": "xterm-256color", "FORCE_COLOR": ""}):
        run = assay(*arguments, cwd=folder)
    assert run.stdout
    assert "\x1b" not in run.stdout + run.stderr
