"""Bins: values rounded up to a few per doubling, so that a distribution has a bounded length.

Of a bin only its upper end is kept. What a distribution says there, "so many are at most this", is
exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

# Up to here each integer is a bin of its own.
EXACT = 64
PER_DOUBLING = 16


def bins_of(values: ArrayLike) -> NDArray[np.float64]:
    """Return the upper ends of the bins of values above 0.

    Examples
    --------
    >>> bins_of([1.0, 3.0, 1.05]).round(6).tolist()
    [1.0, 3.084422, 1.090508]
    """
    ends = 2.0 ** (np.ceil(PER_DOUBLING * np.log2(values)) / PER_DOUBLING)
    return np.asarray(ends, np.float64)


def integer_bins_of(values: ArrayLike) -> NDArray[np.float64]:
    """Return the upper ends of the bins of integers."""
    integers = np.asarray(values, np.int64)
    ends = np.floor(bins_of(np.maximum(integers, 1)))
    return np.where(integers <= EXACT, integers.astype(np.float64), ends)
