"""Reading: what was found in the input to rows of ``groups`` and ``failures``, in a child."""

from __future__ import annotations

import re
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from compare.runs.rows import batch, failure_row, told
from compare.runs.tables.files import append
from compare.runs.tables.schemas import TABLES
from compare.runs.work.apart import taken_apart
from compare.runs.work.wire import of_bytes, to_bytes
from groups.columnar.decode import decode
from groups.columnar.key import keys_of
from groups.importers import Failure
from heuristics.child import Lost

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from compare.runs.job import Job
    from compare.runs.work.missing import StoredKeys
    from compare.runs.work.process import Process
    from compare.runs.work.tally import Tally

# Some two hundred nanoseconds a byte where the machine has nothing else to do.
BYTE_SECONDS = 2e-7
PATIENCE = 20
GRACE_SECONDS = 2.0
_NAMED = re.compile(r'"group"\s*:\s*"((?:[^"\\]|\\.)+)"')
_LOOKED_AT = 2**16


@dataclass(frozen=True)
class Read:
    """What a child read: rows of ``groups`` and ``failures``, as bytes.

    Attributes
    ----------
    seconds : by stage
    """

    groups: bytes
    failures: bytes
    seconds: Mapping[str, float]


def read_found(job: Job, found: Sequence[Mapping[str, Any]]) -> Read:
    """Return the groups and the failures in what was found.

    Parameters
    ----------
    found : what :func:`compare.runs.rows.found_row` returned
    """
    begun = perf_counter()
    texts = [i for i, one in enumerate(found) if one["text"] is not None]
    contents = (found[i]["text"] for i in texts)
    rows, bad = decode(contents, reset=job.reset, assume_equal=job.assume_equal)
    failures = [failure_row(told(one), None) for one in found if one["text"] is None]
    unfit = {texts[one.row]: one for one in bad}
    places = [(found[i]["source"], found[i]["place"]) for i in texts if i not in unfit]
    for i, one in unfit.items():
        failure = told({**found[i], **one._asdict()})
        failures.append(failure_row(failure, found[i]["text"]))
    decoded = perf_counter()
    rows = stored_rows(rows, places)
    failed = batch("failures", failures)
    seconds = {"decode": decoded - begun, "key": perf_counter() - decoded}
    return Read(to_bytes(rows), to_bytes(failed), seconds)


def stored_rows(rows: pa.RecordBatch, places: Sequence[tuple[str, str]]) -> pa.RecordBatch:
    """Return rows of the layout with what else stands in ``groups``.

    Parameters
    ----------
    places : source and place of each
    """
    columns = {name: rows.column(name) for name in rows.schema.names}
    columns |= {
        "key": pa.array(keys_of(rows), pa.string()),
        "source": pa.array([source for source, _ in places], pa.string()),
        "place": pa.array([place for _, place in places], pa.string()),
        "n_members": _count(rows, "members"),
        "n_topics": _count(rows, "topics"),
        "n_partitions": _count(rows, "owner"),
        "equal_subscriptions": pc.less_equal(_count(rows, "subscription_indptr"), 2),
    }
    schema = TABLES["groups"]
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def name_in(text: str) -> str | None:
    """Return the name of the group that a snapshot is of, where its beginning says it."""
    said = _NAMED.search(text[:_LOOKED_AT])
    return None if said is None else said[1]


def _count(rows: pa.RecordBatch, name: str) -> pa.Array:
    return pc.list_value_length(rows.column(name)).cast(pa.int64())


@dataclass
class ReadingTask:
    """A part of the input being read: what is new in it ends up in files.

    Attributes
    ----------
    run : name of the run, which its files bear
    stored : what ``groups`` and ``failures`` hold already
    ask : what the process is asked to do
    """

    job: Job
    run: str
    process: Process
    tally: Tally
    stored: Mapping[str, StoredKeys]
    read: Callable[[Job, Sequence[Mapping[str, Any]]], Read] = read_found

    def work_on(self, found: Sequence[Mapping[str, Any]]) -> None:
        """Read, and write what is new; what does harm is a failure with the reason."""

        def ask(first: int, end: int) -> Read | Lost:
            size = sum(len(one["text"] or "") for one in found[first:end])
            seconds = GRACE_SECONDS + size * PATIENCE * BYTE_SECONDS + self.job.time_limit
            return self.process.call(self.read, self.job, found[first:end], seconds=seconds)

        groups, failures = [], []
        for first, end, answer in taken_apart(0, len(found), ask):
            if isinstance(answer, Lost):
                failures.append(_harmful(found[first:end], answer.reason))
                continue
            self.tally.add(answer.seconds)
            groups.append(of_bytes(answer.groups))
            failures.append(of_bytes(answer.failures))
        groups = pa.Table.from_batches(groups, TABLES["groups"])
        self.tally.keys += groups["key"].to_pylist()
        self._write("groups", groups)
        failures = pa.Table.from_batches(failures, TABLES["failures"])
        self.tally.failures += failures["key"].to_pylist()
        self._write("failures", failures)

    def _write(self, name: str, rows: pa.Table) -> None:
        with self.tally.timed("write"):
            _, first = np.unique(np.asarray(rows["key"], str), return_index=True)
            rows = rows.take(pa.array(np.sort(first)))
            rows = rows.filter(pa.array(~self.stored[name].hold(rows["key"])))
            append(self.job.out, name, rows, self.run)


def _harmful(found: Sequence[Mapping[str, Any]], reason: str) -> pa.RecordBatch:
    rows = []
    for one in found:
        name = one["group"] or name_in(one["text"] or "")
        failure = Failure(one["source"], one["place"], reason, name)
        rows.append(failure_row(failure, one["text"]))
    return batch("failures", rows)
