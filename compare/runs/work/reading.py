"""Reading: a part of the input to rows of ``groups`` and ``failures``."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from compare.runs.rows import batch, failure_row
from compare.runs.source.reading import Printed, halves, portions
from compare.runs.tables.files import append
from compare.runs.tables.schemas import TABLES
from compare.runs.work.replies import Read
from compare.runs.work.requests import read_items
from compare.runs.work.wire import joined, of_bytes, to_bytes
from groups.importers import Failure
from heuristics.child import Lost

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from compare.runs.job import Job
    from compare.runs.source.reading import Item
    from compare.runs.source.split import Split
    from compare.runs.work.missing import StoredKeys
    from compare.runs.work.process import Process
    from compare.runs.work.tally import Tally

# Some hundred nanoseconds a byte where the machine has nothing else to do.
BYTE_SECONDS = 1e-7
PATIENCE = 20
GRACE_SECONDS = 2.0
PARTS = 32
MOST_ROWS = 20_000
_NAMED = re.compile(r'"group"\s*:\s*("(?:[^"\\]|\\.)+")')
_LOOKED_AT = 2**16


@dataclass
class ReadingTask:
    """A part of the input being read: what is new in it ends up in files.

    Attributes
    ----------
    run : name of the run, which its files bear
    stored : what ``groups`` and ``failures`` hold already
    read : what the process is asked to do
    """

    job: Job
    run: str
    process: Process
    tally: Tally
    stored: Mapping[str, StoredKeys]
    read: Callable[[Job, Sequence[Item | Failure]], Read] = read_items

    def work_on(self, split: Split) -> None:
        """Read, and write what is new; what does harm is a failure with the reason."""
        groups: list[pa.RecordBatch] = []
        failures: list[pa.RecordBatch] = []
        for items in self._portions(split):
            for read in self._taken_apart(items):
                self.tally.add(read.seconds)
                groups.append(of_bytes(read.groups))
                failures.append(of_bytes(read.failures))
            if sum(map(len, groups)) > MOST_ROWS:
                self._write(groups, failures)
        self._write(groups, failures)

    def _portions(self, split: Split) -> Iterator[list[Item | Failure]]:
        left = portions(split)
        while True:
            with self.tally.timed("fetch"):
                items = next(left, None)
            if items is None:
                return
            yield items

    def _taken_apart(self, items: list[Item | Failure]) -> Iterator[Read]:
        """Read things together, and where no answer comes, some of them, down to one."""
        size = sum(0 if isinstance(item, Failure) else item.size for item in items)
        seconds = GRACE_SECONDS + size * PATIENCE * BYTE_SECONDS
        if len(items) == 1:
            seconds += self.job.time_limit
        start = perf_counter()
        read = self.process.call(self.read, self.job, items, seconds=seconds)
        took = perf_counter() - start
        if not isinstance(read, Lost):
            self.tally.seconds["pass"] += took - sum(read.seconds.values())
            yield read
            return
        self.tally.seconds["lost"] += took
        parts = _parts(items)
        for part in parts:
            yield from self._taken_apart(part)
        if not parts:
            yield _harmful(items[0], read.reason)

    def _write(self, groups: list[pa.RecordBatch], failures: list[pa.RecordBatch]) -> None:
        for name, batches, keys in (
            ("groups", groups, self.tally.keys),
            ("failures", failures, self.tally.failures),
        ):
            rows = joined(batches, TABLES[name])
            batches.clear()
            found = rows.column("key").to_pylist()
            keys += found
            with self.tally.timed("write"):
                _, first = np.unique(np.array(found, str), return_index=True)
                rows = rows.take(pa.array(np.sort(first)))
                rows = rows.filter(pa.array(~self.stored[name].hold(rows.column("key"))))
                append(self.job.out, name, rows, self.run)
                self.stored[name].add(rows.column("key"))


def name_in(item: Item) -> str | None:
    """Return the name of the group that a text is of, where its beginning says it."""
    content = item.content
    if not isinstance(content, (bytes, str)):
        return None
    start = content[:_LOOKED_AT]
    text = start if isinstance(start, str) else start.decode(errors="replace")
    said = _NAMED.search(text)
    try:
        return None if said is None else str(json.loads(said[1]))
    except json.JSONDecodeError:
        return None


def _parts(items: list[Item | Failure]) -> list[list[Item | Failure]]:
    """Return what has several things in it in parts; nothing for what has not."""
    if len(items) == 1:
        return halves(items)
    size = -(-len(items) // PARTS)
    return [items[start : start + size] for start in range(0, len(items), size)]


def _harmful(item: Item | Failure, reason: str) -> Read:
    if isinstance(item, Failure):
        failure = item
    else:
        times = item.content.times if isinstance(item.content, Printed) else ()
        at = max((time for time in times if time is not None), default=None)
        failure = Failure(item.source, item.place, reason, name_in(item), captured_at=at)
    none = pa.RecordBatch.from_pylist([], TABLES["groups"])
    return Read(to_bytes(none), to_bytes(batch("failures", [failure_row(failure)])), {})
