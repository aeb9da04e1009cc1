"""Side by side: rows of the layout as one fleet, without a Python object for each group."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from groups.arrays import NO_GENERATION, UNKNOWN, check_total, frozen
from groups.columnar.doubts import doubted
from groups.columnar.layout import LAYOUT, BadRow, sifted
from groups.columnar.lists import Lists
from groups.columnar.rows import groups_of
from groups.errors import BadInput
from groups.fleet import Fleet, joined_racks, numbers
from groups.group import Group

if TYPE_CHECKING:
    from groups.arrays import Bools, Int64
    from groups.columns.racks import Racks


def fleet_of(rows: pa.RecordBatch) -> tuple[Fleet, list[BadRow]]:
    """Put the groups of some rows side by side; a row that holds none falls out.

    Returns
    -------
    The fleet, and why rows are not in it, in the order of the rows.

    Raises
    ------
    BadInput
        Where a column of the layout is missing or of another kind, or where the groups together
        have more partitions than are supported.
    """
    typed, place, failures = sifted(rows)
    some = _Rows(typed, place, {})
    asked = doubted(typed, some.lists) | ~_is_null(typed.column("rest"))
    some = some.judged(np.flatnonzero(asked), failures)
    check_total([len(some.lists["owner"].values)])
    try:
        group = some.joined()
    except BadInput:
        some = some.judged(np.array(some.refused(), np.int64), failures)
        group = some.joined()
    return some.fleet(group), sorted(failures)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows of the layout, their places in the batch that they are of, and groups made of some."""

    rows: pa.RecordBatch
    place: Int64
    known: dict[int, Group]

    @cached_property
    def lists(self) -> dict[str, Lists]:
        return {
            field.name: Lists.of(self.rows.column(field.name))
            for field in LAYOUT
            if field.type != pa.string()
        }

    def judged(self, asked: Int64, failures: list[BadRow]) -> _Rows:
        """Return the rows without those of the asked ones that are no group; say why of each."""
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
        return _Rows(self.rows.take(kept), self.place[kept], still)

    def joined(self) -> Group:
        """Return all groups as one, whose names are numbers.

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
            self.joined()
        except BadInput:
            half = len(self.rows) // 2
            if not half:
                return [0]
            first = _Rows(self.rows.slice(0, half), self.place[:half], {})
            second = _Rows(self.rows.slice(half), self.place[half:], {})
            return first.refused() + [half + row for row in second.refused()]
        return []

    def fleet(self, group: Group) -> Fleet:
        others = np.zeros(len(self.rows), bool)
        others[[row for row, one in self.known.items() if one.raw_claims is not None]] = True
        members, partitions = self.lists["members"].start, self.lists["owner"].start
        return Fleet(group, members, partitions, self.alone, self.rows, self.place, frozen(others))

    def alone(self, number: int) -> Group:
        """Return the group of a row by itself.

        Raises
        ------
        BadInput
            Where it is none.
        """
        if number not in self.known:
            found = next(groups_of(self.rows.slice(number, 1)))
            if isinstance(found, BadRow):
                raise BadInput(found.reason)
            self.known[number] = found
        return self.known[number]

    def _racks(self) -> Racks | None:
        if all(one.racks is None for one in self.known.values()):
            return None
        said = [
            self.known[row].racks if row in self.known else None for row in range(len(self.rows))
        ]
        return joined_racks(said, self.lists["members"].length, self.lists["owner"].length)


def _is_null(column: pa.Array) -> Bools:
    return np.asarray(column.is_null().to_numpy(zero_copy_only=False), bool)
