"""Missing: what the tables do not hold yet, found by keys alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from compare.runs.tables.files import good
from compare.runs.work.plan import Missing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from compare.runs.job import Job
    from groups.arrays import Bools

SIZES = ("n_members", "n_partitions")


@dataclass
class StoredKeys:
    """The keys of a table's rows.

    Attributes
    ----------
    keys : (rows,) string, with repeats
    """

    keys: pa.ChunkedArray

    @staticmethod
    def of(folder: Path, name: str) -> StoredKeys:
        """Read the keys of a table, of the files that are whole."""
        files, _ = good(folder, name)
        read = [pq.read_table(file, columns=["key"])["key"] for file in files]
        chunks = [chunk for column in read for chunk in column.chunks]
        return StoredKeys(pa.chunked_array(chunks, pa.string()))

    def add(self, keys: pa.Array) -> None:
        """Note keys that were stored since."""
        self.keys = pa.chunked_array([*self.keys.chunks, keys], pa.string())

    def hold(self, keys: Sequence[str] | pa.Array) -> Bools:
        """Say of each key whether it is there: (keys,) bool."""
        asked = pa.array(keys, pa.string())
        found = pc.is_in(asked, value_set=self.keys)
        return np.asarray(found.to_numpy(zero_copy_only=False), bool)


def missing_of(job: Job, keys: Sequence[str]) -> Missing:
    """Return the groups of which the optimum or a score is not stored, and where they stand.

    Parameters
    ----------
    keys : of groups that are stored, each once
    """
    made = [("optima", job.optimum_keys(keys))]
    made += [("scores", job.score_keys(keys, name)) for name in job.assignors]
    stored = {name: StoredKeys.of(job.out, name) for name in ("optima", "scores")}
    lacks = np.stack([~stored[name].hold(wanted) for name, wanted in made], axis=1)
    some = np.flatnonzero(lacks.any(axis=1))
    wanted = pa.array(keys, pa.string()).take(pa.array(some))
    places = _places(job.out, wanted)
    return Missing(
        files=places.files,
        file=places.file,
        row=places.row,
        members=places.members,
        partitions=places.partitions,
        assignors=job.assignors,
        lacks=lacks[some],
    )


@dataclass(frozen=True, eq=False)
class _Places:
    files: tuple[str, ...]
    file: np.ndarray[tuple[int], np.dtype[np.int64]]
    row: np.ndarray[tuple[int], np.dtype[np.int64]]
    members: np.ndarray[tuple[int], np.dtype[np.int64]]
    partitions: np.ndarray[tuple[int], np.dtype[np.int64]]


def _places(folder: Path, wanted: pa.Array) -> _Places:
    """Find groups in the files of ``groups``: the newest first, where most of them are."""
    file, row, members, partitions = np.full((4, len(wanted)), -1, np.int64)
    files: list[str] = []
    for path in reversed(good(folder, "groups")[0] if len(wanted) else []):
        if (file >= 0).all():
            break
        table = pq.read_table(path, columns=["key", *SIZES])
        at = pc.index_in(table["key"], value_set=wanted)
        here = np.flatnonzero(np.asarray(at.is_valid()))
        if not len(here):
            continue
        which = np.asarray(at.drop_null())
        file[which], row[which] = len(files), here
        for column, name in ((members, SIZES[0]), (partitions, SIZES[1])):
            column[which] = np.asarray(table[name])[here]
        files.append(str(path))
    return _Places(tuple(files), file, row, members, partitions)
