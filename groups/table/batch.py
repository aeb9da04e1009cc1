"""Batch: rows of the layout as the columns of one group, without a Python object for each.

Most rules of a group can be checked for all rows at once, by building that one group. Rules on
names, on lengths, and on indices that could reach into the next group are checked before.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from groups.arrays import MOST_PARTITIONS, NOBODY, starts, sums
from groups.columns.lists import OFFSETS, Lists, columns_through, offsets_through, row_at
from groups.columns.offsets import RESETS, start_under
from groups.errors import BadInput
from groups.group import Group
from groups.portions import in_portions
from groups.table.layout import LAYOUT, MAY_BE_NULL, NESTED, BadRow, in_layout, joined
from groups.table.rows import columns_of, of_row, racks_and_details_of, require_lag
from groups.times import in_utc_or_none

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from groups.arrays import Int64
    from groups.table.rows import RacksAndDetails


def lists_of(column: pa.ListArray) -> Lists:
    """Return an Arrow column as lists; nulls among the values become 0, False or empty texts."""
    length = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    values = column.flatten()
    is_text, has_nulls = pa.types.is_string(values.type), values.null_count > 0
    if has_nulls:
        values = values.fill_null("" if is_text else pa.scalar(0).cast(values.type))
    return Lists(
        values if is_text else values.to_numpy(zero_copy_only=False),
        column.is_valid().to_numpy(zero_copy_only=False),
        starts(length),
        has_nulls=has_nulls,
    )


_OF_EACH_MEMBER = ("subscription_row", "subscription_known", "generation")
_OF_EACH_PARTITION = ("owner", "lag", "weight", *OFFSETS)


def _violations(rows: pa.RecordBatch, lists: Mapping[str, Lists]) -> Iterator[bool]:
    """Yield for each rule whether some row breaks it; a rule may need the rules before it.

    Parameters
    ----------
    lists : the columns of the rows that are lists
    """
    for name in LAYOUT.names:
        column = rows.column(name)
        yield name not in MAY_BE_NULL and column.null_count > 0
        yield column.type == pa.string() and pc.any(pc.equal(column, "")).as_py() is True
    known = pc.match_substring_regex(rows.column("auto_offset_reset"), RESETS)
    yield pc.all(known).as_py() is False
    offsets = rows.column("offsets").is_valid().to_numpy(zero_copy_only=False)
    for name, values in lists.items():
        yield values.has_nulls
        yield name.startswith("offsets.") and bool((values.given != offsets).any())
    topics, members, counts = lists["topics"], lists["members"], lists["partitions"]
    yield bool(((counts.values < 0) | (counts.values > MOST_PARTITIONS)).any())
    yield bool((counts.length != topics.length).any())
    total = sums(counts.values, counts.start)
    for expected, of_each in (
        (members.length, _OF_EACH_MEMBER),
        (total, _OF_EACH_PARTITION),
        (topics.length, ("offsets.given",)),
    ):
        for one in (lists[name] for name in of_each if name in lists):
            yield bool((one.given & (one.length != expected)).any())
    for names in (topics, members):
        texts = names.values
        yield pc.any(pc.equal(texts, "")).as_py() is True
        yield len(texts) > 1 and names.any_falls(
            pc.less_equal(texts.slice(1), texts.slice(0, len(texts) - 1)).to_numpy(
                zero_copy_only=False
            )
        )
    indptr, listed = lists["subscription_indptr"], lists["subscription_topics"]
    yield bool((indptr.length == 0).any())
    first, last = indptr.values[indptr.start[:-1]], indptr.values[indptr.start[1:] - 1]
    yield bool(((first != 0) | (last != listed.length)).any())
    yield indptr.any_falls(indptr.values[1:] < indptr.values[:-1])
    for column, least, below in (
        (listed, 0, topics.length),
        (lists["subscription_row"], 0, indptr.length - 1),
        (lists["owner"], NOBODY, members.length),
    ):
        yield bool(((column.values < least) | (column.values >= column.repeated(below))).any())


# Few groups have these columns: each row that does is checked by itself.
RARE = {"claims", "absent_topics", "absent_subscriptions", "replicas"}
LOGS = [field.name for field in LAYOUT.field("offsets").type]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of the layout.

    Attributes
    ----------
    rows : the rows, with the columns of the layout and its types
    place : (rows,) int64, their indices in the batch that was given
    """

    rows: pa.RecordBatch
    place: Int64

    @cached_property
    def lists(self) -> dict[str, Lists]:
        """The columns that are lists, by name; those of `offsets` only if a row has offsets."""
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
        """The nested columns other than `offsets`, as Python objects, if not all rows are null."""
        columns = {name: self.rows.column(name) for name in NESTED if name != "offsets"}
        return {
            name: column.to_pylist()
            for name, column in columns.items()
            if column.null_count < len(column)
        }

    @cached_property
    def racks_and_details(self) -> list[RacksAndDetails]:
        """(rows,) racks and member details of each row; empty if no row has any.

        Raises
        ------
        BadInput
            If one breaks a rule.
        """
        if not {"details", "replicas"} & self.nested.keys():
            return []
        sizes = (self.lists[name].length.tolist() for name in ("members", "owner"))
        nothing = [None] * len(self.rows)
        columns = (self.nested.get(name, nothing) for name in ("details", "replicas"))
        return [racks_and_details_of(*row) for row in zip(*columns, *sizes, strict=True)]

    def require_groups(self) -> None:
        """Raise BadInput if a row holds no group; if there is only one row, with the place."""
        alone = len(self.rows) == 1
        if not alone and any(_violations(self.rows, self.lists)):
            raise BadInput("one of several rows")
        rare = np.full(len(self.rows), alone)
        for name in RARE & self.nested.keys():
            rare |= self.rows.column(name).is_valid().to_numpy(zero_copy_only=False)
        for row in np.flatnonzero(rare).tolist():
            of_row(self.row(row))
        _ = self.group

    @cached_property
    def group(self) -> Group:
        """All groups as one, with numbers for names.

        Raises
        ------
        BadInput
            If a group breaks a rule.
        """
        lists = self.lists
        columns = columns_through(lists, [racks for racks, _ in self.racks_and_details])
        if "offsets.given" in lists:
            partitions = lists["owner"].length
            resets = self.rows.column("auto_offset_reset").to_pylist()
            start = np.repeat(np.array([*map(start_under, resets)], np.int64), partitions)
            offsets = offsets_through(lists, partitions)
            require_lag(offsets, columns["lag_records"], start, columns["partitions"])
        return Group(**columns)

    def row(self, number: int) -> dict[str, Any]:
        """Return a row as a dict of texts, lists of names, and frozen arrays."""
        found: dict[str, Any] = dict.fromkeys(NESTED)
        found |= {name: column[number] for name, column in self.nested.items()}
        found |= row_at({n: one for n, one in self.lists.items() if not one.has_nulls}, number)
        for name in LAYOUT.names:
            if name not in found or (name == "offsets" and len(found[name] or ()) < len(LOGS)):
                found[name] = self.rows.column(name)[number].as_py()
        return found

    def alone(self, number: int) -> Group:
        """Return the group of a row; all rows must have been checked."""
        return Group.of_valid(columns_of(self.row(number)))


def side_by_side(given: pa.RecordBatch) -> tuple[Rows, list[BadRow]]:
    """Return the rows that hold groups, and the reasons why others do not, in their order.

    Raises
    ------
    BadInput
        If a column of the layout is missing or of another type, or the groups together have more
        partitions than are supported.
    """
    nothing = Rows(in_layout(given.slice(0, 0)), np.arange(0))
    failures: list[BadRow] = []
    parts = _valid_parts(given, 0, failures) or [nothing]
    if len(parts) == 1:
        return parts[0], failures
    place = np.concatenate([part.place for part in parts])
    rows = Rows(joined([part.rows for part in parts], LAYOUT), place)
    _ = rows.group
    return rows, failures


def _valid_parts(given: pa.RecordBatch, first: int, failures: list[BadRow]) -> list[Rows]:
    """Return the rows that hold groups, in parts; append the reasons for the others to `failures`.

    Rows with a bad one among them are bisected until the bad row is alone.

    Parameters
    ----------
    first : the index of the first row
    """
    try:
        rows = Rows(in_layout(given), np.arange(first, first + len(given)))
        rows.require_groups()
    except BadInput as error:
        half = len(given) // 2
        if half:
            above = _valid_parts(given.slice(0, half), first, failures)
            return [*above, *_valid_parts(given.slice(half), first + half, failures)]
        group, time = (_text(given, name) for name in ("group", "captured_at"))
        failures.append(BadRow(first, str(error), group, in_utc_or_none(time)))
        return []
    return [rows]


def _text(rows: pa.RecordBatch, name: str) -> str | None:
    """Return a text column of the only row, None if it is missing or cannot be decoded."""
    try:
        return rows.column(name)[0].as_py() or None
    except (KeyError, UnicodeDecodeError):
        return None


def each_of(given: pa.RecordBatch) -> Iterator[Group | BadRow]:
    """Yield the group of each row, or why it holds none.

    Portions of at most `MOST_PARTITIONS` partitions are read at a time, as a batch may have more.

    Raises
    ------
    BadInput
        If a column of the layout is missing or of another type.
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
