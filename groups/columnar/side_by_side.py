"""Side by side: rows of the layout as one group, without a Python object for each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from groups.arrays import NO_GENERATION, UNKNOWN, check_total, frozen
from groups.columnar.alone import valid_group
from groups.columnar.doubts import doubted
from groups.columnar.layout import LAYOUT, BadRow, sifted
from groups.columnar.lists import Lists
from groups.columnar.plain_rest import is_plain
from groups.columnar.rows import groups_of
from groups.columns.names import numbers
from groups.columns.racks import joined_racks
from groups.errors import BadInput
from groups.group import Group

if TYPE_CHECKING:
    from collections.abc import Iterator

    from groups.arrays import Bools, Int64
    from groups.columns.racks import Racks


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of the layout.

    Attributes
    ----------
    rows : with the columns of the layout and its types
    place : (rows,) int64, their numbers in the batch that was given
    known : groups that were made of some of them, by themselves
    """

    rows: pa.RecordBatch
    place: Int64
    known: dict[int, Group]

    @cached_property
    def lists(self) -> dict[str, Lists]:
        """The columns that are lists, by name."""
        return {
            field.name: Lists.of(self.rows.column(field.name))
            for field in LAYOUT
            if field.type != pa.string()
        }

    def has_plain_rest(self, row: int) -> bool:
        """Return whether the rest of a row is good, written as `assay` does, and plain."""
        lists, texts = self.lists, self.rows.column
        lag = lists["lag"]
        return is_plain(
            texts("rest")[row].as_py(),
            lists["topics"].at(row).to_pylist(),
            lists["partitions"].at(row).tolist(),
            lists["members"].at(row).to_pylist(),
            lag.at(row) if lag.given[row] else None,
            texts("auto_offset_reset")[row].as_py(),
        )

    def judged(self, asked: Int64, failures: list[BadRow]) -> Rows:
        """Return the rows without those of the asked ones that are no group; say why of each."""
        if not len(asked):
            return self
        known, good = dict(self.known), np.ones(len(self.rows), bool)
        for row, found in zip(asked.tolist(), groups_of(self.rows.take(asked)), strict=True):
            if isinstance(found, Group):
                known[row] = found
            else:
                failures.append(found._replace(row=int(self.place[row])))
                good[row] = False
        if good.all():
            return replace(self, known=known)
        kept = np.flatnonzero(good)
        still = {at: known[row] for at, row in enumerate(kept.tolist()) if row in known}
        return Rows(self.rows.take(kept), self.place[kept], still)

    @cached_property
    def group(self) -> Group:
        """All groups as one, whose names are numbers.

        Raises
        ------
        BadInput
            Where one breaks a rule that looks at no other.
        """
        lists = self.lists
        topics, members, partitions = lists["topics"], lists["members"], lists["owner"]
        indptr, listed = lists["subscription_indptr"], lists["subscription_topics"]
        row_start = indptr.start[:-1] - np.arange(len(self.rows))
        begins = np.ones(len(indptr.values), bool)
        begins[indptr.start[1:] - 1] = False
        row_begins = indptr.shifted(listed.start[:-1])[begins]
        known = lists["subscription_known"].filled(members.length, True)
        born = lists["generation"].filled(members.length, NO_GENERATION)
        lag, weight = (
            lists[name].filled(partitions.length, UNKNOWN) if lists[name].given.any() else None
            for name in ("lag", "weight")
        )
        return Group(
            name="fleet",
            topics=numbers(len(topics.values)),
            partitions=frozen(lists["partitions"].values.copy()),
            members=numbers(len(members.values)),
            subscription_indptr=frozen(np.append(row_begins, len(listed.values))),
            subscription_topics=frozen(listed.shifted(topics.start[:-1])),
            subscription_row=frozen(lists["subscription_row"].shifted(row_start)),
            subscription_known=frozen(known),
            owner=frozen(partitions.shifted(members.start[:-1])),
            generation=frozen(born),
            lag_records=None if lag is None else frozen(lag),
            weight=None if weight is None else frozen(weight),
            racks=self._racks(),
        )

    def refused(self) -> list[int]:
        """Return the rows that break a rule that looks at no other group."""
        try:
            _ = self.group
        except BadInput:
            half = len(self.rows) // 2
            if not half:
                return [0]
            first = Rows(self.rows.slice(0, half), self.place[:half], {})
            second = Rows(self.rows.slice(half), self.place[half:], {})
            return first.refused() + [half + row for row in second.refused()]
        return []

    def other_claims(self) -> Bools:
        """(rows,) bool: where members claim something else than what they validly own."""
        others = np.zeros(len(self.rows), bool)
        others[[row for row, one in self.known.items() if one.raw_claims is not None]] = True
        return frozen(others)

    def alone(self, number: int) -> Group:
        """Return the group of a row by itself, where all rows are known to hold groups."""
        if number in self.known:
            return self.known[number]
        return valid_group(self.rows, self.lists, number)

    def _racks(self) -> Racks | None:
        if all(one.racks is None for one in self.known.values()):
            return None
        said = [
            self.known[row].racks if row in self.known else None for row in range(len(self.rows))
        ]
        return joined_racks(said, self.lists["members"].length, self.lists["owner"].length)


def side_by_side(given: pa.RecordBatch) -> tuple[Rows, list[BadRow]]:
    """Return the rows that hold groups, and why others do not, in their order.

    Raises
    ------
    BadInput
        Where a column of the layout is missing or of another kind, or where the groups together
        have more partitions than are supported.
    """
    typed, place, failures = sifted(given)
    rows = Rows(typed, place, {})
    bad = doubted(typed, rows.lists)
    more = np.flatnonzero(~bad & _is_there(typed.column("rest"))).tolist()
    bad[[row for row in more if not rows.has_plain_rest(row)]] = True
    rows = rows.judged(np.flatnonzero(bad), failures)
    check_total([len(rows.lists["owner"].values)])
    refused = rows.refused()
    if refused:
        rows = rows.judged(np.array(refused), failures)
    return rows, sorted(failures)


def each_of(given: pa.RecordBatch) -> Iterator[Group | BadRow]:
    """Yield the group of each row, or why it holds none, as `groups_of` does, and quicker.

    Raises
    ------
    BadInput
        Where a column of the layout is missing or of another kind.
    """
    try:
        rows, failures = side_by_side(given)
    except BadInput:
        # What is too large together need not be so in each group.
        yield from groups_of(given)
        return
    bad, good = {one.row: one for one in failures}, iter(range(len(rows.rows)))
    for row in range(len(given)):
        yield bad[row] if row in bad else rows.alone(next(good))


def _is_there(column: pa.Array) -> Bools:
    return np.asarray(column.is_valid().to_numpy(zero_copy_only=False), bool)
