"""Doubts: which rows may break a rule that is not looked at where groups are side by side.

Those are the rules on names, on lengths, and on indices, which would reach into the next group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from groups.arrays import MOST_PARTITIONS, NOBODY
from groups.columnar.layout import LAYOUT, MAY_BE_NULL
from groups.columns.parts import sums

if TYPE_CHECKING:
    from collections.abc import Mapping

    from groups.arrays import Bools, Int64
    from groups.columnar.lists import Lists

_OF_EACH_MEMBER = ("subscription_row", "subscription_known", "generation")
_OFFSETS = ("offsets.beginning", "offsets.end", "offsets.committed")
_OF_EACH_PARTITION = ("owner", "lag", "weight", *_OFFSETS)


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
