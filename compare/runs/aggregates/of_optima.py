"""Of optima: the verdicts of groups over families and captures, counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from compare.overview import GUESSES
from compare.runs.aggregates.counted import as_rows, counted
from compare.verdict import EMPTY, WORST_FIRST

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_WORST = 1_000
# Of these verdicts a sentence says how many groups they are about.
NAMED = ("not valid", "improvable")
EVERY = "every"


def counts_of_optima(rows: pa.Table, digits: int) -> Iterator[pa.Table]:
    """Return what optima count for.

    Parameters
    ----------
    rows : optima of one objective, one a group, as in a portion
    digits : how many characters of a time of capture are one point of a trend
    """
    verdict = rows["verdict"]
    says = pc.struct_field(verdict, "says")
    moves = pc.if_else(pc.equal(says, "improvable"), pc.struct_field(verdict, "to_move"), None)
    yield counted("verdict", rows, value=moves, label=says)
    at = pc.utf8_slice_codeunits(rows["captured_at"], 0, digits)
    yield counted("trend", rows, pc.is_valid(at), value=moves, label=says, captured_at=at)
    judged = pc.and_(
        pc.is_valid(says), pc.invert(pc.is_in(says, value_set=pa.array(EMPTY, pa.string())))
    )
    what = {
        "proved": pc.equal(rows["status"], "optimal"),
        "judged": judged,
        "unknown": pc.and_(judged, pc.invert(rows["is_known"])),
        "questions": pc.is_valid(pc.struct_field(verdict, "question")),
    }
    lists = rows["assumed"].combine_chunks()
    lines, of_row = lists.flatten(), pc.list_parent_indices(lists)
    for said in GUESSES:
        rests = np.zeros(len(rows), bool)
        rests[np.asarray(of_row.filter(pc.match_substring(lines, said)))] = True
        what[said] = pa.array(rests)
    for name, is_so in what.items():
        yield counted("groups", rows, is_so, label=name)
    yield counted("assumed", rows.select(["family", "group"]).take(of_row), label=lines)
    yield from _names(rows, says)
    yield _worst(rows, says)


def _names(rows: pa.Table, says: pa.ChunkedArray) -> Iterator[pa.Table]:
    """Count each name of a group, and each of those with a verdict to name.

    It counts for the first family that has it, so that the names of several add up.
    """
    for label in (EVERY, *NAMED):
        named = rows if label == EVERY else rows.filter(pc.equal(says, label))
        firsts = named.group_by("group").aggregate([("family", "min")])
        yield counted("names", firsts.rename_columns({"family_min": "family"}), label=label)


def _worst(rows: pa.Table, says: pa.ChunkedArray) -> pa.Table:
    """Return the groups that people want to see first, of each family."""
    at_least = pc.struct_field(rows["verdict"], "at_least")
    columns = {name: rows[name] for name in ("family", "group", "captured_at", "group_key")}
    worst = pa.table({**columns, "optimum_key": rows["key"], "label": says, "x": at_least})
    worst = worst.filter(pc.is_valid(says))
    place = worst.select(["family", "x", "group", "optimum_key"])
    rank = pc.index_in(worst["label"], value_set=pa.array(WORST_FIRST, pa.string()))
    place = place.append_column("rank", rank)
    place = place.append_column("at", pc.fill_null(worst["captured_at"], ""))
    order = [(name, "ascending") for name in ("family", "rank", "x", "group", "at", "optimum_key")]
    order[2] = ("x", "descending")
    worst = worst.take(pc.sort_indices(place, sort_keys=order))
    # Families stand together: a row's place in its own is that after the family's first row.
    families = worst["family"].combine_chunks().dictionary_encode().indices
    _, first, of_row = np.unique(np.asarray(families), return_index=True, return_inverse=True)
    worst = worst.filter(pa.array(np.arange(len(worst)) - first[of_row] < MOST_WORST))
    found = {name: worst[name] for name in worst.column_names}
    found["count"] = pa.array(np.ones(len(worst), np.int64))
    return as_rows(len(worst), found, {"statistic": "worst"})
