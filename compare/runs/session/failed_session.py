"""Failed session: what Spark raises, in one line."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

from groups.errors import AssayError, BadInput

if TYPE_CHECKING:
    from pathlib import Path

# What files and folders do to a job; Spark tells it in the middle of a stack trace.
_OF_FILES = re.compile(
    r"(?:java\.n?io|org\.apache\.hadoop\.fs)\.[\w.$]*(?:Exception|Error): ([^\n]+)"
)
# What a task of ours says of them, as the line of a Python traceback.
_OF_OURS = re.compile(r"^groups\.errors\.BadInput: ([^\n]+)$", re.M)
# What bash says of Spark's start scripts, where they stumble over a Java that failed.
_OF_SCRIPTS = re.compile(r"/bin/spark-[a-z]+: line \d+: ")
# The line of a Python traceback that says what was raised.
_RAISED = re.compile(r"[\w.]+(Error|Exception|Exit|Interrupt|Warning)\b")
_GONE = re.compile(r"\[(PATH_NOT_FOUND|UNABLE_TO_INFER_SCHEMA)\]")
# What Spark and py4j say where a process of theirs is gone.
_ENDED = (
    (
        re.compile(r"Python worker (exited unexpectedly|failed to connect back)|EOFException"),
        "a Python process of Spark's ended",
    ),
    (
        re.compile(
            r"Answer from Java side is empty|while (sending|trying to connect)|Connection"
            r" (refused|reset)|has been closed|SparkContext was shut down|stopped SparkContext"
            # Of what Java itself raised, more would be said.
            r"|An error occurred while calling o\d+\.\w+\s*\Z"
        ),
        "Spark's Java process ended",
    ),
)
GOES_ON = "what was done is kept; the same command goes on"
_NO_SPACE = "No space left on device"
# How Spark and Java say so.
_OF_A_FULL_DISK = (_NO_SPACE, "Failed to create a temp directory")
LONGEST = 300


def one_line(error: Exception, out: Path, scratch: Path | None = None) -> AssayError:
    """Return what to raise instead of an exception of Spark's.

    Parameters
    ----------
    out : folder of the tables: a job that fails for a file is bad input, as its folder cannot be
        written or went away
    scratch : where Spark writes on the way
    """
    text = str(error)
    of_ours = _OF_OURS.search(text)
    if of_ours:
        return BadInput(f"{_short(of_ours[1])}; {GOES_ON}")
    full = any(one in text for one in _OF_A_FULL_DISK)
    if full and scratch is not None and is_full(scratch):
        return BadInput(f"{scratch}: {_NO_SPACE.lower()}; {GOES_ON}")
    of_files = _OF_FILES.findall(text)
    if of_files:
        return BadInput(f"{out}: cannot be written: {_short(of_files[-1])}")
    # How Spark stumbles over a folder that went away depends on how far it was.
    if _GONE.search(text) or not out.is_dir():
        return BadInput(f"{out}: cannot be written: tables in it went away during the run")
    for pattern, said in _ENDED:
        if pattern.search(text):
            return AssayError(f"{said}; {GOES_ON}")
    return AssayError(f"Spark: {_short(_telling_line(text) or type(error).__name__)}")


def did_not_start(master: str, error: Exception, log: str = "") -> AssayError:
    """Return what to raise where a session did not start.

    Parameters
    ----------
    log : what was said on the way; its last line tells most, but for those of the scripts
    """
    said = [line.strip() for line in log.splitlines() if line.strip()]
    last = [line for line in said if not _OF_SCRIPTS.search(line)][-1:]
    why = last[0] if last else _telling_line(str(error))
    return AssayError(f"Spark did not start on {master}: {_short(why)}")


def is_full(folder: Path) -> bool:
    """Whether no megabyte is left where a folder is."""
    try:
        return shutil.disk_usage(folder).free < 1 << 20
    except OSError:
        return False


def _telling_line(text: str) -> str:
    """Return the line that tells most: the last of a Python traceback, else the first."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for i, line in enumerate(lines):
        if line.startswith("Traceback (most recent call last)"):
            after = [one for one in lines[i + 1 :] if _RAISED.match(one)]
            if after:
                return after[0]
    return lines[0] if lines else ""


def _short(line: str) -> str:
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}..."
