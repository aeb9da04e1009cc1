"""Gate: which rows of a run are farther from the optimum than somebody allows."""

from __future__ import annotations

from collections import Counter
from heapq import nsmallest
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from compare.limits import beyond
from compare.runs.rows import stored_score
from compare.runs.tables.chosen import chosen
from groups.wording import MOST_NAMED, counted, few

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from compare.runs.job import Job

COLUMNS = (
    "group", "key", "assignor", "status", "reason", "valid", "balanced", "terms", "rounds",
    "revoked", "seconds", "loads",
)  # fmt: skip


def too_far_in_run(
    job: Job,
    group_keys: Sequence[str],
    assignors: Sequence[str],
    limits: Mapping[str, int],
    most: int,
) -> list[str]:
    """Return a line for each way in which rows of a run are worse than the limits allow.

    The rule is that of one group, :func:`compare.limits.beyond`. A line has how many groups it is
    about, and the first of them by name. Rows that have nothing above a limit are left out by
    columns.

    Parameters
    ----------
    most : lines to return; one more says how many are left
    """
    counts: Counter[str] = Counter()
    first: dict[str, list[tuple[str, str]]] = {}
    for assignor in dict.fromkeys(assignors) if limits else ():
        keys = job.score_keys(group_keys, assignor)
        for rows in chosen(job.out, "scores", keys, COLUMNS):
            for row in rows.filter(_suspects(rows, limits)).to_pylist():
                for one in beyond([stored_score(row)], limits):
                    counts[one.sort] += 1
                    place = (row["group"], one.amount)
                    first[one.sort] = nsmallest(MOST_NAMED, {*first.get(one.sort, ()), place})
    lines = []
    for sort, many in sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:most]:
        named = [f"{group}{f' by {by}' if by else ''}" for group, by in first[sort]]
        lines.append(f"{sort}: {counted(many, 'group')}: {few(named, many)}")
    more = len(counts) - len(lines)
    return lines + [f"and {more:,} more reasons"] * (more > 0)


def _suspects(rows: pa.Table, limits: Mapping[str, int]) -> NDArray[np.bool_]:
    """Return the rows of which a term may be above its limit, or that have none: (rows,) bool."""
    terms = rows["terms"].combine_chunks()
    inner = terms.flatten()
    above = np.zeros(len(inner), bool)
    names = inner.field("name")
    least = pc.fill_null(inner.field("excess"), 0)
    most = pc.if_else(pc.is_valid(inner.field("excess_from")), inner.field("excess_to"), least)
    for tier, limit in limits.items():
        is_above = pc.fill_null(pc.greater(most, limit), True)
        above |= np.asarray(pc.and_(pc.equal(names, tier), is_above))
    unknown = pc.and_(pc.is_null(inner.field("excess")), pc.is_null(inner.field("excess_from")))
    parents = np.asarray(pc.list_parent_indices(terms))
    suspect = ~np.asarray(pc.fill_null(rows["valid"], False).combine_chunks(), bool)
    suspect[parents[above]] = True
    # Of an optimum of which nothing is known, not even the first tier has an excess.
    first = np.flatnonzero(np.diff(parents, prepend=-1))
    suspect[parents[first[np.asarray(unknown)[first]]]] = True
    return suspect
