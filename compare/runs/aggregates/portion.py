"""Portion: some captures of groups with all their optima and scores, each once."""

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

    # The column of rows by which they go to portions.
    Spread = Callable[[pa.Table], pa.ChunkedArray]


ROWS_AT_ONCE = 65_536
# Of a key in hexadecimals.
DIGITS = 4
GROUPS = ("key", "source", "n_partitions", "subscription_known")
OPTIMA = (
    "group", "key", "captured_at", "group_key", "objective", "status", "assumed",
    "verdict.says", "verdict.question", "verdict.at_least", "verdict.to_move",
)  # fmt: skip
NAMED_GROUPS = ("key", "group", "source")
NAMED_OPTIMA = ("group", "key", "group_key", "objective", "verdict.says")
_TERMS = [f"terms.list.element.{name}" for name in ("excess", "excess_from", "excess_to")]
SCORES = (
    "group", "key", "group_key", "objective", "assignor", "status", "reason", "valid", "balanced",
    "seconds", *_TERMS,
)  # fmt: skip


@dataclass(frozen=True)
class Portion:
    """Which part of the tables a task adds up.

    Captures are spread over the portions, so what is told of one, by all assignors, is in one of
    them, and a group of a million captures is in all. Names are spread as well, to be counted.

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
        groups = self._groups(GROUPS, _by_key("key"))
        groups = groups.append_column("is_known", _all_true(groups["subscription_known"]))
        optima = self._optima(job, OPTIMA, _by_key("group_key"))
        scores = self._of_objective("scores", SCORES, job, _by_key("group_key"))
        scores = _one_each(scores, ["group_key", "assignor"], lambda: _scored_by(job, scores))
        return (
            _of_groups(optima, groups, "family", "is_known"),
            _of_groups(scores, groups, "family", "n_partitions"),
        )

    def named(self, job: Job) -> pa.Table:
        """Return what says of all captures of some names which verdicts they have.

        It has the columns `group`, `family` and `verdict`.
        """
        groups = self._groups(NAMED_GROUPS, _by_name)
        return _of_groups(self._optima(job, NAMED_OPTIMA, _by_name), groups, "family")

    def _groups(self, columns: Sequence[str], spread: Spread) -> pa.Table:
        rows = self._read("groups", columns, spread)
        keys = rows["key"].combine_chunks().dictionary_encode()
        if len(keys.dictionary) < len(rows):
            first = np.unique(np.asarray(keys.indices), return_index=True)[1]
            rows = rows.take(pa.array(first))
        family = families_of(rows["source"].combine_chunks(), self.families)
        return rows.append_column("family", family)

    def _optima(self, job: Job, columns: Sequence[str], spread: Spread) -> pa.Table:
        rows = self._of_objective("optima", columns, job, spread)
        return _one_each(rows, ["group_key"], lambda: _is_of_job(rows, job.optimum_keys))

    def _of_objective(
        self, name: str, columns: Sequence[str], job: Job, spread: Spread
    ) -> pa.Table:
        objective = job.tiers
        return self._read(
            name, columns, spread, lambda rows: pc.equal(rows["objective"], objective)
        )

    def _read(
        self,
        name: str,
        columns: Sequence[str],
        spread: Spread,
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
                    found.append(rows if self.of == 1 else rows.filter(self._here(rows, spread)))
        if not found:
            tops = dict.fromkeys(column.partition(".")[0] for column in columns)
            return pa.schema([TABLES[name].field(top) for top in tops]).empty_table()
        return pa.concat_tables(found).combine_chunks()

    def _here(self, rows: pa.Table, spread: Spread) -> NDArray[np.bool_]:
        encoded = spread(rows).combine_chunks().dictionary_encode()
        numbers = [crc32(text.encode()) % self.of for text in encoded.dictionary.to_pylist()]
        here: NDArray[np.bool_] = np.array(numbers, np.int64) == self.number
        chosen: NDArray[np.bool_] = here[np.asarray(encoded.indices)]
        return chosen


def _by_key(column: str) -> Spread:
    """Spread what is of one capture, by the beginning of its key, which has few values."""
    return lambda rows: pc.utf8_slice_codeunits(rows[column], 0, DIGITS)


def _by_name(rows: pa.Table) -> pa.ChunkedArray:
    return rows["group"]


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


def _all_true(column: pa.ChunkedArray) -> pa.Array:
    """Return whether all items of each list are true; a list that is null has none."""
    lists = column.combine_chunks()
    false = pc.invert(lists.flatten())
    some = np.zeros(len(lists), bool)
    some[np.asarray(pc.list_parent_indices(lists).filter(false))] = True
    return pa.array(~some)
