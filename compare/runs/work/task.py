"""Task: what a worker does with a piece of what is missing."""

from __future__ import annotations

import os
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from compare.runs.rows import batch, captures_in, optimum_row, score_row, unscored
from compare.runs.work.apart import taken_apart
from compare.runs.work.call import call
from compare.runs.work.plan import solve_seconds
from compare.runs.work.requests import score_rows, solve_rows
from compare.runs.work.wire import of_bytes, to_bytes
from compare.scores import Score
from groups.columnar.layout import LAYOUT
from groups.tiers import is_flow
from heuristics.child import Lost

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from compare.runs.job import Job
    from compare.runs.rows import Capture
    from compare.runs.work.plan import Lack, Piece
    from compare.runs.work.process import Process
    from compare.runs.work.replies import Answered
    from compare.runs.work.tally import Tally
    from compare.runs.work.unwritten import Unwritten
    from groups.arrays import Int64

# What is read of ``groups`` for it.
COLUMNS = [*LAYOUT.names, "key"]
# A solve of more members leaves the processor's cache; one of more partitions is slow to pass on.
MOST_MEMBERS = 5_000
MOST_PARTITIONS = 200_000
MOST_GROUPS = 1_024
# What is done is on disk soon: a batch is made to take a part of the time until then.
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
# How many workers wait for one client that joined a probe, at most, where cores do not say.
MOST_WORKERS = 16


@dataclass
class Task:
    """Groups at work: the rows that are made of them.

    Attributes
    ----------
    unwritten : where the rows are kept until they are written
    solve, score : what the process is asked to do with rows
    """

    job: Job
    process: Process
    tally: Tally
    unwritten: Unwritten
    solve: Callable[[Job, bytes, Lack], Answered] = solve_rows
    score: Callable[[Job, bytes, bytes, tuple[str, ...]], Answered] = score_rows

    def work_on(self, piece: Piece) -> None:
        """Solve and score the groups of a piece, and write the rows."""
        for part in piece.parts:
            with self.tally.timed("open"):
                table = pq.read_table(part.file, columns=COLUMNS, use_threads=False)
                (rows,) = table.take(pa.array(part.rows)).combine_chunks().to_batches()
            self.take(rows, part.lack)
        self.unwritten.write()

    def take(self, rows: pa.RecordBatch, lack: Lack) -> None:
        """Solve and score groups, which all lack the same.

        Parameters
        ----------
        rows : of ``groups``, with the columns `COLUMNS`
        """
        for some in self._batches(rows, len(lack.others)):
            self._batch(some, lack)
            if self.unwritten.is_due:
                self.unwritten.write()

    def _batches(self, rows: pa.RecordBatch, calls: int) -> Iterator[pa.RecordBatch]:
        """Yield rows in batches that are solved together.

        Parameters
        ----------
        calls : how many assignors are asked about each
        """
        sizes = _Sizes.of(rows)
        most = MOST_GROUPS if is_flow(self.job.objective) else 1
        some = min(most, max(FIRST_CALLS // calls, 1)) if calls else most
        start = 0
        while start < len(rows):
            end = sizes.end(start, some)
            begun = perf_counter()
            yield rows.slice(start, end - start)
            if calls:
                some = min(most, following(end - start, perf_counter() - begun))
            start = end

    def _batch(self, rows: pa.RecordBatch, lack: Lack) -> None:
        """Solve groups, and have each that does harm, and only those, as rows with the reason."""

        def ask(first: int, end: int) -> Answered | Lost:
            some = rows.slice(first, end - first)
            return call(
                self.process, self.tally, self.solve, self.job, self._packed(some), lack,
                seconds=self._seconds(some),
            )  # fmt: skip

        for first, end, answer in taken_apart(0, len(rows), ask):
            some = rows.slice(first, end - first)
            if isinstance(answer, Lost):
                self._lose(lack, some, answer.reason)
            else:
                self._keep(answer)
                if lack.others:
                    self._score(some, answer.kept, lack.others)
        self.tally.counts["groups"] += len(rows)

    def _score(self, rows: pa.RecordBatch, kept: bytes, assignors: tuple[str, ...]) -> None:
        """Score assignors; each of their calls has its own limit, which this one's never cuts."""

        def ask(first: int, end: int) -> Answered | Lost:
            some = rows.slice(first, end - first)
            known = kept if len(some) == len(rows) else b""
            each = CLIENT_SECONDS + len(some) * (self.job.time_limit + GRACE_SECONDS)
            seconds = (
                self._seconds(some) + len(assignors) * each + guests_seconds(self.job, len(some))
            )
            return call(
                self.process, self.tally, self.score, self.job, self._packed(some), known,
                assignors, seconds=seconds,
            )  # fmt: skip

        for first, end, answer in taken_apart(0, len(rows), ask):
            if isinstance(answer, Lost):
                made = [Score(name, "failed", answer.reason) for name in assignors]
                self._add_scores(captures_in(rows.slice(first, end - first)), made)
            else:
                self._keep(answer)

    def _packed(self, rows: pa.RecordBatch) -> bytes:
        with self.tally.timed("pass"):
            return to_bytes(rows)

    def _seconds(self, rows: pa.RecordBatch) -> float:
        """Return how long a batch may take.

        A group by itself has the time limit, or four where it is not known who reads what: it is
        solved for the most and for the least that members may read, and asked about.
        """
        usual = float(solve_seconds(lengths(rows, "members"), lengths(rows, "owner")).sum())
        unknown = len(rows) - int(rows.column("subscription_known").null_count)
        usual = PATIENCE * (usual + UNKNOWN_SECONDS * unknown)
        if len(rows) > 1:
            return usual + GRACE_SECONDS
        limit = self.job.time_limit * (4 if unknown else 1)
        return max(usual, limit) + GRACE_SECONDS

    def _keep(self, answer: Answered) -> None:
        optima = of_bytes(answer.optima)
        self.unwritten.add("optima", optima)
        self.unwritten.add("scores", of_bytes(answer.scores))
        failed = pc.sum(pc.equal(optima.column("status"), "failed")).as_py() or 0
        self.tally.counts["failed"] += failed

    def _lose(self, lack: Lack, rows: pa.RecordBatch, reason: str) -> None:
        """Keep as rows why groups could not be solved."""
        captures = captures_in(rows)
        if lack.optimum:
            made = (optimum_row(self.job, capture, reason) for capture in captures)
            self.unwritten.add("optima", batch("optima", made))
            self.tally.counts["failed"] += len(captures)
        self._add_scores(captures, [unscored(name, reason) for name in lack.assignors])

    def _add_scores(self, captures: Sequence[Capture], made: Sequence[Score]) -> None:
        rows = (score_row(self.job, capture, score) for capture in captures for score in made)
        self.unwritten.add("scores", batch("scores", rows))


@dataclass(frozen=True, eq=False)
class _Sizes:
    """How large rows are, added up: (rows + 1,) int64 each."""

    members: Int64
    partitions: Int64

    @staticmethod
    def of(rows: pa.RecordBatch) -> _Sizes:
        members, partitions = (
            np.concatenate(([0], np.cumsum(lengths(rows, name)))) for name in ("members", "owner")
        )
        return _Sizes(members, partitions)

    def end(self, start: int, groups: int) -> int:
        """Return where a batch ends: so many groups, members and partitions, or one group."""
        end = start + groups
        for sums, most in ((self.members, MOST_MEMBERS), (self.partitions, MOST_PARTITIONS)):
            end = min(end, int(np.searchsorted(sums, sums[start] + most, side="right")) - 1)
        return max(end, start + 1)


def guests_seconds(job: Job, groups: int) -> float:
    """Return how long the clients that joined a probe may take for groups of one worker.

    All workers ask a client, one group after the other, and about each up to three times.
    """
    if not job.guests:
        return 0.0
    from heuristics.shipped.probe.guest import MOST_TIMES, WAIT_SECONDS

    each = MOST_TIMES * (job.time_limit + WAIT_SECONDS)
    return len(job.guests) * groups * each * max(os.cpu_count() or 1, MOST_WORKERS)


def following(groups: int, seconds: float) -> int:
    """Return how many groups the next batch has, after one of so many took so long."""
    share = min(BATCH_SECONDS / max(seconds, 1e-9), GROWTH)
    return max(int(groups * share), 1)


def lengths(rows: pa.RecordBatch, name: str) -> Int64:
    """(rows,) int64: how long the lists of a column are."""
    found = pc.list_value_length(rows.column(name)).fill_null(0)
    return np.asarray(found.to_numpy(zero_copy_only=False), np.int64)
