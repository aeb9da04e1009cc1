"""The standard streams: answers on standard output, messages on standard error."""

from __future__ import annotations

import errno
import json
import os
import sys
from contextlib import AbstractContextManager, nullcontext
from io import BufferedWriter, FileIO, TextIOWrapper
from typing import TYPE_CHECKING, Protocol

from groups.errors import AssayError, BadInput, Failure, writing_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from _typeshed import ReadableBuffer


class ReaderGone(Exception):
    """The reader of standard output has closed it, so that nothing more can be printed."""


class Shown(Protocol):
    """A line of progress on the terminal."""

    def making_way(self) -> AbstractContextManager[None]:
        """Remove the line while something else is written."""


# By `BadInput.remedy`: the option that helps, as the end of the message.
OPTIONS = {
    "subscriptions": "pass --reads PATTERN=TOPICS, or --assume-equal",
    "rate": "pass --rate RECORDS_PER_SECOND to give it to those that lack it",
    "time": "give it more with --time-limit",
    "group": "add --group NAME",
    "host": "pass --host-by client-id where client ids tell the hosts",
    "like": "pass --like MEMBER: new ones read what it reads, at its rate",
}


IF_NOT_KNOWN = (
    "If you do not know: --assume-equal takes all members as equal; assay capture asks the broker."
)


def who_reads(to: str) -> str:
    """Return how to say who reads what; `to` says what gets the option."""
    return (
        f"To say who reads what, {to} --reads 'MEMBER=+TOPIC' (it reads this topic, too) or "
        f"--reads 'MEMBER=TOPICS' (it reads just these). {IF_NOT_KNOWN}"
    )


WHO_READS = who_reads("add")


def told(error: AssayError) -> str:
    """Return the message of an error with the option that helps."""
    return f"{error.without_remedy}; {OPTIONS[error.remedy]}" if error.remedy else str(error)


class Guarded(FileIO):
    """Standard output or standard error; a line of progress is removed before each write."""

    progress: Shown | None = None

    def write(self, data: ReadableBuffer) -> int:
        """Write to the stream."""
        with nullcontext() if self.progress is None else self.progress.making_way():
            return super().write(data)


class _Answers(Guarded):
    """Standard output: the first failed write raises an error of ours, later writes do nothing."""

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
    """Standard error: a failed write is ignored, as the exit code still tells the outcome."""

    def write(self, data: ReadableBuffer) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(memoryview(data))


def guard() -> None:
    """Replace standard output and error, so that they fail as :mod:`assay.cli` expects.

    Both write UTF-8 whatever the locale, as JSON requires. What UTF-8 cannot encode, such as the
    lone surrogates of an undecodable file name, is escaped.
    """
    closed = sys.stdout is None
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # Otherwise the next opened file would get this descriptor, and our messages.
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is sys.__stdout__:
        answers = _Answers(1, "w", closefd=False)
        if closed:
            answers.fails_with = OSError(errno.EBADF, os.strerror(errno.EBADF))
        sys.stdout = _text(answers)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _text(_Messages(2, "w", closefd=False))


def show(line: str) -> None:
    """Print a line of the answer; characters that are not printable are escaped."""
    put(printable(line))


def show_json(document: object) -> None:
    """Print the answer as one line of JSON."""
    put(as_json(document))


def as_json(document: object, *, indent: int | None = None) -> str:
    """Return a document as JSON; control characters that a terminal would obey are escaped."""
    text = json.dumps(document, ensure_ascii=False, indent=indent)
    lines = text.split("\n")
    return "\n".join(line if line.isprintable() else _escaped(line) for line in lines)


def put(text: str) -> None:
    """Print a text unchanged, with a newline."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def write(lines: Iterable[str], out: str | None) -> None:
    """Write lines to the file `out`; print them if it is None or ``-``.

    Raises
    ------
    BadInput
        If the file cannot be written.
    """
    if out is None or out == "-":
        for line in lines:
            put(line)
        return
    with writing_whole(out) as path, path.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def note_assumed(assumed: Sequence[str]) -> None:
    """Write what was assumed to standard error."""
    for line in assumed:
        note(f"assumed: {line}")


def note_failures(failures: Iterable[Failure]) -> None:
    """Write to standard error which groups or files could not be read, and why."""
    for failure in failures:
        note(str(failure))


def note(line: str) -> None:
    """Write a line to standard error."""
    sys.stderr.write(f"{printable(line)}\n")


def complain(line: str) -> None:
    """Write why the exit code is not 0 to standard error."""
    note(f"assay: {line}")


def printable(text: str) -> str:
    """Return a text with line ends and control characters escaped."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _escaped(line: str) -> str:
    # json.dumps does not escape DEL, C1 controls and characters that change writing direction.
    return "".join(
        c if c.isprintable() else json.dumps(c)[1:-1] if c > "\x7f" else f"\\u{ord(c):04x}"
        for c in line
    )


def _text(raw: FileIO) -> TextIOWrapper:
    return TextIOWrapper(
        BufferedWriter(raw), encoding="utf-8", errors="backslashreplace", line_buffering=True
    )
