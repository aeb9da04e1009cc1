"""Worker: reads, solves and scores groups on a Spark worker, in a child process that may die.

A batch is decoded and solved in one long-lived child. If the child dies, holds too much memory or
is late, the batch is cut into parts until the group that does it is found and becomes a row.
"""

from __future__ import annotations

import os
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from compare.fleet.items import (
    BATCH_GROUPS,
    Item,
    decoded,
    failure_of,
    item_of_texts,
    items_in_file,
    items_in_lines,
    single_rows,
)
from compare.fleet.job import Lack
from compare.fleet.optima import (
    ANSWERS,
    answers_in,
    failure_answers,
    rows_in,
    solve_and_score,
    unscored_answers,
    unsolved_answers,
    unsolved_in,
)
from groups.errors import AssayError, Failure
from groups.portions import in_portions
from groups.table.layout import joined
from groups.tiers import is_flow
from heuristics.child import Child, Lost, allowed_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from compare.fleet.job import Job

BATCH_BYTES = 2**22
# Groups that assignors get at once: few, as all of them are repeated if a client hangs.
ASKED_GROUPS = 64
PARTS = 32
# The longest that a group takes on an idle machine, and the factor for a busy one.
BYTE_SECONDS = 1e-7
GROUP_SECONDS = 1e-3
UNKNOWN_SECONDS = 0.02
PATIENCE = 20
GRACE_SECONDS = 2.0
# A Java client needs some seconds to start.
CLIENT_SECONDS = 60.0
# At least this many workers are expected to wait for one client that joined a probe.
MOST_WORKERS = 16
LEAST_MEMORY = 2**30
NOTHING = Lack(optimum=False, assignors=())


def answer(
    job: Job,
    items_of: Callable[[Iterable[pa.RecordBatch]], Iterable[Item | Failure]],
    do: str,
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Yield rows of `ANSWERS` for the items in batches.

    Parameters
    ----------
    items_of : yields the items in batches
    do : ``read`` to read the groups only, ``answer`` to solve and score them, too
    """
    yield from _worker_of(job).answers(items_of(batches), do)


def items_of_lines(
    names: Mapping[str, str],
    batches: Iterable[pa.RecordBatch],
    *,
    before: Mapping[tuple[str, int], int],
    in_folder: bool = False,
) -> Iterator[Item | Failure]:
    """Yield the items and failures in lines of files.

    Parameters
    ----------
    names : of files, by address
    batches : with the columns `path`, `block` and `value`; the lines of a block in their order
    before : number of lines in a file before a block, by the file's address and the block's start;
        without an entry, it is that start
    in_folder : whether files are from a folder; then lines of other formats of ours are skipped
    """
    at = dict(before)

    def texts() -> Iterator[tuple[str, int, bytes]]:
        for path, block, value in _rows(batches, "path", "block", "value"):
            at[path, block] = at.get((path, block), block) + 1
            yield names[path], at[path, block], value

    return items_in_lines(texts(), in_folder=in_folder)


def items_of_files(
    names: Mapping[str, str], batches: Iterable[pa.RecordBatch], *, in_folder: bool
) -> Iterator[Item | Failure]:
    """Yield the items and failures in whole files.

    Parameters
    ----------
    names : of files, by address
    batches : with the columns `together`, `path`, `time` and `content`, sorted by `together`:
        texts with the same value there may be views of the same groups
    """
    rows = _rows(batches, "together", "path", "time", "content")
    for _, files in groupby(rows, lambda row: row[0]):
        texts = []
        for _, path, time, content in files:
            for item in items_in_file(names[path], content, in_folder=in_folder):
                if item is None:
                    texts.append((names[path], content, time))
                else:
                    yield item
        if texts:
            yield item_of_texts(texts)


def items_of_rows(names: Mapping[str, str], batches: Iterable[pa.RecordBatch]) -> Iterator[Item]:
    """Yield items of several rows of the layout.

    Parameters
    ----------
    names : of files, by address
    batches : with the columns of the layout, `path`, and `row`, the number in the file from 0
    """
    for batch in batches:
        paths, rows = batch.column("path").to_pylist(), batch.column("row").to_pylist()
        start = 0
        for path, same in groupby(paths):
            end = start + len(list(same))
            for first in range(start, end, BATCH_GROUPS):
                part = batch.slice(first, min(BATCH_GROUPS, end - first))
                yield Item(names[path], names[path], part, rows[first])
            start = end


def _rows(batches: Iterable[pa.RecordBatch], *columns: str) -> Iterator[tuple[Any, ...]]:
    for batch in batches:
        yield from zip(*(batch.column(name).to_pylist() for name in columns), strict=True)


def answers_of_groups(job: Job, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of `ANSWERS` that the tables lack, of groups and failures that are read.

    Parameters
    ----------
    batches : with the columns of `compare.fleet.optima.ANSWERS`, and `known`, a list of what the
        tables hold of the group: `groups`, and the `made_by` of its optimum and scores
    """
    worker = _worker_of(job)
    for batch in batches:
        rows = batch.drop_columns(["known"])
        held = [frozenset(one or ()) for one in batch.column("known").to_pylist()]
        yield rows.filter(pa.array(["groups" not in one for one in held], pa.bool_()))
        for known in dict.fromkeys(held):
            chosen = rows.filter(pa.array([one == known for one in held]))
            yield from worker.solved(rows_in(chosen, "groups"), job.lack(known))


def read_items(job: Job, items: Sequence[Item]) -> pa.RecordBatch:
    """Return the groups and failures in items, as rows of `compare.fleet.optima.ANSWERS`."""
    rows, failures = decoded(items, job.reset, assume_equal=job.assume_equal)
    return joined([answers_in("groups", rows), failure_answers(failures)], ANSWERS)


@cache
def _worker_of(job: Job) -> Worker:
    job.prepare()
    return Worker(job)


class Worker:
    """A Spark worker process with its child.

    Parameters
    ----------
    memory_bytes : the most that the child may hold; None: a share of the machine
    read, solve : the functions that run in the child
    """

    def __init__(
        self,
        job: Job,
        *,
        memory_bytes: int | None = None,
        read: Callable[..., pa.RecordBatch] = read_items,
        solve: Callable[..., pa.RecordBatch] = solve_and_score,
    ) -> None:
        self.job, self.read, self.solve = job, read, solve
        # There is a worker for each core.
        share = max(allowed_bytes() * 4 // (5 * (os.cpu_count() or 1)), LEAST_MEMORY)
        self._child = Child(share if memory_bytes is None else memory_bytes)

    def close(self) -> None:
        """Stop the child."""
        self._child.close()

    def answers(self, items: Iterable[Item | Failure], do: str) -> Iterator[pa.RecordBatch]:
        """Yield rows of `ANSWERS` for items and failures, batch by batch; `do` as in `answer`."""
        for batch in in_portions(items, _size, most=BATCH_BYTES, count=BATCH_GROUPS):
            bad = [one for one in batch if isinstance(one, Failure)]
            if bad:
                yield failure_answers(bad)
            good = [one for one in batch if isinstance(one, Item)]
            for rows in self._read(good) if good else ():
                if do == "read":
                    yield rows
                    continue
                once = first_of_each_key(rows)
                yield once
                yield from self.solved(rows_in(once, "groups"), self.job.lack())

    def solved(self, rows: pa.RecordBatch, lack: Lack) -> Iterator[pa.RecordBatch]:
        """Yield what rows of ``groups`` lack, all of them the same, as rows of `ANSWERS`.

        Assignors are called after the solver: they may take long, and a group whose solver hangs
        needs no call.
        """
        for part in self._batches(rows, BATCH_GROUPS):
            unsolved: dict[str, str] = {}
            if lack.own != NOTHING:
                for answers in self._solved(part, lack.own):
                    yield answers
                    unsolved |= unsolved_in(answers)
            if not lack.others:
                continue
            others = Lack(optimum=False, assignors=lack.others)
            is_unsolved = pc.is_in(
                part.column("key"), value_set=pa.array([*unsolved], pa.string())
            )
            without = part.filter(is_unsolved)
            reasons = [unsolved[key] for key in without.column("key").to_pylist()]
            yield unsolved_answers(self.job, without, others, reasons)
            for asked in self._batches(part.filter(pc.invert(is_unsolved)), ASKED_GROUPS):
                yield from self._solved(asked, others)

    def _batches(self, rows: pa.RecordBatch, most: int) -> Iterator[pa.RecordBatch]:
        """Yield rows in batches that are solved together: single ones if a search solves them."""
        size = most if is_flow(self.job.objective) else 1
        for start in range(0, len(rows), size):
            yield rows.slice(start, size)

    def _read(self, items: Sequence[Item]) -> Iterator[pa.RecordBatch]:
        """Read items together; if the child is lost, in parts, down to single groups."""
        size, groups = sum(item.size for item in items), sum(item.groups for item in items)
        answer = self._call(self.read, items, seconds=self._seconds(size, groups, NOTHING))
        if not isinstance(answer, Lost):
            yield answer
        elif groups > 1:
            for part in _parts_of(items if len(items) > 1 else [*single_rows(items[0])]):
                yield from self._read(part)
        else:
            yield failure_answers([failure_of(items[0], answer.reason)])

    def _solved(self, rows: pa.RecordBatch, lack: Lack) -> Iterator[pa.RecordBatch]:
        """Solve rows together; if the child is lost, in parts, down to single groups."""
        unknown = len(rows) - int(rows.column("subscription_known").null_count)
        seconds = self._seconds(rows.nbytes, len(rows), lack, unknown=unknown)
        answer = self._call(self.solve, rows, lack, seconds=seconds)
        if not isinstance(answer, Lost):
            yield answer
        elif len(rows) > 1:
            for part in _parts_of(rows):
                yield from self._solved(part, lack)
        elif lack.others:
            yield unscored_answers(self.job, rows, lack.others, [answer.reason])
        else:
            yield unsolved_answers(self.job, rows, lack, [answer.reason])

    def _seconds(self, size: int, groups: int, lack: Lack, *, unknown: int = 0) -> float:
        """Return how long the child may take for some groups.

        Parameters
        ----------
        size : bytes of their texts or rows
        unknown : how many of the groups have unknown subscriptions
        """
        usual = BYTE_SECONDS * size + GROUP_SECONDS * groups + UNKNOWN_SECONDS * unknown
        # With unknown subscriptions there are two optima, and more solves for the question.
        limit = self.job.time_limit * (4 if unknown else 1) if groups == 1 else 0.0
        return max(PATIENCE * usual, limit) + GRACE_SECONDS + self.extra_seconds(groups, lack)

    def extra_seconds(self, groups: int, lack: Lack) -> float:
        """Return the extra seconds for searches and assignors, which keep their own limits."""
        job = self.job
        is_searched = (lack.optimum or lack.assignors) and not is_flow(job.objective)
        more = groups * 4 * job.time_limit if is_searched else 0.0
        more += len(lack.others) * (CLIENT_SECONDS + groups * (job.time_limit + GRACE_SECONDS))
        if job.guests:
            from heuristics.shipped.probe.guest import MOST_TIMES, WAIT_SECONDS

            each = MOST_TIMES * (job.time_limit + WAIT_SECONDS)
            workers = max(os.cpu_count() or 1, MOST_WORKERS)
            more += len(job.guests) * groups * each * workers
        return more

    def _call(
        self,
        step: Callable[..., pa.RecordBatch],
        given: Sequence[Item] | pa.RecordBatch,
        *more: object,
        seconds: float,
    ) -> pa.RecordBatch | Lost:
        packed = to_bytes(given) if isinstance(given, pa.RecordBatch) else given
        answer = self._child.call(_run_step, step, self.job, packed, more, seconds=seconds)
        return answer if isinstance(answer, Lost) else of_bytes(answer)


def _run_step(
    step: Callable[..., pa.RecordBatch],
    job: Job,
    packed: Sequence[Item] | bytes,
    more: tuple[object, ...],
) -> bytes | Lost:
    """Return the rows of a step in the child, or Lost with the reason if it raises."""
    try:
        job.prepare()
        given = of_bytes(packed) if isinstance(packed, bytes) else packed
        return to_bytes(step(job, given, *more))
    except AssayError as error:
        return Lost(str(error))


def _size(item: Item | Failure) -> int:
    return item.size if isinstance(item, Item) else 0


def _parts_of(batch: Any) -> Iterator[Any]:
    """Yield a list or rows in up to `PARTS` parts."""
    size = -(-len(batch) // PARTS)
    for start in range(0, len(batch), size):
        yield batch[start : start + size]


def first_of_each_key(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return the first row of each `key`."""
    keys = rows.column("key")
    if len(keys.unique()) == len(keys):
        return rows
    first = pc.index_in(keys.unique(), value_set=keys)
    return rows.take(first)


def to_bytes(rows: pa.RecordBatch) -> bytes:
    """Return rows as an Arrow stream; of a slice, only its own rows, unlike `pickle`."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_batch(rows)
    return bytes(sink.getvalue())


def of_bytes(data: bytes) -> pa.RecordBatch:
    """Return the rows of :func:`to_bytes`."""
    with pa.ipc.open_stream(data) as stream:
        return stream.read_next_batch()
