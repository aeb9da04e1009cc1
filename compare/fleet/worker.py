"""Worker: what runs on Spark's workers, each with a child process in which groups may do harm.

A batch is decoded and solved in one long-lived child. Where the child dies, holds too much memory
or is late, the batch is cut into parts until what did it stands by itself and becomes a row.
"""

from __future__ import annotations

import os
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from compare.fleet.items import (
    BATCH_GROUPS,
    Given,
    Item,
    decoded,
    harmful,
    in_files,
    lines,
    rows_of,
)
from compare.fleet.job import Lack
from compare.fleet.optima import (
    answered,
    failed,
    lost,
    nested,
    no_optimum,
    unscored,
    with_scores,
)
from groups.errors import AssayError, Failure, in_one_line
from groups.portions import in_portions
from groups.table.layout import joined
from groups.tiers import is_flow
from heuristics.child import Child, Lost, allowed_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from compare.fleet.job import Job

BATCH_BYTES = 2**22
# Of groups that assignors are asked about: where a client hangs, these have to be asked again.
ASKED_GROUPS = 64
PARTS = 32
# What a group costs at most on an idle machine, and how much longer a busy one may take.
BYTE_SECONDS = 1e-7
GROUP_SECONDS = 1e-3
UNKNOWN_SECONDS = 0.02
PATIENCE = 20
GRACE_SECONDS = 2.0
# A client of Java's needs some seconds to start.
CLIENT_SECONDS = 60.0
# How many workers wait for one client that joined a probe, at most, where cores do not say.
MOST_WORKERS = 16
LEAST_MEMORY = 2**30
NOTHING = Lack(optimum=False, assignors=())


def answer(
    job: Job,
    things: Callable[[Iterable[pa.RecordBatch]], Iterable[Item | Failure]],
    do: str,
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Yield what is answered of the things in batches.

    Parameters
    ----------
    do : ``answer`` to solve what is read, ``read`` to do no more than that
    """
    yield from _worker(job).answers(things(batches), do)


def of_lines(
    names: Mapping[str, str],
    batches: Iterable[pa.RecordBatch],
    *,
    before: Mapping[tuple[str, int], int],
) -> Iterator[Item | Failure]:
    """Yield what stands in lines of files.

    Parameters
    ----------
    names : of files, by their addresses
    batches : with the columns `path`, `block` and `value`; the lines of a block in their order
    before : lines that stand in a file before a block of it, by its address and its beginning
    """
    at = dict(before)

    def texts() -> Iterator[tuple[str, int, bytes]]:
        for path, block, value in _rows(batches, "path", "block", "value"):
            at[path, block] = at.get((path, block), 0) + 1
            yield names[path], at[path, block], value

    return lines(texts())


def of_files(
    names: Mapping[str, str], batches: Iterable[pa.RecordBatch], *, in_folder: bool
) -> Iterator[Item | Failure]:
    """Yield what stands in whole files.

    Parameters
    ----------
    batches : with the columns `together`, `path`, `time` and `content`, as `items.in_files` takes
        them
    """
    rows = _rows(batches, "together", "path", "time", "content")
    files = ((together, names[path], time, content) for together, path, time, content in rows)
    return in_files(files, in_folder=in_folder)


def of_rows(names: Mapping[str, str], batches: Iterable[pa.RecordBatch]) -> Iterator[Item]:
    """Yield rows of the layout, some at once.

    Parameters
    ----------
    batches : with the columns of the layout, `path`, and `row`, the number in the file from 0
    """
    for batch in batches:
        paths, rows = batch.column("path").to_pylist(), batch.column("row").to_pylist()
        start = 0
        for path, some in groupby(paths):
            end = start + len(list(some))
            for first in range(start, end, BATCH_GROUPS):
                part = batch.slice(first, min(BATCH_GROUPS, end - first))
                yield Item(names[path], names[path], part, rows[first])
            start = end


def _rows(batches: Iterable[pa.RecordBatch], *columns: str) -> Iterator[tuple[Any, ...]]:
    for batch in batches:
        yield from zip(*(batch.column(name).to_pylist() for name in columns), strict=True)


def of_groups(job: Job, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield what is still to be answered of groups that are read.

    Parameters
    ----------
    batches : with the columns of `compare.fleet.optima.ANSWERS`, and `known`: what the tables hold
        of the group: `groups`, and the keys of all that makes a row but the group
    """
    made = {job.score_made_by(name): name for name in job.assignors}
    worker = _worker(job)
    for batch in batches:
        held = [frozenset(one or ()) for one in batch.column("known").to_pylist()]
        rows = batch.drop_columns(["known"])
        kinds = list(zip(held, batch.column("is_group").to_pylist(), strict=True))
        for known, is_group in dict.fromkeys(kinds):
            chosen = rows.filter(pa.array([kind == (known, is_group) for kind in kinds]))
            optimum = job.optimum_made_by not in known
            names = tuple(name for key, name in made.items() if key not in known)
            answers: Iterable[pa.RecordBatch] = [chosen]
            if is_group and (optimum or names):
                groups = pa.RecordBatch.from_struct_array(chosen.column("groups"))
                answers = worker.solved(groups, Lack(optimum, names))
            for some in answers:
                if "groups" in known:
                    nothing = pa.nulls(len(some), some.column("groups").type)
                    at = some.schema.get_field_index("groups")
                    yield some.set_column(at, some.schema.field(at), nothing)
                else:
                    yield some


def read_items(job: Job, items: Sequence[Item]) -> bytes:
    """Return what things hold, as rows of `compare.fleet.optima.ANSWERS`."""
    rows, failures = decoded(items, Given(job.reset, job.assume_equal))
    return to_bytes(nested(rows), failed(failures))


def solve_rows(job: Job, rows: bytes, lack: Lack) -> bytes:
    """Return what the tables lack of groups that are read."""
    return to_bytes(answered(job, of_bytes(rows), lack))


class Steps(NamedTuple):
    """What a worker asks of its child, each of which returns rows as bytes."""

    read: Callable[..., bytes] = read_items
    solve: Callable[..., bytes] = solve_rows


@cache
def _worker(job: Job) -> Worker:
    job.prepare()
    return Worker(job)


class Worker:
    """A process of Spark's with its child.

    Parameters
    ----------
    memory_bytes : the most that the child may hold; a share of the machine unless told otherwise
    steps : what the child does
    """

    def __init__(
        self, job: Job, *, memory_bytes: int | None = None, steps: Steps | None = None
    ) -> None:
        self.job = job
        self.steps = steps or Steps()
        self._child = Child(_memory_share() if memory_bytes is None else memory_bytes)

    def close(self) -> None:
        """Stop the child."""
        self._child.close()

    def answers(self, items: Iterable[Item | Failure], do: str) -> Iterator[pa.RecordBatch]:
        """Yield what is answered of things that are to be read, a batch after the other."""
        for some in in_portions(items, _size, most=BATCH_BYTES, count=BATCH_GROUPS):
            bad = [one for one in some if isinstance(one, Failure)]
            if bad:
                yield failed(bad)
            good = [one for one in some if isinstance(one, Item)]
            for rows in self._read(good) if good else ():
                if do == "read":
                    yield rows
                    continue
                is_group = rows.column("is_group")
                if not pc.all(is_group).as_py():
                    yield rows.filter(pc.invert(is_group))
                groups = pa.RecordBatch.from_struct_array(rows.column("groups").filter(is_group))
                yield from self.solved(once(groups), self.job.lack)

    def solved(self, rows: pa.RecordBatch, lack: Lack) -> Iterator[pa.RecordBatch]:
        """Yield what is answered of rows of ``groups`` that all lack the same."""
        if lack.own == NOTHING:
            yield from self._in_turn(rows, lack)
            return
        for some in self._in_turn(rows, lack.own):
            yield self._with_others(some, lack.others)

    def _with_others(self, rows: pa.RecordBatch, others: tuple[str, ...]) -> pa.RecordBatch:
        """Return rows with what assignors make of the groups, who are asked once these are solved.

        Assignors may take long, which nobody has to wait for where it is the solver that hangs.
        """
        if not others:
            return rows
        optima = rows.column("optima")
        reason = pc.struct_field(optima, "reason")
        has_failed = pc.fill_null(pc.equal(pc.struct_field(optima, "status"), "failed"), False)
        groups = pa.RecordBatch.from_struct_array(rows.column("groups"))
        good = pc.and_not(rows.column("is_group"), has_failed)
        more = [*self._in_turn(groups.filter(good), Lack(optimum=False, assignors=others))]
        why = no_optimum(reason.filter(has_failed).to_pylist())
        more.append(unscored(self.job, groups.filter(has_failed), others, why))
        return with_scores(rows, more)

    def _in_turn(self, rows: pa.RecordBatch, lack: Lack) -> Iterator[pa.RecordBatch]:
        most = ASKED_GROUPS if lack.others else BATCH_GROUPS
        if not is_flow(self.job.objective):
            most = 1
        for start in range(0, len(rows), most):
            yield from self._solved(rows.slice(start, most), lack)

    def _read(self, items: Sequence[Item]) -> Iterator[pa.RecordBatch]:
        """Read things together; where no answer comes, parts of them, down to one group."""
        size, groups = sum(item.size for item in items), sum(item.groups for item in items)
        answer = self._call(self.steps.read, items, seconds=self._seconds(size, groups, NOTHING))
        if not isinstance(answer, Lost):
            yield of_bytes(answer)
        elif groups > 1:
            for some in _parts(items if len(items) > 1 else [*rows_of(items[0])]):
                yield from self._read(some)
        else:
            yield failed([harmful(items[0], answer.reason)])

    def _solved(self, rows: pa.RecordBatch, lack: Lack) -> Iterator[pa.RecordBatch]:
        unknown = len(rows) - int(rows.column("subscription_known").null_count)
        seconds = self._seconds(rows.nbytes, len(rows), lack, unknown=unknown)
        answer = self._call(self.steps.solve, to_bytes(rows), lack, seconds=seconds)
        if not isinstance(answer, Lost):
            yield of_bytes(answer)
        elif len(rows) > 1:
            for some in _parts(rows):
                yield from self._solved(some, lack)
        elif lack.others:
            yield unscored(self.job, rows, lack.others, [answer.reason])
        else:
            yield lost(self.job, rows, lack, answer.reason)

    def _seconds(self, size: int, groups: int, lack: Lack, *, unknown: int = 0) -> float:
        """Return how long groups may take of which so many have unknown subscriptions.

        Parameters
        ----------
        size : bytes of their texts or rows
        """
        usual = BYTE_SECONDS * size + GROUP_SECONDS * groups + UNKNOWN_SECONDS * unknown
        # It is solved for the most and the least that members may read, and asked about.
        limit = self.job.time_limit * (4 if unknown else 1) if groups == 1 else 0.0
        return max(PATIENCE * usual, limit) + GRACE_SECONDS + self.more(groups, lack)

    def more(self, groups: int, lack: Lack) -> float:
        """Return what a search and the assignors may take, which keep their own limits."""
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

    def _call(self, step: Callable[..., bytes], *args: object, seconds: float) -> bytes | Lost:
        return self._child.call(_caught, step, self.job, args, seconds=seconds)


def _caught(step: Callable[..., bytes], job: Job, args: tuple[object, ...]) -> bytes | Lost:
    """Return what a step returns in the child; Lost where it raises."""
    try:
        job.prepare()
        return step(job, *args)
    except AssayError as error:
        return Lost(str(error))
    except Exception as error:
        return Lost(in_one_line(error))


def _size(item: Item | Failure) -> int:
    return item.size if isinstance(item, Item) else 0


def _parts(things: Any) -> Iterator[Any]:
    """Yield a list or rows in some parts."""
    size = -(-len(things) // PARTS)
    for start in range(0, len(things), size):
        yield things[start : start + size]


def once(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return the first row of each key."""
    keys = rows.column("key")
    if len(keys.unique()) == len(keys):
        return rows
    first = pc.index_in(keys.unique(), value_set=keys)
    return rows.take(first)


def to_bytes(*rows: pa.RecordBatch) -> bytes:
    """Return rows as a stream of Arrow, without what a slice leaves out."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows[0].schema) as stream:
        for some in rows:
            stream.write_batch(some)
    return bytes(sink.getvalue())


def of_bytes(data: bytes) -> pa.RecordBatch:
    """Return the rows of :func:`to_bytes` as one batch."""
    with pa.ipc.open_stream(data) as stream:
        return joined(stream, stream.schema)


def _memory_share() -> int:
    """Return how much memory a worker's child may hold: there is one for each core."""
    return max(allowed_bytes() * 4 // (5 * (os.cpu_count() or 1)), LEAST_MEMORY)
