"""Resting: which groups rest on a guess, by what was assumed of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from compare.overview import GUESSES

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray


def rest_on_guesses(
    lines: pa.Array, of_row: pa.Array, rows: int
) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield each of `GUESSES`, and which rows have a line that holds it: (rows,) bool.

    Parameters
    ----------
    lines, of_row : what was assumed, and the number of the row of each
    """
    for said in GUESSES:
        rests = np.zeros(rows, bool)
        rests[np.asarray(of_row.filter(pc.match_substring(lines, said)))] = True
        yield said, rests
