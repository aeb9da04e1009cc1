"""Lists: a column of many groups, all values one after the other, with each group's numbering."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.arrays import (
    NO_GENERATION,
    UNKNOWN,
    any_in_parts,
    as_immutable,
    frozen,
    numbers,
    starts,
)
from groups.columns.offsets import Offsets
from groups.columns.racks import joined_racks
from groups.columns.subscriptions import Subscriptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from groups.arrays import Bools, Int64
    from groups.columns.racks import Racks

OFFSETS = ("offsets.beginning", "offsets.end", "offsets.committed")


@dataclass(frozen=True)
class Lists:
    """A column of lists, one per group (a row); a null has no values.

    Attributes
    ----------
    values : the values of all rows: an array, or for names a list or an Arrow array
    given : (rows,) bool, whether a row is not null
    start : (rows + 1,) int64, where each row's values begin
    has_nulls : whether there are nulls among the values
    """

    values: Any
    given: Bools
    start: Int64
    has_nulls: bool = False

    @staticmethod
    def of(values: Any, length: Int64, given: Bools | None = None) -> Lists:
        """Return lists of these lengths; rows that are not `given` are null and have no values."""
        if given is None:
            given = np.ones(len(length), bool)
        elif not given.all():
            length = np.where(given, length, 0)
        return Lists(values, given, starts(length))

    @property
    def length(self) -> Int64:
        """(rows,) int64: how many values each row has."""
        return np.diff(self.start)

    def at(self, row: int) -> Any:
        """Return the values of a row, immutable; None for a null."""
        if not self.given[row]:
            return None
        found = self.values[self.start[row] : self.start[row + 1]]
        if isinstance(found, np.ndarray):
            return as_immutable(found, found.dtype.type)
        return found if isinstance(found, list) else found.to_pylist()

    def only(self, chosen: Bools) -> Lists:
        """Return the lists of the chosen rows, (rows,) bool; names are dropped."""
        is_array = isinstance(self.values, np.ndarray)
        values = self.values[np.repeat(chosen, self.length)] if is_array else ()
        return Lists.of(values, self.length[chosen], self.given[chosen])

    def repeated(self, of_row: Int64) -> Int64:
        """Return a column, (rows,), with each entry repeated for every value of its row."""
        return np.repeat(of_row, self.length)

    def shifted(self, by: Int64) -> Any:
        """Return the values plus the shift of their rows, (rows,); values below 0 stay."""
        values = self.values
        return np.where(values < 0, values, values + self.repeated(by).astype(values.dtype))

    def filled(self, length: Int64, value: int) -> Any:
        """Return the values, with `length` copies of `value` for each row that is null."""
        if self.given.all():
            return self.values.copy()
        made = np.full(int(length.sum()), value, self.values.dtype)
        made[np.repeat(self.given, length)] = self.values
        return made

    def null_if_all(self, nothing: int) -> Lists:
        """Return the lists with rows in which every value is `nothing` replaced by nulls."""
        says = self.rows_with(self.values != nothing)
        return Lists.of(self.values[np.repeat(says, self.length)], self.length, says)

    def rows_with(self, marked: Bools) -> Bools:
        """(rows,) bool: whether a row has a marked value; `marked` is (values,) bool."""
        return any_in_parts(marked, self.start)

    def any_falls(self, falls: Bools) -> bool:
        """Return whether a value falls below the one before it in the same row.

        Parameters
        ----------
        falls : (values - 1,) bool, whether each value but the first falls below the one before it;
            entries for the first value of a row are ignored
        """
        marked = np.concatenate(([False], falls))[: len(self.values)]
        begins = self.start[:-1]
        marked[begins[begins < len(marked)]] = False
        return bool(marked.any())


def row_at(lists: Mapping[str, Lists], row: int) -> dict[str, Any]:
    """Return the columns of a row, None for a null; a column ``a.b`` is in a dict under ``a``."""
    found: dict[str, Any] = {}
    for name, column in lists.items():
        values = column.at(row)
        whole, _, part = name.partition(".")
        if not part:
            found[whole] = values
        elif values is not None:
            found.setdefault(whole, {})[part] = values
    return found


def subscriptions_through(lists: Mapping[str, Lists]) -> Subscriptions:
    """Return the subscriptions of all groups, with topics and rows numbered across groups."""
    indptr, listed = lists["subscription_indptr"], lists["subscription_topics"]
    topics, members = lists["topics"], lists["members"]
    begins = np.ones(len(indptr.values), bool)
    begins[indptr.start[1:] - 1] = False
    row_begins = indptr.shifted(listed.start[:-1])[begins]
    row_start = indptr.start[:-1] - np.arange(len(indptr.given))
    return Subscriptions.of_valid(
        frozen(np.append(row_begins, len(listed.values))),
        frozen(listed.shifted(topics.start[:-1])),
        frozen(lists["subscription_row"].shifted(row_start)),
        frozen(lists["subscription_known"].filled(members.length, True)),
        int(topics.start[-1]),
    )


def columns_through(lists: Mapping[str, Lists], racks: Sequence[Racks | None]) -> dict[str, Any]:
    """Return the columns of all groups as one, with members, topics and racks numbered across.

    Parameters
    ----------
    racks : of each group, None if nothing is known; empty if nothing is known for any
    """
    topics, members, partitions = lists["topics"], lists["members"], lists["owner"]
    read = subscriptions_through(lists)
    lag, weight = (
        frozen(lists[name].filled(partitions.length, UNKNOWN)) if lists[name].given.any() else None
        for name in ("lag", "weight")
    )
    return {
        "name": "fleet",
        "topics": numbers(topics.start[-1]),
        "partitions": frozen(lists["partitions"].values.copy()),
        "members": numbers(members.start[-1]),
        "subscription_indptr": read.indptr,
        "subscription_topics": read.listed,
        "subscription_row": read.row,
        "subscription_known": read.known,
        "owner": frozen(partitions.shifted(members.start[:-1])),
        "generation": frozen(lists["generation"].filled(members.length, NO_GENERATION)),
        "lag_records": lag,
        "weight": weight,
        "racks": joined_racks(racks, members.length, partitions.length),
    }


def offsets_through(lists: Mapping[str, Lists], partitions: Int64) -> Offsets:
    """Return the offsets of all groups; `partitions`, (rows,) int64, is how many each has."""
    beginning, end, committed = (lists[name].filled(partitions, UNKNOWN) for name in OFFSETS)
    given = lists["offsets.given"].filled(lists["topics"].length, False)
    return Offsets(beginning, end, committed, given)
