"""Progress: one line on standard error about a command that takes over two seconds.

The line is rewritten in place, and removed when anything else is written. It is shown only if
standard error is a terminal.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager
from threading import Event, RLock, Thread
from time import monotonic
from typing import TYPE_CHECKING

from assay.streams import Guarded, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

AFTER_SECONDS = 2.0
EVERY_SECONDS = 0.5
# Commands that wait for a client or a cluster, and print messages of their own.
QUIET = ("probe", "watch")


@contextmanager
def progress(arguments: Sequence[str]) -> Iterator[None]:
    """Show the running time of a command, and its last call of :func:`report_progress`.

    Parameters
    ----------
    arguments : the command line without the program's name
    """
    name = next((word for word in arguments if not word.startswith("-")), None)
    typing = "-" in arguments and sys.stdin is not None and sys.stdin.isatty()
    guarded = [raw for raw in map(_raw, (sys.stdout, sys.stderr)) if raw is not None]
    is_terminal = _raw(sys.stderr) is not None and sys.stderr.isatty()
    if name is None or name in QUIET or typing or not is_terminal:
        yield
        return
    line = _Line(name)
    for raw in guarded:
        raw.progress = line
    line.start()
    try:
        yield
    finally:
        line.stop()
        for raw in guarded:
            raw.progress = None


def report_progress(said: str) -> None:
    """Show how far a command is; does nothing if no progress is shown."""
    raw = _raw(sys.stderr)
    if raw is not None and isinstance(raw.progress, _Line):
        raw.progress.said = said


class _Line:
    """The line of progress, drawn by its own thread."""

    def __init__(self, name: str) -> None:
        self.said = ""
        self._name = name
        self._drawn = 0
        self._lock = RLock()
        self._ended = Event()
        self._thread = Thread(target=self._draw, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()
        with self.making_way():
            pass

    @contextmanager
    def making_way(self) -> Iterator[None]:
        """Remove the line while something is written; the next tick draws it again."""
        with self._lock:
            self._put("")
            yield

    def _draw(self) -> None:
        started, wait = monotonic(), AFTER_SECONDS
        while not self._ended.wait(wait):
            wait = EVERY_SECONDS
            seconds = f"{monotonic() - started:.0f} s"
            said = ", ".join(filter(None, [printable(self.said), seconds]))
            with self._lock:
                self._put(f"assay {self._name}: {said}")

    def _put(self, text: str) -> None:
        # One column stays free: some terminals wrap after a full line.
        shown = text[: shutil.get_terminal_size().columns - 1]
        if self._drawn or shown:
            blanks = " " * (self._drawn - len(shown))
            back = "\r" if blanks and not shown else ""
            try:
                os.write(2, f"\r{shown}{blanks}{back}".encode())
            except OSError:
                self._ended.set()
        self._drawn = len(shown)


def _raw(stream: object) -> Guarded | None:
    raw = getattr(getattr(stream, "buffer", None), "raw", None)
    return raw if isinstance(raw, Guarded) else None
