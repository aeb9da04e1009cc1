"""Side by side: rows of the layout as one group, without a Python object for each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from groups.arrays import MOST_PARTITIONS, NO_GENERATION, UNKNOWN, check_total, frozen
from groups.columnar.doubts import doubted
from groups.columnar.layout import LAYOUT, NESTED, BadRow, in_layout, sifted
from groups.columnar.lists import Lists
from groups.columnar.rows import columns_of, of_row, require_lag, said_in_names
from groups.columns.names import numbers
from groups.columns.offsets import Offsets, is_latest
from groups.columns.racks import joined_racks
from groups.errors import BadInput
from groups.group import Group
from groups.portions import in_portions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from groups.arrays import Bools, Int64
    from groups.columnar.rows import Named, Row
    from groups.columns.racks import Racks

# Few groups have these: each row that does is looked at by itself.
RARE = {"claims", "absent_topics", "absent_subscriptions", "replicas"}
OFFSETS = [field.name for field in LAYOUT.field("offsets").type]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of the layout.

    Attributes
    ----------
    rows : with the columns of the layout and its types
    place : (rows,) int64, their numbers in the batch that was given
    """

    rows: pa.RecordBatch
    place: Int64

    @cached_property
    def lists(self) -> dict[str, Lists]:
        """The columns that are lists, by name; those of `offsets` only if a row has some."""
        found = {
            field.name: Lists.of(self.rows.column(field.name))
            for field in LAYOUT
            if field.type != pa.string() and field.name not in NESTED
        }
        offsets = self.rows.column("offsets")
        if offsets.null_count < len(offsets):
            for name, column in zip(OFFSETS, offsets.flatten(), strict=True):
                found[f"offsets.{name}"] = Lists.of(column)
        return found

    @cached_property
    def nested(self) -> dict[str, list[Any]]:
        """What rows say in the nested columns but `offsets` in which a row says something."""
        columns = {name: self.rows.column(name) for name in NESTED if name != "offsets"}
        return {
            name: column.to_pylist()
            for name, column in columns.items()
            if column.null_count < len(column)
        }

    @cached_property
    def said(self) -> list[Named | BadInput]:
        """(rows,) where members stand and their details, or what is wrong with these.

        Nothing at all if no row says something of it.
        """
        if not {"details", "replicas"} & self.nested.keys():
            return []
        members, partitions = self.lists["members"].length, self.lists["owner"].length
        nothing = [None] * len(self.rows)
        columns = (self.nested.get(name, nothing) for name in ("details", "replicas"))
        rows = zip(*columns, members.tolist(), partitions.tolist(), strict=True)
        return [_said(*row) for row in rows]

    def asked(self) -> Int64:
        """Return the rows to look at by themselves: doubtful ones, and those with what is rare."""
        found = doubted(self.rows, self.lists)
        found[[row for row, said in enumerate(self.said) if isinstance(said, BadInput)]] = True
        for name in RARE & self.nested.keys():
            found |= self.rows.column(name).is_valid().to_numpy(zero_copy_only=False)
        return np.flatnonzero(found)

    def without_bad(self, asked: Int64, failures: list[BadRow]) -> Rows:
        """Return the rows without those of the asked ones that are no group; say why of each."""
        good = np.ones(len(self.rows), bool)
        for row in asked.tolist():
            given = self.row(row)
            try:
                of_row(given)
            except BadInput as error:
                group, time = given["group"] or None, given["captured_at"] or None
                failures.append(BadRow(int(self.place[row]), str(error), group, time))
                good[row] = False
        kept = np.flatnonzero(good)
        return self if good.all() else Rows(self.rows.take(kept), self.place[kept])

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
        self._require_lag(lag)
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
            first = Rows(self.rows.slice(0, half), self.place[:half])
            second = Rows(self.rows.slice(half), self.place[half:])
            return first.refused() + [half + row for row in second.refused()]
        return []

    def other_claims(self) -> Bools:
        """(rows,) bool: where members claim something else than what they validly own."""
        found = self.rows.column("claims").is_valid().to_numpy(zero_copy_only=False)
        return frozen(np.array(found, bool))

    def row(self, number: int) -> dict[str, Any]:
        """Return a row: texts, lists of names, and arrays that are frozen."""
        found: dict[str, Any] = dict.fromkeys(NESTED)
        found |= {name: column[number] for name, column in self.nested.items()}
        for name in LAYOUT.names:
            if name in self.lists and self.lists[name].nulls is None:
                found[name] = self.lists[name].frozen_at(number)
            elif name not in NESTED:
                found[name] = self.rows.column(name)[number].as_py()
        logs = {
            name.removeprefix("offsets."): one
            for name, one in self.lists.items()
            if name.startswith("offsets.") and one.given[number]
        }
        if len(logs) == len(OFFSETS) and all(one.nulls is None for one in logs.values()):
            found["offsets"] = {name: one.frozen_at(number) for name, one in logs.items()}
        else:
            found["offsets"] = self.rows.column("offsets")[number].as_py()
        return found

    def alone(self, number: int) -> Group:
        """Return the group of a row by itself, where all rows are known to hold groups."""
        return Group.of_valid(columns_of(self.row(number)))

    def _racks(self) -> Racks | None:
        said = [None if isinstance(one, BadInput) else one[0] for one in self.said]
        return joined_racks(said, self.lists["members"].length, self.lists["owner"].length)

    def _require_lag(self, lag: Int64 | None) -> None:
        lists = self.lists
        if "offsets.given" not in lists:
            return
        partitions = lists["owner"].length
        logs = [lists[f"offsets.{name}"] for name in ("beginning", "end", "committed")]
        given = lists["offsets.given"].filled(lists["topics"].length, False)
        beginning, end, committed = (one.filled(partitions, UNKNOWN) for one in logs)
        offsets = Offsets(beginning, end, committed, given)
        resets = map(is_latest, self.rows.column("auto_offset_reset").to_pylist())
        latest = np.repeat(np.array(list(resets), bool), partitions)
        require_lag(offsets, lag, latest, lists["partitions"].values)


def _said(
    details: Sequence[Row | None] | None, replicas: Sequence[Any] | None, *sizes: int
) -> Named | BadInput:
    try:
        return said_in_names(details, replicas, *sizes)
    except BadInput as error:
        return error


def side_by_side(given: pa.RecordBatch) -> tuple[Rows, list[BadRow]]:
    """Return the rows that hold groups, and why others do not, in their order.

    Raises
    ------
    BadInput
        Where a column of the layout is missing or of another kind, or where the groups together
        have more partitions than are supported.
    """
    typed, place, failures = sifted(given)
    rows = Rows(typed, place)
    rows = rows.without_bad(rows.asked(), failures)
    check_total([len(rows.lists["owner"].values)])
    rows = rows.without_bad(np.array(rows.refused(), np.int64), failures)
    return rows, sorted(failures)


def each_of(given: pa.RecordBatch) -> Iterator[Group | BadRow]:
    """Yield the group of each row, or why it holds none.

    Raises
    ------
    BadInput
        Where a column of the layout is missing or of another kind.
    """
    in_layout(given.slice(0, 0))
    sizes = pc.fill_null(pc.list_value_length(given.column("owner")), 0).to_pylist()
    start = 0
    for portion in in_portions(sizes, int, most=MOST_PARTITIONS):
        rows, failures = side_by_side(given.slice(start, len(portion)))
        bad, good = {one.row: one for one in failures}, iter(range(len(rows.rows)))
        for row in range(len(portion)):
            yield bad[row]._replace(row=start + row) if row in bad else rows.alone(next(good))
        start += len(portion)
