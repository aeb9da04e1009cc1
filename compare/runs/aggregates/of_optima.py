"""Of optima: the verdicts of groups over families and captures, counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from compare.overview import NAMED
from compare.runs.aggregates.counted import as_rows, counted
from compare.runs.aggregates.resting import rest_on_guesses
from compare.runs.aggregates.worst import (
    MOST_WORST,
    first_of_each,
    measured,
    moves_of,
    worst_first,
)
from compare.verdict import EMPTY

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    moves = moves_of(says, pc.struct_field(verdict, "to_move"))
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
    for said, rests in rest_on_guesses(lines, of_row, len(lists)):
        what[said] = pa.array(rests)
    for name, is_so in what.items():
        yield counted("groups", rows, is_so, label=name)
    yield counted("assumed", rows.select(["family", "group"]).take(of_row), label=lines)
    yield _worst(rows)


def counts_of_names(rows: pa.Table) -> Iterator[pa.Table]:
    """Count each name of a group, and each of those with a verdict to name.

    It counts for the first family that has it, so that the names of several add up.

    Parameters
    ----------
    rows : with `group`, `family` and `verdict`, all captures of a name
    """
    says = pc.struct_field(rows["verdict"], "says")
    for label in (EVERY, *NAMED):
        named = rows if label == EVERY else rows.filter(pc.equal(says, label))
        firsts = named.group_by("group").aggregate([("family", "min")])
        yield counted("names", firsts.rename_columns({"family_min": "family"}), label=label)


def _worst(rows: pa.Table) -> pa.Table:
    """Return the groups that people want to see first, of each family."""
    columns = {name: rows[name] for name in ("family", "group", "captured_at", "group_key")}
    worst = pa.table({**columns, "optimum_key": rows["key"], **measured(rows["verdict"])})
    worst = worst.filter(pc.is_valid(worst["label"]))
    worst = worst.take(worst_first(worst, ["family"]))
    worst = worst.filter(pa.array(first_of_each(worst["family"], MOST_WORST)))
    found = {name: worst[name] for name in worst.column_names}
    found["count"] = pa.array(np.ones(len(worst), np.int64))
    return as_rows(len(worst), found, {"statistic": "worst"})
