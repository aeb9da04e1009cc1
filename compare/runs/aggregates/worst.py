"""Worst: which rows people want to see first, by their columns.

The order is that of :func:`compare.judged.worst_first`: by verdict, how far above the optimum,
how many partitions to move, name and time of capture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from compare.verdict import WORST_FIRST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MOST_WORST = 1_000
_ORDER = ("rank", "excess", "moves", "group", "at", "optimum_key")
_RANKS = ", ".join(f"'{says}'" for says in WORST_FIRST)
# The same to Spark, of rows of ``aggregates``.
ORDER_IN_SQL = (
    f"array_position(array({_RANKS}), label)",
    "-coalesce(x, 0)",
    "-coalesce(y, 0)",
    "`group`",
    "coalesce(captured_at, '')",
    "optimum_key",
)


def measured(
    verdicts: pa.StructArray | pa.ChunkedArray,
) -> dict[str, pa.Array | pa.ChunkedArray]:
    """Return what verdicts are sorted by: the columns `label`, `x` and `y` of ``aggregates``."""
    says = pc.struct_field(verdicts, "says")
    return {
        "label": says,
        "x": pc.struct_field(verdicts, "at_least"),
        "y": moves_of(says, pc.struct_field(verdicts, "to_move")),
    }


def moves_of(
    says: pa.Array | pa.ChunkedArray, to_move: pa.Array | pa.ChunkedArray
) -> pa.Array | pa.ChunkedArray:
    """Return the partitions to move where that mends something, else null."""
    return pc.if_else(pc.equal(says, "improvable"), to_move, None)


def worst_first(rows: pa.Table, by: Sequence[str] = ()) -> pa.Array:
    """Return the places of rows in their order: (rows,).

    Parameters
    ----------
    rows : with the columns `label`, `x`, `y`, `group`, `captured_at` and `optimum_key`
    by : columns that come before all others
    """
    place = {name: rows[name] for name in (*by, "group", "optimum_key")}
    place["rank"] = pc.index_in(rows["label"], value_set=pa.array(WORST_FIRST, pa.string()))
    for name, column in (("excess", "x"), ("moves", "y")):
        place[name] = pc.negate(pc.fill_null(rows[column], 0))
    place["at"] = pc.fill_null(rows["captured_at"], "")
    order = [(name, "ascending") for name in (*by, *_ORDER)]
    return pc.sort_indices(pa.table(place), sort_keys=order)


def first_of_each(values: pa.ChunkedArray, most: int) -> NDArray[np.bool_]:
    """Return which rows are among the first ones of their value: (rows,) bool.

    Parameters
    ----------
    values : (rows,), those that are alike side by side
    """
    alike = np.asarray(values.combine_chunks().dictionary_encode().indices)
    _, first, of_row = np.unique(alike, return_index=True, return_inverse=True)
    found: NDArray[np.bool_] = np.arange(len(alike)) - first[of_row] < most
    return found
