"""Batch: rows of the layout as one group side by side, without a Python object for each.

Rules that look at one group alone hold side by side, too. Those on names, on lengths, and on
indices that would reach into the next group are looked for in each row before.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from groups.arrays import MOST_PARTITIONS, NO_GENERATION, NOBODY, UNKNOWN, check_total, frozen
from groups.columnar.layout import LAYOUT, MAY_BE_NULL, NESTED, BadRow, in_layout, sifted
from groups.columnar.rows import columns_of, of_row, require_lag, said_in_names
from groups.columns.lists import OFFSETS, Lists, offsets_through, row_at, subscriptions_through
from groups.columns.names import numbers
from groups.columns.offsets import is_latest
from groups.columns.racks import joined_racks
from groups.columns.segments import starts, sums
from groups.errors import BadInput
from groups.group import Group
from groups.portions import in_portions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from groups.arrays import Bools, Int64
    from groups.columnar.rows import Named, Row


def lists_of(column: pa.ListArray) -> Lists:
    """Return the lists of a column of Arrow; what is null among integers is 0, or False."""
    length = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    values, nulls = column.flatten(), None
    is_text = pa.types.is_string(values.type)
    if values.null_count:
        nulls = values.is_null().to_numpy(zero_copy_only=False)
        values = values.fill_null("" if is_text else pa.scalar(0).cast(values.type))
    return Lists(
        values if is_text else values.to_numpy(zero_copy_only=False),
        column.is_valid().to_numpy(zero_copy_only=False),
        starts(length),
        nulls,
    )


_OF_EACH_MEMBER = ("subscription_row", "subscription_known", "generation")
_OF_EACH_PARTITION = ("owner", "lag", "weight", *OFFSETS)


def doubted(rows: pa.RecordBatch, lists: Mapping[str, Lists]) -> Bools:
    """(rows,) bool: which are to be looked at one by one.

    Parameters
    ----------
    lists : the columns of the rows that are lists
    """
    bad = _nulls(rows, lists)
    topics, members, counts = lists["topics"], lists["members"], lists["partitions"]
    impossible = (counts.values < 0) | (counts.values > MOST_PARTITIONS)
    total = sums(np.where(impossible, 0, counts.values), counts.start)
    bad |= counts.rows_with(impossible) | (total > MOST_PARTITIONS)
    bad |= counts.length != topics.length
    for expected, of_each in (
        (members.length, _OF_EACH_MEMBER),
        (total, _OF_EACH_PARTITION),
        (topics.length, ("offsets.given",)),
    ):
        for name in of_each:
            if name in lists:
                bad |= lists[name].given & (lists[name].length != expected)
    bad |= _unnamed(topics) | _unnamed(members) | _unlisted(lists)
    return bad | _outside(lists["owner"], NOBODY, members.length)


def _nulls(rows: pa.RecordBatch, lists: Mapping[str, Lists]) -> Bools:
    """(rows,) bool: which hold a null where none may be, or an empty text."""
    bad = np.zeros(len(rows), bool)
    for name in LAYOUT.names:
        column = rows.column(name)
        if name not in MAY_BE_NULL and column.null_count:
            bad |= column.is_null().to_numpy(zero_copy_only=False)
        if column.type == pa.string():
            bad |= pc.equal(column, "").fill_null(False).to_numpy(zero_copy_only=False)
    for name, values in lists.items():
        if values.nulls is not None:
            bad |= values.rows_with(values.nulls)
        if name.startswith("offsets."):
            bad |= values.given != rows.column("offsets").is_valid().to_numpy(zero_copy_only=False)
    return bad


def _unnamed(names: Lists) -> Bools:
    """(rows,) bool: in which a name is empty, or does not come after the one before it."""
    texts = names.values
    bad = names.rows_with(pc.equal(texts, "").to_numpy(zero_copy_only=False))
    if len(texts) > 1:
        falls = pc.less_equal(texts.slice(1), texts.slice(0, len(texts) - 1))
        bad |= names.rows_that_fall(falls.to_numpy(zero_copy_only=False))
    return bad


def _unlisted(lists: Mapping[str, Lists]) -> Bools:
    """(rows,) bool: whose topic lists have no good ends, or reach into another group."""
    indptr, listed = lists["subscription_indptr"], lists["subscription_topics"]
    bad = indptr.length == 0
    some = np.flatnonzero(~bad)
    first, last = indptr.start[some], indptr.start[some + 1] - 1
    bad[some] = (indptr.values[first] != 0) | (indptr.values[last] != listed.length[some])
    bad |= indptr.rows_that_fall(indptr.values[1:] < indptr.values[:-1])
    bad |= _outside(listed, 0, lists["topics"].length)
    bad |= _outside(lists["subscription_row"], 0, indptr.length - 1)
    return np.asarray(bad, bool)


def _outside(lists: Lists, least: int, below: Int64) -> Bools:
    """(rows,) bool: which have an index under the least one, or past how many there are."""
    return lists.rows_with((lists.values < least) | (lists.values >= lists.each(below)))


# Few groups have these: each row that does is looked at by itself.
RARE = {"claims", "absent_topics", "absent_subscriptions", "replicas"}
LOGS = [field.name for field in LAYOUT.field("offsets").type]


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
            field.name: lists_of(self.rows.column(field.name))
            for field in LAYOUT
            if field.type != pa.string() and field.name not in NESTED
        }
        offsets = self.rows.column("offsets")
        if offsets.null_count < len(offsets):
            for name, column in zip(LOGS, offsets.flatten(), strict=True):
                found[f"offsets.{name}"] = lists_of(column)
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
        read = subscriptions_through(lists)
        lag, weight = (
            frozen(lists[name].filled(partitions.length, UNKNOWN))
            if lists[name].given.any()
            else None
            for name in ("lag", "weight")
        )
        if "offsets.given" in lists:
            resets = map(is_latest, self.rows.column("auto_offset_reset").to_pylist())
            latest = np.repeat(np.array(list(resets), bool), partitions.length)
            offsets = offsets_through(lists, partitions.length)
            require_lag(offsets, lag, latest, lists["partitions"].values)
        said = [None if isinstance(one, BadInput) else one[0] for one in self.said]
        return Group(
            name="fleet",
            topics=numbers(len(topics.values)),
            partitions=frozen(lists["partitions"].values.copy()),
            members=numbers(len(members.values)),
            subscription_indptr=read.indptr,
            subscription_topics=read.listed,
            subscription_row=read.row,
            subscription_known=read.known,
            owner=frozen(partitions.shifted(members.start[:-1])),
            generation=frozen(lists["generation"].filled(members.length, NO_GENERATION)),
            lag_records=lag,
            weight=weight,
            racks=joined_racks(said, members.length, partitions.length),
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
        found |= row_at({n: one for n, one in self.lists.items() if one.nulls is None}, number)
        for name in LAYOUT.names:
            if name not in found or (name == "offsets" and len(found[name] or ()) < len(LOGS)):
                found[name] = self.rows.column(name)[number].as_py()
        return found

    def alone(self, number: int) -> Group:
        """Return the group of a row by itself, where all rows are known to hold groups."""
        return Group.of_valid(columns_of(self.row(number)))


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
