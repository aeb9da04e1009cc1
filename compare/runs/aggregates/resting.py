"""Resting: which groups rest on a guess, by what was assumed of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray


def rest_on(assumed: pa.ListArray, said: str) -> NDArray[np.bool_]:
    """Return which lists have a line that holds such words: (lists,) bool."""
    here = pc.match_substring(assumed.flatten(), said)
    rests = np.zeros(len(assumed), bool)
    rests[np.asarray(pc.list_parent_indices(assumed).filter(here))] = True
    return rests
