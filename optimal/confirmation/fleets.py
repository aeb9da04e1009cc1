"""The audit of many groups side by side: each by itself, column by column.

What it does not confirm is left to the checker, group by group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.columns.parts import some, sums
from optimal.certificate import around_balance
from optimal.confirmation.books import SAFE
from optimal.confirmation.least_costs import least_costs

if TYPE_CHECKING:
    from groups.arrays import Bools, Int64
    from groups.fleet import Fleet
    from groups.tiers import Objective
    from optimal.confirmation.books import Books


def values_of_groups(books: Books, fleet: Fleet, objective: Objective) -> Int64:
    """Return the value of each tier for each group, (groups, tiers) int64.

    Where the assignment of a group is valid, that is; elsewhere they mean nothing.

    Parameters
    ----------
    books : of the group that the fleet is
    objective : flow tiers
    """
    columns = [_value(books, fleet, tier) for tier in objective]
    return np.stack(columns, axis=1) if len(fleet) else np.empty((0, len(objective)), np.int64)


def _value(books: Books, fleet: Fleet, tier: str) -> Int64:
    if tier == "balance":
        return _balance(books.loads, fleet)
    if tier == "topic_balance":
        held = books.held[books.read]
        key = books.topic[books.read] * np.int64(len(books.loads)) + held
        of, shares = np.unique(key, return_counts=True)
        squares = np.zeros(len(books.loads), np.int64)
        np.add.at(squares, of % max(len(books.loads), 1), shares * shares)
        return sums(squares, fleet.member_start)
    return _of_partitions(books, fleet, books.costs(tier))


def _balance(loads: Int64, fleet: Fleet) -> Int64:
    """(groups,) int64: the sum over all pairs of members of the difference of their loads."""
    start, size = fleet.member_start, np.diff(fleet.member_start)
    group = fleet.member_group
    order = np.lexsort((loads, group))
    rank = np.arange(len(loads)) - start[group]
    return sums((2 * rank - (size[group] - 1)) * loads[order], start)


def _of_partitions(books: Books, fleet: Fleet, column: Int64 | Bools) -> Int64:
    """Sum a column, (read,), over the read partitions of each group."""
    if books.all_read:
        return sums(column, fleet.partition_start)
    every = np.zeros(len(books.held), np.int64)
    every[books.read] = column
    return sums(every, fleet.partition_start)


def valid_groups(books: Books, fleet: Fleet) -> Bools:
    """Say of each group whether all that somebody reads is with a reader, the rest with nobody."""
    there = books.held >= 0
    bad = there != (books.readers[books.topic] > 0)
    bad |= there & ~_reads(books)
    return np.asarray(~some(bad, fleet.partition_start))


def _reads(books: Books) -> Bools:
    """(all partitions,) bool: whether the holder of each reads its topic; of nobody's anything."""
    group = books.group
    listed, indptr = group.subscription_topics, group.subscription_indptr
    length = np.diff(indptr)
    if not len(listed):
        return np.zeros(len(books.held), bool)
    # A table for each row of the topics from its first to its last.
    first = listed[np.minimum(indptr[:-1], len(listed) - 1)].astype(np.int64)
    last = listed[np.maximum(indptr[1:] - 1, 0)].astype(np.int64)
    span = np.where(length > 0, last - first + 1, 0)
    begin = np.cumsum(span) - span - first
    table = np.zeros(int(span.sum()) + 1, bool)
    table[begin[books.entry_row] + listed] = True
    row = group.subscription_row[books.held]
    inside = (first[row] <= books.topic) & (books.topic < (first + span)[row])
    return np.asarray(inside & table[np.where(inside, begin[row] + books.topic, -1)])


def proved_groups(
    books: Books,
    fleet: Fleet,
    objective: Objective,
    value: Int64,
    integers: tuple[Int64, Int64],
    scale: Int64,
) -> Bools:
    """Say of each group whether its certificate proves a valid assignment optimal.

    Parameters
    ----------
    value : of each tier for each group, as :func:`values_of_groups` has it
    integers : level and price, (members,) int64 each
    scale : (groups, tiers after balance) int64
    """
    if objective == ("topic_balance",):
        return np.asarray(value[:, 0] == sums(books.even_squares, fleet.topic_start), bool)
    before, after = around_balance(objective)
    level, price = integers
    if "balance" not in objective:
        level = price = np.zeros(len(books.loads), np.int64)
        after, scale = (), scale[:, :0]
    outside = (level > books.loads) | (level < books.loads - 1)
    held_well = ~some(outside, fleet.member_start) if "balance" in objective else True
    values = [
        value[:, objective.index(tier)] if tier in objective else _value(books, fleet, tier)
        for tier in after
    ]
    if not _fits(books, after, price, scale):
        return np.zeros(len(fleet), bool)
    of_partition = fleet.partition_group[books.read]
    units = [scale[of_partition, at] for at in range(len(after))]
    paid, allowed = least_costs(books, before, after, units, (level, price))
    bound = _of_partitions(books, fleet, paid)
    bound -= sums((level + 1) * np.maximum(price, 0), fleet.member_start)
    bound += sums(np.maximum(level, 0) * np.maximum(-price, 0), fleet.member_start)
    cost = sum((scale[:, at] * value for at, value in enumerate(values)), np.zeros_like(bound))
    met = (bound == cost) if "balance" in objective else np.ones(len(fleet), bool)
    good = _of_partitions(books, fleet, ~allowed) == 0
    return np.asarray(met & good & held_well & _outweigh(books, fleet, after, scale))


def _fits(books: Books, after: Objective, price: Int64, scale: Int64) -> bool:
    """Say whether whatever is added up stays inside 64 bits, with much to spare."""
    weight = books.group.weight
    heaviest = 1.0
    if "moved_weight" in after and weight is not None:
        heaviest += float(weight.max(initial=0))
    steepest = float(np.abs(price.astype(float)).max(initial=0))
    steepest += heaviest * float(np.abs(scale.astype(float)).sum(axis=1).max(initial=0))
    return steepest * (len(books.held) + 2 * len(price) + 1) < SAFE / 2


def _outweigh(books: Books, fleet: Fleet, after: Objective, scale: Int64) -> Bools:
    """Say of each group whether a unit of each tier counts more than all later ones can cost."""
    rest, good = np.zeros(len(fleet), np.int64), np.ones(len(fleet), bool)
    for at in reversed(range(len(after))):
        good &= scale[:, at] > rest
        rest += scale[:, at] * _of_partitions(books, fleet, books.dearest(after[at]))
    return good
