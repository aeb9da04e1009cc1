"""Parts: what the input came to where it was read before, known by its content alone."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from compare.runs.source.content import content_of, standing
from compare.runs.tables.chosen import chosen
from compare.runs.tables.files import good
from compare.runs.tables.schemas import TABLES
from compare.runs.tables.stored_keys import StoredKeys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.runs.job import Job
    from compare.runs.source.content import Stands
    from compare.runs.source.split import Split

NAME = "parts"


@dataclass(frozen=True)
class Before:
    """What is known of the input without reading it again.

    Attributes
    ----------
    groups, failures : keys of the rows that it came to
    left : the splits that have to be read
    """

    groups: list[str]
    failures: list[str]
    left: list[Split]


def read_before(job: Job, splits: Sequence[Split]) -> Before:
    """Find splits that a run has read whole, of which every row is still there.

    Only where a split has the size of one that was read are its bytes looked at.
    """
    files, _ = good(job.out, NAME)
    sizes = {
        size for file in files for size in pq.read_table(file, columns=["bytes"])[0].to_pylist()
    }
    keys = _keys(job, [split if split.size in sizes else None for split in splits])
    found = Before([], [], [])
    if not any(keys):
        return Before([], [], list(splits))
    known = {
        row["key"]: row
        for rows in chosen(job.out, NAME, [key for key in keys if key], TABLES[NAME].names)
        for row in rows.to_pylist()
    }
    stored = {name: StoredKeys(good(job.out, name)[0]) for name in ("groups", "failures")}
    for split, key in zip(splits, keys, strict=True):
        row = known.get(key or "")
        if row is None or not all(stored[name].hold(row[name]).all() for name in stored):
            found.left.append(split)
        else:
            found.groups.extend(row["groups"])
            found.failures.extend(row["failures"])
    return found


def stands_now(split: Split) -> Stands | None:
    """Return how the files of a split stand, None where one cannot be looked at."""
    try:
        return standing(split)
    except OSError:
        return None


def row_of(
    job: Job, split: Split, stood: Stands | None, groups: Sequence[str], failures: Sequence[str]
) -> pa.RecordBatch:
    """Return the row on a split that was read; nothing where a file of it changed meanwhile.

    Parameters
    ----------
    stood : what :func:`stands_now` returned before it was read
    groups, failures : keys of what it came to
    """
    key = None if stood is None else _key(job, split)
    rows = []
    if key is not None and stands_now(split) == stood:
        said = {"key": key, "bytes": split.size, "groups": groups, "failures": failures}
        rows = [said]
    return pa.RecordBatch.from_pylist(rows, TABLES[NAME])


def _keys(job: Job, splits: Sequence[Split | None]) -> list[str | None]:
    """Return the key of each split; None where there is none, or it cannot be read."""
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return list(threads.map(partial(_key, job), splits))


def _key(job: Job, split: Split | None) -> str | None:
    try:
        return None if split is None else job.part_key(content_of(split))
    except (OSError, pa.ArrowInvalid):
        return None
