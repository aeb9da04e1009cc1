"""Watch: how far a run is, by the files that its tasks have written."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread
from time import perf_counter
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

EVERY_SECONDS = 2.0


@dataclass
class Watch:
    """How far a run is.

    Attributes
    ----------
    out, run : folder of the tables, and the name that the run's files begin with
    total : how many groups there are to do
    scores : how many rows each of them gets in ``scores``, about
    proved, failed : of those that are done, how many have these statuses
    started : when work began
    """

    out: Path
    run: str
    total: int
    scores: float
    proved: int = 0
    failed: int = 0
    started: float = field(default_factory=perf_counter)
    _optima: int = 0
    _scored: int = 0
    _seen: set[str] = field(default_factory=set)

    @property
    def done(self) -> int:
        """How many groups are done, about: where optima were there already, scores tell."""
        return min(self.total, max(self._optima, int(self._scored / max(self.scores, 1.0))))

    def leave_out(self) -> None:
        """Count nothing of what the run has written before it came to this."""
        for name in ("optima", "scores"):
            self._seen |= {file.name for file in (self.out / name).glob(f"{self.run}-*.parquet")}

    def look(self) -> None:
        """Count what is in files that were not there before."""
        for file in _new(self.out / "scores", self.run, self._seen):
            self._scored += pq.read_metadata(file).num_rows
        for file in _new(self.out / "optima", self.run, self._seen):
            status = pq.read_table(file, columns=["status"])["status"]
            self._optima += len(status)
            self.proved += _count(status, "optimal")
            self.failed += _count(status, "failed")

    def line(self) -> str:
        """Return a line for people."""
        seconds = perf_counter() - self.started
        rate = self.done / seconds if seconds else 0.0
        said = [f"{self.done:,} of {counted(self.total, 'group')}"]
        if self._optima:
            said.append(f"{self.proved:,} proved, {self.failed:,} failed")
        if rate:
            said.append(f"{rate:,.0f} a second" if rate >= 1 else f"{60 * rate:,.1f} a minute")
            said.append(f"{_time((self.total - self.done) / rate)} left")
        return ", ".join(said)


@dataclass
class ReadingWatch:
    """How far a run is that reads its input, and solves what is cheap as it is read.

    Attributes
    ----------
    out, run : folder of the tables, and the name that the run's files begin with
    size : bytes of the input that are read
    started : when that began
    """

    out: Path
    run: str
    size: int
    started: float = field(default_factory=perf_counter)
    _bytes: int = 0
    _groups: int = 0
    _seen: set[str] = field(default_factory=set)

    @property
    def done(self) -> int:
        """How many bytes are read, or more: a part that did harm leaves no row."""
        return self._bytes

    def look(self) -> None:
        """Count what is in files that were not there before."""
        for file in _new(self.out / "parts", self.run, self._seen):
            table = pq.read_table(file, columns=["bytes", "groups"])
            self._bytes += pc.sum(table["bytes"]).as_py() or 0
            self._groups += len(pc.list_flatten(table["groups"]))

    def line(self) -> str:
        """Return a line for people."""
        seconds = perf_counter() - self.started
        share = min(self._bytes / max(self.size, 1), 1.0)
        said = [f"at least {share:.0%} of the input read", counted(self._groups, "group")]
        if seconds and share:
            said.append(f"{self._groups / seconds:,.0f} a second")
            said.append(f"{_time(seconds * (1 - share) / share)} left")
        return ", ".join(said)


@contextmanager
def watched(watch: Watch | ReadingWatch, far: Callable[[str], None]) -> Iterator[None]:
    """Show every two seconds how far a run is, while something happens."""
    ended = Event()

    def keep_looking() -> None:
        while not ended.wait(EVERY_SECONDS):
            try:
                watch.look()
            except (OSError, pa.ArrowInvalid):
                # Whoever reads the tables for good says what is wrong with them.
                continue
            if watch.done:
                far(watch.line())

    thread = Thread(target=keep_looking, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _new(table: Path, run: str, seen: set[str]) -> Iterator[Path]:
    """Yield the files that a run has written to a table and that were not seen; they are now."""
    for file in table.glob(f"{run}-*.parquet"):
        if file.name not in seen:
            seen.add(file.name)
            yield file


def _count(status: pa.ChunkedArray, word: str) -> int:
    return int(pc.sum(pc.equal(status, word)).as_py() or 0)


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
