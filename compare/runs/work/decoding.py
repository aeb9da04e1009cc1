"""Decoding: a part of the input to rows of ``groups`` and ``failures``, in a worker's child."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from compare.runs.rows import batch, failure_row
from compare.runs.source.rows import Given, rows_of
from compare.runs.tables.schemas import TABLES
from compare.runs.work.replies import Read
from compare.runs.work.wire import to_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.runs.job import Job
    from compare.runs.source.reading import Item
    from compare.runs.source.rows import Rows
    from groups.errors import Failure


def decoded(job: Job, items: Sequence[Item | Failure]) -> Read:
    """Return the groups and the failures in a part of the input."""
    begun = perf_counter()
    found = rows_of(items, Given(job.reset, job.assume_equal))
    decoded = perf_counter()
    rows = _stored(found)
    failed = batch("failures", map(failure_row, found.failures))
    seconds = {"decode": decoded - begun, "key": perf_counter() - decoded}
    return Read(to_bytes(rows), to_bytes(failed), seconds)


def _stored(found: Rows) -> pa.RecordBatch:
    """Return the rows of ``groups``."""
    rows = found.rows
    columns = found.columns() | {
        "n_members": _count(rows, "members"),
        "n_topics": _count(rows, "topics"),
        "n_partitions": _count(rows, "owner"),
        "equal_subscriptions": pc.less_equal(_count(rows, "subscription_indptr"), 2),
    }
    schema = TABLES["groups"]
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def _count(rows: pa.RecordBatch, name: str) -> pa.Array:
    return pc.list_value_length(rows.column(name)).cast(pa.int64())
