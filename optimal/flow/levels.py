"""Levels: the least majorised load vector, by divide and conquer (DESIGN section 2).

Groenevelt's decomposition (European Journal of Operational Research 54, 1991,
doi:10.1016/0377-2217(91)90300-K), all blocks of one depth in one maximum flow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from ortools.graph.python import max_flow

if TYPE_CHECKING:
    from groups.group import Bools, Int64
    from optimal.flow.pools import Pools
    from optimal.networks.time_left import TimeLeft


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
    def of_one_class(self) -> Bools:
        """(blocks,) bool: whether all members of the block read alike."""
        return np.asarray(np.bincount(self.of_class, minlength=len(self.floor)) == 1)

    @property
    def level(self) -> Int64:
        """(blocks,) int64: floor where a member carries more, floor - 1 where all carry it."""
        return np.where(self.extra > 0, self.floor, self.floor - 1)


def components(pools: Pools) -> tuple[Int64, Int64]:
    """Return the connected component of each pool and of each class, numbered from 0."""
    n = len(pools.counts)
    if n == len(pools.class_size) == len(pools.edge_pool) == 1:
        return np.zeros(1, np.int64), np.zeros(1, np.int64)
    a, b = pools.edge_pool, pools.edge_class + n
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
    _, number = np.unique(label, return_inverse=True)
    return number[:n], number[n:]


def unlevelled(pools: Pools) -> Blocks:
    """Return the connected components as blocks, for objectives that no level bounds."""
    of_pool, of_class = components(pools)
    nothing = np.zeros(int(of_class.max(initial=-1)) + 1, np.int64)
    return Blocks(of_pool, of_class, nothing, nothing)


def levels(pools: Pools, time_left: TimeLeft) -> Blocks:
    """Split pools and classes into blocks of one level each.

    A block whose members cannot carry its partitions at one more than the average is overloaded
    in part, one whose members cannot all reach the average is underloaded in part; the minimum
    cuts tell which part. Only members are capped.
    """
    of_pool, of_class = components(pools)
    n = int(max(of_pool.max(initial=-1), of_class.max(initial=-1))) + 1
    still_open = np.bincount(of_class, minlength=n) > 1
    while True:
        size = np.bincount(of_class, pools.class_size, n).astype(np.int64)
        load = pools.class_size * pools.class_kept
        total = (np.bincount(of_pool, pools.counts, n) + np.bincount(of_class, load, n)).astype(
            np.int64
        )
        floor, extra = np.divmod(total, np.maximum(size, 1))
        if not still_open.any():
            return Blocks(of_pool, of_class, floor, extra)
        split = np.full(n, -1, np.int64)
        parts = n
        for cap, source_side in ((floor + (extra > 0), True), (floor, False)):
            wanted = still_open & (split < 0) & (source_side | (extra > 0))
            time_left.check()
            reached, inside_pool, inside_class = _cut(
                pools, of_pool, of_class, cap, wanted, source_side=source_side
            )
            short = wanted & (reached < (total if source_side else cap * size))
            split[short] = parts + np.arange(short.sum())
            parts += int(short.sum())
            for of, inside in ((of_pool, inside_pool), (of_class, inside_class)):
                moved = inside & short[np.minimum(of, n - 1)] & (of < n)
                of[moved] = split[of[moved]]
        was_split = np.flatnonzero(split >= 0)
        still_open = np.zeros(parts, bool)
        still_open[was_split], still_open[split[was_split]] = True, True
        n = parts
        still_open &= np.bincount(of_class, minlength=n) > 1


def _cut(
    pools: Pools, of_pool: Int64, of_class: Int64, cap: Int64, wanted: Bools, *, source_side: bool
) -> tuple[Int64, Bools, Bools]:
    """Send what the members of each wanted block can carry, each at most the block's cap.

    Returns (partitions carried per block, pools and classes inside the cut): those that the
    source still reaches, or those that can still reach the sink.
    """
    n, k, c = len(cap), len(pools.counts), len(pools.class_size)
    source, sink = k + c, k + c + 1
    use_pool = np.flatnonzero((of_pool < n) & wanted[np.minimum(of_pool, n - 1)])
    use_class = np.flatnonzero((of_class < n) & wanted[np.minimum(of_class, n - 1)])
    if not len(use_class):
        return np.zeros(n, np.int64), np.zeros(k, bool), np.zeros(c, bool)
    edge_block = of_pool[pools.edge_pool]
    use = (edge_block == of_class[pools.edge_class]) & (edge_block < n)
    use[use] = wanted[edge_block[use]]
    kept = pools.class_size[use_class] * pools.class_kept[use_class]
    tail = np.concatenate(
        (np.full(len(use_pool) + len(use_class), source), pools.edge_pool[use], k + use_class)
    )
    head = np.concatenate(
        (use_pool, k + use_class, k + pools.edge_class[use], np.full(len(use_class), sink))
    )
    endless = pools.counts[pools.edge_pool[use]] + 1
    room = cap[of_class[use_class]] * pools.class_size[use_class]
    solver = max_flow.SimpleMaxFlow()
    arcs = solver.add_arcs_with_capacity(
        tail, head, np.concatenate((pools.counts[use_pool], kept, endless, room))
    )
    if solver.solve(source, sink) != solver.OPTIMAL:
        raise RuntimeError("the maximum flow did not end optimal")
    carried = np.bincount(of_class[use_class], solver.flows(arcs[-len(use_class) :]), n)
    cut = solver.get_source_side_min_cut() if source_side else solver.get_sink_side_min_cut()
    inside = np.zeros(k + c + 2, bool)
    inside[np.array(cut, np.int64)] = True
    return carried.astype(np.int64), inside[:k], inside[k : k + c]
