"""Missing: what the tables do not hold yet, found by keys alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from compare.runs.tables.files import good
from compare.runs.tables.stored_keys import StoredKeys
from compare.runs.work.plan import Missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.runs.job import Job
    from groups.arrays import Bools

SIZES = ("n_members", "n_partitions")


def missing_of(job: Job, keys: Sequence[str]) -> Missing:
    """Return the groups of which the optimum or a score is not stored, and where they stand.

    Parameters
    ----------
    keys : of groups that are stored, each once
    """
    made = [("optima", job.optimum_keys(keys))]
    made += [("scores", job.score_keys(keys, name)) for name in job.assignors]
    stored = {name: StoredKeys(good(job.out, name)[0]) for name in ("optima", "scores")}
    lacks = np.stack([~stored[name].hold(wanted) for name, wanted in made], axis=1)
    some = np.flatnonzero(lacks.any(axis=1))
    return _placed(job, pa.array(keys, pa.string()).take(pa.array(some)), lacks[some])


def solved_in(job: Job, run: str) -> tuple[int, int]:
    """Return of how many groups a run has written a row of ``optima``, and how many failed.

    A group that is in several parts of the input may have been solved by each who read one.
    """
    files, _ = good(job.out, "optima", run)
    read = [pq.read_table(file, columns=["key", "status"]) for file in files]
    if not read:
        return 0, 0
    rows = pa.concat_tables(read)
    failed = rows.filter(pc.equal(rows["status"], "failed"))
    return pc.count_distinct(rows["key"]).as_py(), pc.count_distinct(failed["key"]).as_py()


def _placed(job: Job, wanted: pa.Array, lacks: Bools) -> Missing:
    """Find groups in the files of ``groups``: the newest first, where most of them are."""
    file, row, members, partitions = np.full((4, len(wanted)), -1, np.int64)
    files: list[str] = []
    for path in reversed(good(job.out, "groups")[0] if len(wanted) else []):
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
    return Missing(
        files=tuple(files),
        file=file,
        row=row,
        members=members,
        partitions=partitions,
        assignors=job.assignors,
        lacks=lacks,
    )
