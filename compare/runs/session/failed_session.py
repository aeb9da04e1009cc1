"""Failed session: what Spark raises, in one line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from groups.errors import AssayError, BadInput

if TYPE_CHECKING:
    from pathlib import Path

# What files and folders do to a job; Spark tells it in the middle of a stack trace.
_OF_FILES = re.compile(
    r"(?:java\.n?io|org\.apache\.hadoop\.fs)\.[\w.$]*(?:Exception|Error): ([^\n]+)"
)
_GONE = re.compile(r"\[(PATH_NOT_FOUND|UNABLE_TO_INFER_SCHEMA)\]")
LONGEST = 300


def one_line(error: Exception, out: Path) -> AssayError:
    """Return what to raise instead of an exception of Spark's.

    Parameters
    ----------
    out : folder of the tables: a job that fails for a file is bad input, as its folder cannot be
        written or went away
    """
    text = str(error)
    of_files = _OF_FILES.findall(text)
    if of_files:
        return BadInput(f"{out}: cannot be written: {_short(of_files[-1])}")
    # How Spark stumbles over a folder that went away depends on how far it was.
    if _GONE.search(text) or not out.is_dir():
        return BadInput(f"{out}: cannot be written: tables in it went away during the run")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return AssayError(f"Spark: {_short(lines[0] if lines else type(error).__name__)}")


def _short(line: str) -> str:
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}..."
