"""Bins: values rounded up to a few per doubling, so that a distribution has a bounded length.

Of a bin only its upper end is kept. What a distribution says there, "so many are at most this", is
exact.
"""

from __future__ import annotations

from math import ceil, floor, log2

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


def bin_sql(value: str) -> str:
    """Return :func:`bin_of` in SQL."""
    steps = f"cast(ceil({PER_DOUBLING} * log2({value})) AS double)"
    return f"pow(2.0D, {steps} / {PER_DOUBLING}.0D)"


def integer_bin_sql(value: str) -> str:
    """Return :func:`integer_bin_of` in SQL."""
    whole = f"cast({value} AS double)"
    return f"if({value} <= {EXACT}, {whole}, cast(floor({bin_sql(whole)}) AS double))"
