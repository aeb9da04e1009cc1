"""The least that partitions can cost and pay: the sum that a certificate's prices bound by.

Column by column, of one group or of many side by side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optimal.confirmation.books import SAFE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.arrays import Bools, Int64, Ints
    from groups.tiers import Objective
    from optimal.confirmation.books import Books


def least_costs(
    books: Books,
    before: Objective,
    after: Objective,
    scale: Sequence[int | Int64],
    integers: tuple[Int64, Int64],
    firsts: Int64 | None = None,
) -> tuple[Int64, Bools]:
    """Return what each partition costs and pays with the allowed reader where that is least.

    Parameters
    ----------
    before, after : the tiers before balance, and those that the prices are about
    scale : what a unit of each tier after balance counts, of each read partition where it differs
    integers : level and price, (members,) int64 each
    firsts : what `topic_firsts` returned, where it was asked for already

    Returns
    -------
    (read,) int64, and (read,) bool: whether the holder is allowed
    """
    level, price = integers
    if "racks" in (*before, *after):
        place, places = _rack_firsts(books, *integers)
    else:
        places = [topic_firsts(books, *integers) if firsts is None else firsts]
        place = books.topic[books.read]
    owner, held = books.group.owner[books.read], books.held[books.read]
    options = [first[:, place] for first in places]
    of_owner = np.stack((level[owner], price[owner]))
    of_owner[0, owner < 0] = SAFE
    options.append(of_owner)

    def costs(tier: str) -> list[Int64 | int]:
        """(read,) int64: what it costs in a tier that each of the options has a partition."""
        if tier == "racks":
            return [*range(len(places)), books.far(owner)]
        return [*[books.leaving(tier)] * len(places), 0]

    opened = [option[0] < SAFE for option in options]
    allowed = np.ones(len(held), bool)
    for tier in before:
        each = costs(tier)
        lowest = _lowest(opened, each)
        allowed &= books.costs(tier) == lowest
        opened = [there & (cost == lowest) for there, cost in zip(opened, each, strict=True)]
    lowest = _lowest(opened, [option[0] for option in options])
    allowed &= level[held] == lowest
    paid: list[Int64] = [option[1] for option in options]
    for tier, unit in zip(after, scale, strict=True):
        paid = [one + unit * cost for one, cost in zip(paid, costs(tier), strict=True)]
    best = [there & (o[0] == lowest) for there, o in zip(opened, options, strict=True)]
    return _lowest(best, paid), allowed


def topic_firsts(books: Books, level: Int64, price: Int64) -> Int64:
    """(2, topics) int64: least level, and least price at it, of the readers; SAFE without any."""
    group = books.group
    of_row = _least(np.stack((level, price)), group.subscription_row, len(books.row_size))
    entry = of_row[:, books.entry_row]
    return _least(entry, group.subscription_topics, len(books.readers))


def _rack_firsts(books: Books, level: Int64, price: Int64) -> tuple[Ints, list[Int64]]:
    """(place of each read partition, the same of the near and of the far readers of a place).

    A place is a topic and a set of replica racks; members with one row and one rack are equally
    far from it.
    """
    group, racks = books.group, books.group.racks
    if racks is None or not len(books.loads):
        return np.zeros(0, np.int64), [np.zeros((2, 0), np.int64)] * 2
    width = len(racks.names) + 1
    kinds, kind = np.unique(
        group.subscription_row * np.int64(width) + racks.member + 1, return_inverse=True
    )
    of_kind = _least(np.stack((level, price)), kind, len(kinds))
    row, rack = np.divmod(kinds, width)
    sets = int(racks.replicas.max(initial=0)) + 1
    keys, place = np.unique(
        books.topic[books.read] * np.int64(sets) + racks.replicas[books.read], return_inverse=True
    )
    topic, replicas = np.divmod(keys, sets)
    start = group.subscription_indptr[row]
    entry, entry_kind = _ranges(start, np.diff(group.subscription_indptr)[row])
    entry_topic = group.subscription_topics[entry]
    start = np.searchsorted(topic, np.arange(len(books.readers) + 1))
    at, of_entry = _ranges(start[entry_topic], np.diff(start)[entry_topic])
    entry_kind = entry_kind[of_entry]
    far = racks.lack(replicas[at], rack[entry_kind] - 1)
    return place, [
        _least(of_kind[:, entry_kind[chosen]], at[chosen], len(keys)) for chosen in (~far, far)
    ]


def _ranges(start: Int64, length: Int64) -> tuple[Int64, Int64]:
    """Return all numbers of ranges, one after the other, and the range of each."""
    of = np.repeat(np.arange(len(start)), length)
    within = np.arange(len(of)) - np.repeat(np.cumsum(length) - length, length)
    return start[of] + within, of


def _least(pairs: Int64, of: Ints, count: int) -> Int64:
    """(2, count) int64: of the pairs of each the least by the first, then by the second."""
    found = np.full((2, count), SAFE, np.int64)
    np.minimum.at(found[0], of, pairs[0])
    tight = np.where(pairs[0] == found[0][of], pairs[1], SAFE)
    np.minimum.at(found[1], of, tight)
    return found


def _lowest(there: Sequence[Bools], values: Sequence[Int64 | int]) -> Int64:
    """(read,) int64: the least of several values of a partition, of those that are there."""
    found = np.full(len(there[0]), SAFE, np.int64)
    for chosen, value in zip(there, values, strict=True):
        np.minimum(found, value, out=found, where=chosen)
    return found
