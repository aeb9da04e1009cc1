"""The standard streams: answers on standard output, messages on standard error."""

from __future__ import annotations

import errno
import json
import os
import sys
from contextlib import AbstractContextManager, nullcontext
from io import BufferedWriter, FileIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from groups.errors import AssayError, BadInput, Failure, writing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from _typeshed import ReadableBuffer


class ReaderGone(Exception):
    """Whoever read standard output has closed it; nothing is left to say."""


class Shown(Protocol):
    """What stands on the terminal for the moment."""

    def making_way(self) -> AbstractContextManager[None]:
        """Take it away while something else is written."""


# What helps, as an option.
OPTIONS = {
    "subscriptions": "pass --reads PATTERN=TOPICS, or --assume-equal",
    "rate": "pass --rate RECORDS_PER_SECOND to give it to those that lack it",
    "time": "give it more with --time-limit",
    "group": "add --group NAME",
    "host": "pass --host-by client-id where client ids tell the hosts",
    "like": "pass --like MEMBER: new ones read what it reads, at its rate",
}


IF_NOT_KNOWN = "--assume-equal takes all members as equal; assay capture asks the broker."
WHO_READS = (
    "To say who reads what: for a yes --reads 'MEMBER=+TOPIC', which adds a topic; for a no "
    f"--reads 'MEMBER=TOPICS', which names all that it reads. {IF_NOT_KNOWN}"
)


def told(error: AssayError) -> str:
    """Return the message of an error with the option that helps."""
    return f"{error.what_came}; {OPTIONS[error.remedy]}" if error.remedy else str(error)


class Guarded(FileIO):
    """One of the process's own streams; progress on the terminal makes way for what it writes."""

    progress: Shown | None = None

    def write(self, data: ReadableBuffer) -> int:
        """Write to the stream."""
        with nullcontext() if self.progress is None else self.progress.making_way():
            return super().write(data)


class _Answers(Guarded):
    """Standard output, which fails once, in words of its own, and is silent from then on."""

    fails_with: OSError | None = None
    failed = False

    def write(self, data: ReadableBuffer) -> int:
        if self.failed:
            return len(memoryview(data))
        try:
            if self.fails_with is not None:
                raise self.fails_with
            return super().write(data)
        except BrokenPipeError:
            self.failed = True
            raise ReaderGone from None
        except OSError as error:
            self.failed = True
            raise BadInput(f"standard output: cannot be written: {error.strerror}") from None


class _Messages(Guarded):
    """Standard error: where it cannot be written, the exit code alone has to tell."""

    def write(self, data: ReadableBuffer) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(memoryview(data))


def guard() -> None:
    """Make the process's own streams fail in the ways that :mod:`assay.cli` expects.

    Answers are UTF-8 whatever the locale, as JSON has to be; what UTF-8 cannot say, such as the
    half characters of a file name that is no text, is escaped.
    """
    closed = sys.stdout is None
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # Else the next file opened would take this number, and be written to.
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is sys.__stdout__:
        answers = _Answers(1, "w", closefd=False)
        if closed:
            answers.fails_with = OSError(errno.EBADF, os.strerror(errno.EBADF))
        sys.stdout = _text(answers)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _text(_Messages(2, "w", closefd=False))


def show(line: str) -> None:
    """Print a line of the answer for people; what is not printable in it is escaped."""
    put(printable(line))


def show_json(document: object) -> None:
    """Print the answer as one line of JSON."""
    put(as_json(document))


def as_json(document: object, *, indent: int | None = None) -> str:
    """Return a document as JSON in which whatever could steer a terminal is escaped."""
    text = json.dumps(document, ensure_ascii=False, indent=indent)
    lines = text.split("\n")
    return "\n".join(line if line.isprintable() else _escaped(line) for line in lines)


def put(text: str) -> None:
    """Print a text as it is, with a line end."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def write(lines: Iterable[str], out: str | None) -> None:
    """Write lines to the file `out`, or print them where there is none or it is ``-``.

    Raises
    ------
    BadInput
        Where the file cannot be written.
    """
    if out is None or out == "-":
        for line in lines:
            put(line)
        return
    with writing(out), Path(out).open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def note_assumed(assumed: Sequence[str]) -> None:
    """Note beside the answer what was assumed."""
    for line in assumed:
        note(f"assumed: {line}")


def note_failures(failures: Iterable[Failure]) -> None:
    """Note what could not become a snapshot, and why."""
    for failure in failures:
        note(str(failure))


def note(line: str) -> None:
    """Write a line beside the answer, progress for example."""
    sys.stderr.write(f"{printable(line)}\n")


def complain(line: str) -> None:
    """Write a line on why the exit code will not be 0."""
    note(f"assay: {line}")


def printable(text: str) -> str:
    """Return a text with line ends, escape sequences and the like written out."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _escaped(line: str) -> str:
    # JSON itself leaves DEL, the C1 controls and what turns the direction of writing as they are.
    return "".join(
        c if c.isprintable() else json.dumps(c)[1:-1] if c > "\x7f" else f"\\u{ord(c):04x}"
        for c in line
    )


def _text(raw: FileIO) -> TextIOWrapper:
    return TextIOWrapper(
        BufferedWriter(raw), encoding="utf-8", errors="backslashreplace", line_buffering=True
    )
