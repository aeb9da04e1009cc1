"""Levels: the least majorised load vector, by divide and conquer (docs/explanation/method.md).

Groenevelt's decomposition (European Journal of Operational Research 54, 1991,
doi:10.1016/0377-2217(91)90300-K), all blocks of one depth in one maximum flow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import numbered
from groups.errors import SolverContradiction

if TYPE_CHECKING:
    from groups.arrays import Bools, Int64
    from optimal.flow.pools import Pools
    from optimal.time_left import TimeLeft


@dataclass(frozen=True, eq=False)
class Blocks:
    """Pools and classes that share a level.

    Attributes
    ----------
    of_pool, of_class : (pools,) and (classes,) int64, block of each
    floor, extra : (blocks,) int64; `extra` members of a block carry floor + 1, the others floor
    """

    of_pool: Int64
    of_class: Int64
    floor: Int64
    extra: Int64

    @property
    def classes(self) -> Int64:
        """(blocks,) int64: how many classes each block has."""
        return np.bincount(self.of_class, minlength=len(self.floor))

    @property
    def level(self) -> Int64:
        """(blocks,) int64: floor if some carry one more, floor - 1 if all carry floor."""
        return np.where(self.extra > 0, self.floor, self.floor - 1)


def components(pools: Pools) -> tuple[Int64, Int64]:
    """Return the connected component of each pool and of each class, numbered from 0."""
    n = len(pools.counts)
    a, b = pools.read_pool, pools.read_by + n
    label = np.arange(n + len(pools.class_size))
    while True:
        least = np.minimum(label[a], label[b])
        before = label.copy()
        np.minimum.at(label, before[a], least)
        np.minimum.at(label, before[b], least)
        while not np.array_equal(label, label[label]):
            label = label[label]
        if np.array_equal(label, before):
            break
    _, number = numbered(label, len(label))
    return number[:n], number[n:]


def unlevelled(pools: Pools) -> Blocks:
    """Return the connected components as blocks, for objectives without levels."""
    of_pool, of_class = components(pools)
    nothing = np.zeros(int(of_class.max(initial=-1)) + 1, np.int64)
    return Blocks(of_pool, of_class, nothing, nothing)


def levels(pools: Pools, time_left: TimeLeft) -> Blocks:
    """Split pools and classes into blocks of one level each.

    If the members of a block cannot carry all its partitions with the average rounded up each, a
    part of it is overloaded; if not all members can reach the average rounded down, a part is
    underloaded. The minimum cuts are these parts, and the block is split.
    """
    blocks = _with_averages(pools, *components(pools))
    undecided = blocks.classes > 1
    while undecided.any():
        time_left.check()
        overloaded, *over = _cut(pools, blocks, undecided, one_more=True)
        rest = undecided & ~overloaded & (blocks.extra > 0)
        time_left.check()
        underloaded, *under = _cut(pools, blocks, rest, one_more=False)
        was_split = np.concatenate((np.flatnonzero(overloaded), np.flatnonzero(underloaded)))
        if not len(was_split):
            break
        count = len(blocks.floor) + len(was_split)
        part = np.arange(len(blocks.floor))
        part[was_split] = np.arange(len(blocks.floor), count)
        of_pool, of_class = (
            np.where((a & overloaded[of]) | (b & underloaded[of]), part[of], of)
            for a, b, of in zip(over, under, (blocks.of_pool, blocks.of_class), strict=True)
        )
        blocks = _with_averages(pools, of_pool, of_class)
        undecided = np.zeros(count, bool)
        undecided[was_split] = undecided[part[was_split]] = True
        undecided &= blocks.classes > 1
    return blocks


def _with_averages(pools: Pools, of_pool: Int64, of_class: Int64) -> Blocks:
    """Return the blocks with floor and extra such that every member carries the average."""
    count = int(max(of_pool.max(initial=-1), of_class.max(initial=-1))) + 1
    kept = np.bincount(of_class, pools.class_size * pools.class_kept, count)
    total = (np.bincount(of_pool, pools.counts, count) + kept).astype(np.int64)
    size = np.bincount(of_class, pools.class_size, count).astype(np.int64)
    return Blocks(of_pool, of_class, *np.divmod(total, np.maximum(size, 1)))


def _cut(
    pools: Pools, blocks: Blocks, wanted: Bools, *, one_more: bool
) -> tuple[Bools, Bools, Bools]:
    """Return a minimum cut of each wanted block, by one maximum flow through all of them.

    Only members have capacities: with a bound on what a class reads of a pool, the sink's side
    would come out wrong. Partitions that are kept reach their class without a pool.

    Parameters
    ----------
    one_more : cap members at the average rounded up, and ask whether that takes all partitions;
        otherwise cap them at the average rounded down, and ask whether all reach it

    Returns
    -------
    (blocks,) bool, whether the flow is less than wanted, so that the block is split; (pools,) and
    (classes,) bool, whether each is in the cut: on the source's side with `one_more`, otherwise on
    the sink's side
    """
    n, k, c = len(blocks.floor), len(pools.counts), len(pools.class_size)
    source, sink = k + c, k + c + 1
    pool = np.flatnonzero(wanted[blocks.of_pool])
    class_ = np.flatnonzero(wanted[blocks.of_class])
    if not len(class_):
        return np.zeros(n, bool), np.zeros(k, bool), np.zeros(c, bool)
    cap = blocks.floor + (blocks.extra > 0) if one_more else blocks.floor
    block = blocks.of_pool[pools.read_pool]
    inside = np.flatnonzero((block == blocks.of_class[pools.read_by]) & wanted[block])
    read_pool, read_by = pools.read_pool[inside], pools.read_by[inside]
    size = pools.class_size[class_]
    room = cap[blocks.of_class[class_]] * size
    from optimal.solvers import max_flow

    solver = max_flow.SimpleMaxFlow()
    arcs = solver.add_arcs_with_capacity(
        np.concatenate((np.full(len(pool) + len(class_), source), read_pool, k + class_)),
        np.concatenate((pool, k + class_, k + read_by, np.full(len(class_), sink))),
        np.concatenate(
            (
                pools.counts[pool],
                size * pools.class_kept[class_],
                pools.counts[read_pool] + 1,
                room,
            )
        ),
    )
    if solver.solve(source, sink) != solver.OPTIMAL:
        raise SolverContradiction("the maximum flow did not end OPTIMAL")
    of_class = blocks.of_class[class_]
    carried = np.bincount(of_class, solver.flows(arcs[-len(class_) :]), n)
    full = np.bincount(of_class, room, n)
    if one_more:
        full = np.bincount(of_class, size, n) * blocks.floor + blocks.extra
    cut = solver.get_source_side_min_cut() if one_more else solver.get_sink_side_min_cut()
    within = np.zeros(k + c + 2, bool)
    within[np.array(cut, np.int64)] = True
    return wanted & (carried < full), within[:k], within[k : k + c]
