"""Standard streams that are full, closed or odd, and what a cache that cannot be written costs."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.assay.calling import ASSAY

LONG = "x" * 300
FULL = r"standard output: cannot be written: No space left on device"
CLOSED = r"standard output: cannot be written: Bad file descriptor"
STREAMS = {
    "assay solve orders.json >/dev/full": (2, FULL),
    "assay solve orders.json --format json >/dev/full": (2, FULL),
    "assay --help >/dev/full": (2, FULL),
    "assay solve --help >/dev/full": (2, FULL),
    "assay solve orders.json >&-": (2, CLOSED),
    "assay --version >&-": (2, CLOSED),
    "assay generate random -o made.json >&-": (0, ""),
    "assay solve - <&-": (2, r"standard input: cannot be read: it is closed"),
    "assay solve - 0>/dev/null": (2, r"standard input: cannot be read: Bad file descriptor"),
    "assay solve missing.json 2>/dev/full": (2, ""),
    "KAFKA_ASSAY_CACHE=/dev/null/x assay fetch kafka-java@4.4.0": (
        2, r"kafka-java@4\.4\.0: /dev/null/x/jars: cannot be written: Not a directory",
    ),
    "KAFKA_ASSAY_CACHE=/dev/null/x assay assignors | grep -c written >&2": (0, r"9"),
    f"KAFKA_ASSAY_CACHE={LONG} assay assignors": (2, r"x+/jars: cannot be read: .* too long"),
    # As where the disk is read-only: not even a temporary folder is to be had.
    "ulimit -f 0; assay solve orders.json | wc -l >&2": (0, r" *8"),
    "assay solve missing.json 2>&-": (2, ""),
    "assay solve orders.json <&- >&- 2>&-": (2, ""),
    "assay generate grid | head -c 10 >&2; exit ${PIPESTATUS[0]}": (141, r'\{"format":'),
    "assay solve --help | true; exit ${PIPESTATUS[0]}": (141, ""),
    "PYTHONIOENCODING=ascii assay validate $'\\xff.json' >&2": (
        0, r"\\udcff\.json: good: group テ😀, 2 members, 5 partitions",
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
        command = [sys.executable, *options, "-c", WARNS]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        assert ("of a library" in run.stderr) == said
        assert run.stdout == ""
