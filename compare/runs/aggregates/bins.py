"""Bins: values rounded up to a few per doubling, so that a distribution has a bounded length.

Of a bin only its upper end is kept. What a distribution says there, "so many are at most this", is
exact.
"""

from __future__ import annotations

from math import ceil, floor, log2
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column

# Up to here each integer is a bin of its own.
EXACT = 64
PER_DOUBLING = 16


def bin_of(value: float) -> float:
    """Return the upper end of the bin of a value above 0.

    Examples
    --------
    >>> bin_of(1.0), bin_of(3.0), round(bin_of(1.05), 6)
    (1.0, 3.0844216, 1.090508)
    """
    return float(2 ** (ceil(PER_DOUBLING * log2(value)) / PER_DOUBLING))


def integer_bin_of(value: int) -> float:
    """Return the upper end of the bin of an integer of 0 or more."""
    return float(value) if value <= EXACT else float(floor(bin_of(value)))


def bin_column(value: Column) -> Column:
    """Return :func:`bin_of` as a column of Spark."""
    from pyspark.sql import functions as sql

    steps = sql.ceil(sql.lit(PER_DOUBLING) * sql.log2(value)).cast("double")
    return sql.pow(sql.lit(2.0), steps / sql.lit(float(PER_DOUBLING)))


def integer_bin_column(value: Column) -> Column:
    """Return :func:`integer_bin_of` as a column of Spark."""
    from pyspark.sql import functions as sql

    whole = value.cast("double")
    return sql.when(value <= EXACT, whole).otherwise(sql.floor(bin_column(whole)).cast("double"))
