"""Lists: a column of lists as NumPy sees it, all values one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from groups.arrays import frozen
from groups.columns.parts import some, starts

if TYPE_CHECKING:
    from groups.arrays import Bools, Int64


@dataclass(frozen=True)
class Lists:
    """A column of lists; a null has no values.

    Attributes
    ----------
    values : those of all rows: an array, of names one of Arrow's
    given : (rows,) bool, whether there is a list
    start : (rows + 1,) int64, where each row's values begin
    nulls : (values,) bool, what is null among the values; None: nothing
    """

    values: Any
    given: Bools
    start: Int64
    nulls: Bools | None

    @staticmethod
    def of(column: pa.ListArray) -> Lists:
        """Return the lists of a column; what is null among integers is 0, or False."""
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

    @property
    def length(self) -> Int64:
        """(rows,) int64: how many values each row has."""
        return np.diff(self.start)

    def at(self, row: int) -> Any:
        """Return the values of a row."""
        return self.values[self.start[row] : self.start[row + 1]]

    def frozen_at(self, row: int) -> Any:
        """Return the values of a row, a list of names or a frozen copy; None of a null."""
        if not self.given[row]:
            return None
        found = self.at(row)
        return frozen(found.copy()) if isinstance(found, np.ndarray) else found.to_pylist()

    def each(self, of_row: Int64) -> Int64:
        """Return for each value what is said of its row."""
        return np.repeat(of_row, self.length)

    def shifted(self, by: Int64) -> Any:
        """Return the values, each with what its row is shifted by; below 0 is nobody and stays."""
        values = self.values
        return np.where(values < 0, values, values + self.each(by).astype(values.dtype))

    def filled(self, length: Int64, value: int) -> Any:
        """Return the values, with so many of one value for each row that is null."""
        if self.given.all():
            return self.values.copy()
        made = np.full(int(length.sum()), value, self.values.dtype)
        made[np.repeat(self.given, length)] = self.values
        return made

    def rows_with(self, marked: Bools) -> Bools:
        """(rows,) bool: which have a marked value; (values,) bool says which those are."""
        if not marked.any():
            return np.zeros(len(self.given), bool)
        return some(marked, self.start)

    def rows_that_fall(self, falls: Bools) -> Bools:
        """(rows,) bool: in which a value is not as it is to be after the one before it.

        Parameters
        ----------
        falls : (values - 1,) bool, of each value but the first; what it says of the first of a
            row means nothing
        """
        marked = np.concatenate(([False], falls))[: len(self.values)]
        begins = self.start[:-1]
        marked[begins[begins < len(marked)]] = False
        return self.rows_with(marked)
