"""Portion: the groups of some names with all their optima and scores, each once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from compare.runs.aggregates.families import families_of
from compare.runs.tables.schemas import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from compare.runs.job import Job


ROWS_AT_ONCE = 65_536
GROUPS = ("key", "group", "source", "n_partitions", "subscription_known")
OPTIMA = (
    "group", "key", "captured_at", "group_key", "objective", "status", "assumed",
    "verdict.says", "verdict.question", "verdict.at_least", "verdict.to_move",
)  # fmt: skip
_TERMS = [f"terms.list.element.{name}" for name in ("excess", "excess_from", "excess_to")]
SCORES = (
    "group", "key", "group_key", "objective", "assignor", "status", "reason", "valid", "balanced",
    "seconds", *_TERMS,
)  # fmt: skip


@dataclass(frozen=True)
class Portion:
    """Which part of the tables a task adds up.

    Names are spread over the portions, so what is told of a group, of all its captures and of
    all assignors on it is in one of them.

    Attributes
    ----------
    number, of : of this portion, and how many there are
    files : of each table
    families : that are kept
    """

    number: int
    of: int
    files: Mapping[str, Sequence[str]]
    families: Sequence[str]

    def rows(self, job: Job) -> tuple[pa.Table, pa.Table]:
        """Return optima and scores, one a group, or a group and an assignor.

        They have the `family` of their groups; optima `is_known`, scores `n_partitions` too.
        """
        groups = self._groups()
        optima = self._of_objective("optima", OPTIMA, job)
        scores = self._of_objective("scores", SCORES, job)
        optima = _one_each(optima, ["group_key"], lambda: _is_of_job(optima, job.optimum_keys))
        scores = _one_each(scores, ["group_key", "assignor"], lambda: _scored_by(job, scores))
        return (
            _of_groups(optima, groups, "family", "is_known"),
            _of_groups(scores, groups, "family", "n_partitions"),
        )

    def _groups(self) -> pa.Table:
        rows = self._read("groups", GROUPS)
        keys = rows["key"].combine_chunks().dictionary_encode()
        if len(keys.dictionary) < len(rows):
            first = np.unique(np.asarray(keys.indices), return_index=True)[1]
            rows = rows.take(pa.array(first))
        columns = {
            "key": rows["key"],
            "family": families_of(rows["source"].combine_chunks(), self.families),
            "n_partitions": rows["n_partitions"],
            "is_known": _all_true(rows["subscription_known"].combine_chunks()),
        }
        return pa.table(columns)

    def _of_objective(self, name: str, columns: Sequence[str], job: Job) -> pa.Table:
        objective = job.tiers
        return self._read(name, columns, lambda rows: pc.equal(rows["objective"], objective))

    def _read(
        self,
        name: str,
        columns: Sequence[str],
        chosen: Callable[[pa.Table], pa.ChunkedArray] | None = None,
    ) -> pa.Table:
        """Return the rows of this portion, in the order in which they stand."""
        found = []
        for file in self.files[name]:
            with pq.ParquetFile(file) as opened:
                for batch in opened.iter_batches(ROWS_AT_ONCE, columns=list(columns)):
                    rows = pa.Table.from_batches([batch])
                    if chosen is not None:
                        rows = rows.filter(chosen(rows))
                    found.append(rows if self.of == 1 else rows.filter(self._here(rows["group"])))
        if not found:
            tops = dict.fromkeys(column.partition(".")[0] for column in columns)
            return pa.schema([TABLES[name].field(top) for top in tops]).empty_table()
        return pa.concat_tables(found).combine_chunks()

    def _here(self, names: pa.ChunkedArray) -> NDArray[np.bool_]:
        encoded = names.combine_chunks().dictionary_encode()
        numbers = [crc32(name.encode()) % self.of for name in encoded.dictionary.to_pylist()]
        here: NDArray[np.bool_] = np.array(numbers, np.int64) == self.number
        chosen: NDArray[np.bool_] = here[np.asarray(encoded.indices)]
        return chosen


def _of_groups(rows: pa.Table, groups: pa.Table, *told: str) -> pa.Table:
    """Return the rows whose groups are there, with what is told of those."""
    at = pc.index_in(rows["group_key"], value_set=groups["key"])
    rows, at = rows.filter(pc.is_valid(at)), pc.drop_null(at)
    for name in told:
        rows = rows.append_column(name, pc.take(groups[name], at))
    return rows


def _one_each(
    rows: pa.Table, by: list[str], is_of_job: Callable[[], NDArray[np.bool_]]
) -> pa.Table:
    """Return one row of those that are alike: this job's where there is one.

    Runs with another time limit, or of another version, leave rows of their own, and runs side by
    side the same.
    """
    if len(rows.select(by).group_by(by).aggregate([])) == len(rows):
        return rows
    place = pa.table({"is_of_job": is_of_job().astype(np.int8), "key": rows["key"]})
    place = place.append_column("stands", pa.array(np.arange(len(rows))))
    order = pc.sort_indices(
        place,
        sort_keys=[("is_of_job", "descending"), ("key", "ascending"), ("stands", "ascending")],
    )
    ordered = rows.select(by).take(order).append_column("at", pa.array(np.arange(len(rows))))
    first = ordered.group_by(by).aggregate([("at", "min")])["at_min"]
    return rows.take(pc.take(order, first))


def _is_of_job(rows: pa.Table, keys_of: Callable[[list[str]], list[str]]) -> NDArray[np.bool_]:
    keys = pa.array(keys_of(rows["group_key"].to_pylist()), pa.string())
    return np.asarray(pc.equal(rows["key"], keys), bool)


def _scored_by(job: Job, scores: pa.Table) -> NDArray[np.bool_]:
    found = np.zeros(len(scores), bool)
    for name in job.assignors:
        here = np.asarray(pc.equal(scores["assignor"], name), bool)
        keys_of = partial(job.score_keys, assignor=name)
        found[here] = _is_of_job(scores.filter(pa.array(here)), keys_of)
    return found


def _all_true(lists: pa.ListArray) -> pa.Array:
    """Return whether all items of each list are true; a list that is null has none."""
    false = pc.invert(lists.flatten())
    some = np.zeros(len(lists), bool)
    some[np.asarray(pc.list_parent_indices(lists).filter(false))] = True
    return pa.array(~some)
