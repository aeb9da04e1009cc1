"""The standard streams: answers on standard output, messages on standard error."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def show(text: str) -> None:
    """Print a line, or several, of the answer."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def show_json(document: object) -> None:
    """Print the answer as one line of JSON."""
    show(json.dumps(document, ensure_ascii=False))


def write(lines: Iterable[str], out: str | None) -> None:
    """Write lines to the file `out`, or print them where there is none.

    Raises
    ------
    BadInput
        Where the file cannot be written.
    """
    if out is None:
        for line in lines:
            show(line)
        return
    try:
        with Path(out).open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    except OSError as error:
        raise BadInput(f"{out}: cannot be written: {error.strerror}") from None


def note_assumed(assumed: Sequence[str]) -> None:
    """Say beside the answer what was assumed."""
    for line in assumed:
        note(f"assumed: {line}")


def note(line: str) -> None:
    """Say something beside the answer, progress for example, on one line."""
    # Names may hold line ends, and a message is one line.
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)
    sys.stderr.write(f"{shown}\n")


def complain(line: str) -> None:
    """Say on one line why the exit code will not be 0."""
    note(f"assay: {line}")
