"""Of scores: how each assignor did, counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from compare.runs.aggregates.bins import bins_of, integer_bins_of
from compare.runs.aggregates.counted import counted
from compare.scores import CURRENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from groups.tiers import Objective


def counts_of_scores(rows: pa.Table, tiers: Objective) -> Iterator[pa.Table]:
    """Return what scores count for.

    Parameters
    ----------
    rows : scores of one objective, one a group and assignor, as in a portion
    """
    terms = _Terms.of(rows)
    scored = pc.equal(rows["status"], "scored")
    unscored = pc.invert(scored)
    what = {
        "groups": scored,
        "unscored": unscored,
        "valid": pc.and_(scored, rows["valid"]),
        "balanced": pc.and_(scored, rows["balanced"]),
        "optimal": terms.all_are(pc.equal(terms.excess, 0), null=False),
        "maybe": pc.and_(rows["valid"], terms.all_are(pc.less_equal(terms.least, 0), null=True)),
    }
    for name, is_so in what.items():
        yield counted("assignor", rows, is_so, assignor=rows["assignor"], label=name)
    # An incumbent that a heuristic beats leaves the excess open from 0 on.
    low = pc.if_else(pc.less(terms.excess_from, 0), 0, terms.excess_from)
    for number, tier in enumerate(tiers):
        for name, end in (("excess", low), ("excess_most", terms.excess_to)):
            values = terms.of_tier(pc.coalesce(terms.excess, end), number)
            is_there = pc.is_valid(values)
            bins = pa.array(integer_bins_of(pc.fill_null(values, 0)))
            yield counted(
                name, rows, is_there, value=values, assignor=rows["assignor"], tier=tier, x=bins
            )
    if pc.any(unscored).as_py():
        told = pc.binary_join_element_wise(
            rows["status"], pc.fill_null(rows["reason"], "None"), ": "
        )
        yield counted("reason", rows, unscored, assignor=rows["assignor"], label=told)
    yield from _times(rows.filter(_is_timed(rows)))


@dataclass(frozen=True, eq=False)
class _Terms:
    """The terms of all rows, one after another.

    Attributes
    ----------
    is_there : of a row, whether it has terms
    starts, lengths : of its terms: (rows,)
    excess, excess_from, excess_to, least : of a term; null where that is not known
    """

    is_there: NDArray[np.bool_]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    excess: pa.Array
    excess_from: pa.Array
    excess_to: pa.Array
    least: pa.Array

    @staticmethod
    def of(rows: pa.Table) -> _Terms:
        lists = rows["terms"].combine_chunks()
        lengths = np.asarray(pc.fill_null(pc.list_value_length(lists), 0), np.int64)
        terms = lists.flatten()
        excess, excess_from, excess_to = (
            pc.struct_field(terms, name) for name in ("excess", "excess_from", "excess_to")
        )
        return _Terms(
            is_there=np.asarray(lists.is_valid()),
            starts=np.cumsum(lengths) - lengths,
            lengths=lengths,
            excess=excess,
            excess_from=excess_from,
            excess_to=excess_to,
            least=pc.coalesce(excess, excess_from),
        )

    def all_are(self, is_so: pa.Array, *, null: bool) -> pa.Array:
        """Return of each row whether it is so of all its terms, no where it has none.

        Parameters
        ----------
        null : what a term counts for of which it is not known
        """
        not_so = ~np.asarray(pc.fill_null(is_so, null), bool)
        seen = np.concatenate(([0], np.cumsum(not_so)))
        none = seen[self.starts + self.lengths] == seen[self.starts]
        return pa.array(self.is_there & none)

    def of_tier(self, values: pa.Array, number: int) -> pa.Array:
        """Return the values of one tier: (rows,), null where a row has no such term."""
        return values.take(pa.array(self.starts + number, mask=self.lengths <= number))


def _is_timed(rows: pa.Table) -> pa.ChunkedArray:
    """Whether an assignor took a time that tells something."""
    is_timed = pc.equal(rows["status"], "scored")
    is_timed = pc.and_(is_timed, pc.greater(rows["seconds"], 0))
    is_timed = pc.and_(is_timed, pc.greater(rows["n_partitions"], 0))
    return pc.and_(is_timed, pc.not_equal(rows["assignor"], CURRENT))


def _times(rows: pa.Table) -> Iterator[pa.Table]:
    """How many times the fastest an assignor took, and how long for groups of such a size."""
    if not len(rows):
        return
    keys = ["family", "group", "group_key"]
    fastest = rows.select([*keys, "seconds"]).group_by(keys).aggregate([("seconds", "min")])
    yield counted("timed groups", fastest)
    at = pc.index_in(rows["group_key"], value_set=fastest["group_key"].combine_chunks())
    least = np.asarray(pc.take(fastest["seconds_min"], at))
    seconds = np.asarray(rows["seconds"])
    times = pa.array(bins_of(seconds / least))
    yield counted("times the fastest", rows, assignor=rows["assignor"], x=times)
    partitions = np.asarray(rows["n_partitions"])
    digits = np.char.str_len(partitions.astype(str))
    scale = 10.0 ** np.maximum(digits - 2, 0)
    size = pa.array(np.floor(partitions / scale) * scale)
    yield counted(
        "seconds by partitions", rows, assignor=rows["assignor"], x=size,
        y=pa.array(bins_of(seconds)),
    )  # fmt: skip
