"""Progress: what a consumer has done so far, by its own account."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# As a client hands it over: topic, partition number, first and last offset, and when the first
# one was written, in seconds since 1970.
Batch = tuple[str, int, int, int, float]
# The same with what is known where it was read, as it goes over the pipe.
Row = tuple[float, str, int, int, int, float]


@dataclass(frozen=True)
class Read:
    """Records of one partition that one poll returned.

    Attributes
    ----------
    at : when, by this machine's monotonic clock, in seconds
    topic, partition : of the records
    first, last : their offsets
    waited_seconds : from when the first one was written to when it was read
    """

    at: float
    topic: str
    partition: int
    first: int
    last: int
    waited_seconds: float


@dataclass(frozen=True)
class Progress:
    """How far a consumer is.

    Attributes
    ----------
    polls : how many of its polls have returned
    poll_seconds : how long the one lasts that it is in
    cpu_seconds : what its process has used of all processors
    reads : what it has read since it was last asked
    """

    polls: int
    poll_seconds: float
    cpu_seconds: float
    reads: tuple[Read, ...]


class Diary:
    """What a consumer notes in the thread that polls, and another thread tells."""

    def __init__(self) -> None:
        self._polls = 0
        self._since = time.monotonic()
        self._rows: deque[Row] = deque()

    def polled(self, batches: Iterable[Batch]) -> None:
        """Note a poll that has returned, and what it brought."""
        now, clock = time.monotonic(), time.time()
        self._rows.extend((now, *batch[:4], clock - batch[4]) for batch in batches)
        self._polls, self._since = self._polls + 1, now

    def told(self) -> dict[str, object]:
        """Return what is noted; what was read is told once."""
        rows = [self._rows.popleft() for _ in range(len(self._rows))]
        return {
            "polls": self._polls,
            "poll_seconds": time.monotonic() - self._since,
            "cpu_seconds": time.process_time(),
            "reads": rows,
        }
