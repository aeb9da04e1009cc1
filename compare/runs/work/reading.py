"""Reading: a part of the input to rows of ``groups`` and ``failures``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from compare.runs.rows import batch, failure_row
from compare.runs.source.reading import Printed, halves, portions, said_in, size_of
from compare.runs.source.split import OutOfReach
from compare.runs.tables.schemas import TABLES
from compare.runs.work.apart import taken_apart
from compare.runs.work.call import call
from compare.runs.work.parts import row_of, stands_now
from compare.runs.work.plan import Lack, is_cheap
from compare.runs.work.replies import Read
from compare.runs.work.requests import read_items
from compare.runs.work.task import COLUMNS, lengths
from compare.runs.work.wire import of_bytes, to_bytes
from compare.scores import CURRENT
from groups.errors import Failure
from groups.tiers import is_flow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from compare.runs.job import Job
    from compare.runs.source.reading import Item
    from compare.runs.source.split import Split
    from compare.runs.work.stored import Stored
    from compare.runs.work.task import Task
    from heuristics.child import Lost

# Some hundred nanoseconds a byte where the machine has nothing else to do.
BYTE_SECONDS = 1e-7
PATIENCE = 20
GRACE_SECONDS = 2.0
EVERYTHING = Lack(optimum=True, assignors=(CURRENT,))


@dataclass
class ReadingTask:
    """A part of the input being read: what is new in it ends up in files.

    Groups that are new and cost little are solved on the spot, where nobody is asked about them:
    to write all of them first and read them again costs more.

    Attributes
    ----------
    task : what solves, and keeps rows until they are written
    stored : what the tables hold already
    read : what the process is asked to do
    """

    task: Task
    stored: Stored
    read: Callable[[Job, Sequence[Item | Failure]], Read] = read_items

    def work_on(self, split: Split) -> None:
        """Read, and write what is new; what does harm is a failure with the reason."""
        tally, left, stood = self.task.tally, portions(split), stands_now(split)
        groups, failures = len(tally.keys), len(tally.failures)
        is_lasting = True
        while True:
            with tally.timed("fetch"):
                items = next(left, None)
            if items is None:
                break
            # Another time it may be within reach, or do no harm.
            is_lasting &= not any(isinstance(item, OutOfReach) for item in items)
            for read in self._read(items):
                self._take(read)
                is_lasting &= read.is_lasting
        with tally.timed("fetch"):
            came_to = tally.keys[groups:], tally.failures[failures:]
            part = row_of(self.task.job, split, stood if is_lasting else None, *came_to)
        self.task.unwritten.add("parts", self._new("parts", part))
        self.task.unwritten.write()

    def _read(self, items: Sequence[Item | Failure]) -> Iterator[Read]:
        """Read things together, and where no answer comes, some of them, down to one group."""

        def ask(first: int, end: int) -> Read | Lost:
            some = items[first:end]
            seconds = GRACE_SECONDS + sum(map(size_of, some)) * PATIENCE * BYTE_SECONDS
            if len(some) == 1:
                seconds += self.task.job.time_limit
            task = self.task
            return call(task.process, task.tally, self.read, task.job, some, seconds=seconds)

        for first, _, read in taken_apart(0, len(items), ask):
            if isinstance(read, Read):
                yield read
            elif parts := halves(items[first]):
                for part in parts:
                    yield from self._read([part])
            else:
                yield _harmful(items[first], read.reason)

    def _take(self, read: Read) -> None:
        """Keep what is new, and solve what of it costs little."""
        tally, unwritten = self.task.tally, self.task.unwritten
        groups, failures = of_bytes(read.groups), of_bytes(read.failures)
        tally.keys += groups.column("key").to_pylist()
        tally.failures += failures.column("key").to_pylist()
        with tally.timed("plan"):
            groups, failures = self._new("groups", groups), self._new("failures", failures)
            cheap = self._cheap(groups)
        unwritten.add("groups", groups)
        unwritten.add("failures", failures)
        self.task.take(cheap, EVERYTHING)
        if unwritten.is_due:
            unwritten.write()

    def _new(self, name: str, rows: pa.RecordBatch) -> pa.RecordBatch:
        return rows.filter(pa.array(self.stored[name].take_in(rows.column("key"))))

    def _cheap(self, groups: pa.RecordBatch) -> pa.RecordBatch:
        """Return the groups that are solved on the spot, of those that are new."""
        job, rows = self.task.job, groups.select(COLUMNS)
        if job.assignors != EVERYTHING.assignors or not is_flow(job.objective):
            return rows.slice(0, 0)
        chosen = is_cheap(lengths(groups, "members"), lengths(groups, "owner"))
        chosen &= np.asarray(pc.is_null(groups.column("subscription_known")))
        rows = rows.filter(pa.array(chosen))
        # Files of ``groups`` that were lost leave others behind.
        if len(rows) and (len(self.stored["optima"]) or len(self.stored["scores"])):
            keys = rows.column("key").to_pylist()
            known = self.stored["optima"].hold(job.optimum_keys(keys))
            known |= self.stored["scores"].hold(job.score_keys(keys, CURRENT))
            rows = rows.filter(pa.array(~known))
        return rows


def name_in(item: Item) -> str | None:
    """Return the name of the group that a text is of, where its beginning says it."""
    content = item.content
    return said_in(content, "group") if isinstance(content, (bytes, str)) else None


def _harmful(item: Item | Failure, reason: str) -> Read:
    if isinstance(item, Failure):
        failure = item
    else:
        times = item.content.times if isinstance(item.content, Printed) else ()
        at = max((time for time in times if time is not None), default=None)
        failure = Failure(item.source, item.place, reason, name_in(item), captured_at=at)
    none = pa.RecordBatch.from_pylist([], TABLES["groups"])
    return Read(to_bytes(none), to_bytes(batch("failures", [failure_row(failure)])), {}, False)
