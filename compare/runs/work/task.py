"""Task: what a worker does with a piece of what is missing."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, TypeVarTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from compare.runs.rows import batch, captures_in, optimum_row, score_row, unscored
from compare.runs.tables.files import append
from compare.runs.tables.schemas import TABLES
from compare.runs.work.apart import taken_apart
from compare.runs.work.plan import is_flow, solve_seconds
from compare.runs.work.requests import score_rows, solve_rows
from compare.runs.work.wire import of_bytes, to_bytes
from compare.score import CURRENT, Score
from groups.columnar.layout import LAYOUT
from heuristics.child import Lost

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from compare.runs.job import Job
    from compare.runs.rows import Capture
    from compare.runs.work.plan import Part, Piece
    from compare.runs.work.process import Process
    from compare.runs.work.replies import Answered
    from compare.runs.work.tally import Tally
    from groups.arrays import Int64

Arguments = TypeVarTuple("Arguments")
# A solve of more members leaves the processor's cache; one of more partitions is slow to pass on.
MOST_MEMBERS = 5_000
MOST_PARTITIONS = 200_000
MOST_GROUPS = 1_024
# What is done is on disk about as soon as this: a batch is made to take a part of it.
WRITE_SECONDS = 10.0
BATCH_SECONDS = 2.5
# Nobody knows what an assignor costs before it was asked.
FIRST_CALLS = 64
GROWTH = 16
# A batch takes so many times longer than estimated where a machine is busy; more is a hang.
PATIENCE = 20
GRACE_SECONDS = 1.0
# What a group costs of which it is not known who reads what.
UNKNOWN_SECONDS = 0.02
# A client of Java's needs some seconds to start.
CLIENT_SECONDS = 60.0


@dataclass
class Task:
    """A piece at work: the rows that are made of it, and the files that they end up in.

    Attributes
    ----------
    run : name of the run, which its files bear
    solve, score : what the process is asked to do with rows
    """

    job: Job
    run: str
    process: Process
    tally: Tally
    solve: Callable[[Job, bytes, bool, bool], Answered] = solve_rows
    score: Callable[[Job, bytes, bytes, tuple[str, ...]], Answered] = score_rows
    _rows: dict[str, list[pa.RecordBatch]] = field(default_factory=dict)
    _written: float = field(default_factory=perf_counter)

    def work_on(self, piece: Piece) -> None:
        """Solve and score the groups of a piece, and write the rows."""
        for part in piece.parts:
            for rows in self._batches(part):
                self._batch(part, rows)
                if perf_counter() - self._written > WRITE_SECONDS:
                    self.write()
        self.write()

    def write(self) -> None:
        """Write the rows that are there to files of their own."""
        with self.tally.timed("write"):
            for name, batches in self._rows.items():
                append(self.job.out, name, pa.Table.from_batches(batches, TABLES[name]), self.run)
        self._rows.clear()
        self._written = perf_counter()

    def _batches(self, part: Part) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a part in batches that are solved together."""
        with self.tally.timed("open"):
            table = pq.read_table(part.file, columns=[*LAYOUT.names, "key"], use_threads=False)
            (rows,) = table.take(pa.array(part.rows)).combine_chunks().to_batches()
            sizes = _Sizes.of(rows)
        most = MOST_GROUPS if is_flow(self.job.objective) else 1
        calls = sum(name != CURRENT for name in part.assignors)
        some = min(most, max(FIRST_CALLS // calls, 1)) if calls else most
        start = 0
        while start < len(rows):
            end = sizes.end(start, some)
            begun = perf_counter()
            yield rows.slice(start, end - start)
            if calls:
                some = min(most, following(end - start, perf_counter() - begun))
            start = end

    def _batch(self, part: Part, rows: pa.RecordBatch) -> None:
        """Solve groups, and have each that does harm, and only those, as rows with the reason."""
        current = CURRENT in part.assignors
        others = tuple(name for name in part.assignors if name != CURRENT)

        def ask(first: int, end: int) -> Answered | Lost:
            some = rows.slice(first, end - first)
            data = self._packed(some)
            seconds = self._seconds(some)
            return self._call(self.solve, self.job, data, current, bool(others), seconds=seconds)

        for first, end, answer in taken_apart(0, len(rows), ask):
            some = rows.slice(first, end - first)
            if isinstance(answer, Lost):
                self._lose(part, some, answer.reason)
            else:
                self._take(answer, optimum=part.optimum)
                if others:
                    self._score(some, answer.kept, others)
        self.tally.counts["groups"] += len(rows)

    def _score(self, rows: pa.RecordBatch, kept: bytes, assignors: tuple[str, ...]) -> None:
        """Score assignors; each of their calls has its own limit, which this one's never cuts."""

        def ask(first: int, end: int) -> Answered | Lost:
            some = rows.slice(first, end - first)
            known = kept if len(some) == len(rows) else b""
            each = CLIENT_SECONDS + len(some) * (self.job.time_limit + GRACE_SECONDS)
            seconds = self._seconds(some) + len(assignors) * each
            return self._call(
                self.score, self.job, self._packed(some), known, assignors, seconds=seconds
            )

        for first, end, answer in taken_apart(0, len(rows), ask):
            if isinstance(answer, Lost):
                made = [Score(name, "failed", answer.reason) for name in assignors]
                self._add_scores(captures_in(rows.slice(first, end - first)), made)
            else:
                self._take(answer, optimum=False)

    def _call(
        self, function: Callable[[*Arguments], Answered], *args: *Arguments, seconds: float
    ) -> Answered | Lost:
        start = perf_counter()
        answer = self.process.call(function, *args, seconds=seconds)
        took = perf_counter() - start
        if isinstance(answer, Lost):
            self.tally.seconds["lost"] += took
        else:
            self.tally.add(answer.seconds)
            self.tally.seconds["pass"] += took - sum(answer.seconds.values())
        return answer

    def _packed(self, rows: pa.RecordBatch) -> bytes:
        with self.tally.timed("pass"):
            return to_bytes(rows)

    def _seconds(self, rows: pa.RecordBatch) -> float:
        """Return how long a batch may take.

        A group by itself has the time limit, or four where it is not known who reads what: it is
        solved for the most and for the least that members may read, and asked about.
        """
        usual = float(solve_seconds(_lengths(rows, "members"), _lengths(rows, "owner")).sum())
        unknown = len(rows) - int(rows.column("subscription_known").null_count)
        usual = PATIENCE * (usual + UNKNOWN_SECONDS * unknown)
        if len(rows) > 1:
            return usual + GRACE_SECONDS
        limit = self.job.time_limit * (4 if unknown else 1)
        return max(usual, limit) + GRACE_SECONDS

    def _take(self, answer: Answered, *, optimum: bool) -> None:
        optima, scores = of_bytes(answer.optima), of_bytes(answer.scores)
        self._add("scores", scores)
        if optimum:
            self._add("optima", optima)
            proved = pc.sum(pc.equal(optima.column("status"), "optimal")).as_py() or 0
            failed = pc.sum(pc.equal(optima.column("status"), "failed")).as_py() or 0
            self.tally.counts.update(proved=proved, failed=failed)

    def _lose(self, part: Part, rows: pa.RecordBatch, reason: str) -> None:
        """Keep as rows why groups could not be solved."""
        captures = captures_in(rows)
        if part.optimum:
            self._add(
                "optima", batch("optima", (optimum_row(self.job, c, reason) for c in captures))
            )
            self.tally.counts["failed"] += len(captures)
        made = [unscored(name, reason) for name in part.assignors]
        self._add_scores(captures, made)

    def _add_scores(self, captures: Sequence[Capture], made: Sequence[Score]) -> None:
        rows = (score_row(self.job, capture, score) for capture in captures for score in made)
        self._add("scores", batch("scores", rows))

    def _add(self, name: str, rows: pa.RecordBatch) -> None:
        if len(rows):
            self._rows.setdefault(name, []).append(rows)


@dataclass(frozen=True, eq=False)
class _Sizes:
    """How large rows are, added up: (rows + 1,) int64 each."""

    members: Int64
    partitions: Int64

    @staticmethod
    def of(rows: pa.RecordBatch) -> _Sizes:
        members, partitions = (
            np.concatenate(([0], np.cumsum(_lengths(rows, name)))) for name in ("members", "owner")
        )
        return _Sizes(members, partitions)

    def end(self, start: int, groups: int) -> int:
        """Return where a batch ends: so many groups, members and partitions, or one group."""
        end = start + groups
        for sums, most in ((self.members, MOST_MEMBERS), (self.partitions, MOST_PARTITIONS)):
            end = min(end, int(np.searchsorted(sums, sums[start] + most, side="right")) - 1)
        return max(end, start + 1)


def following(groups: int, seconds: float) -> int:
    """Return how many groups the next batch has, after one of so many took so long."""
    share = min(BATCH_SECONDS / max(seconds, 1e-9), GROWTH)
    return max(int(groups * share), 1)


def _lengths(rows: pa.RecordBatch, name: str) -> Int64:
    found = pc.list_value_length(rows.column(name)).fill_null(0)
    return np.asarray(found.to_numpy(zero_copy_only=False), np.int64)
