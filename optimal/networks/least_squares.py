"""Least squares: the flow that spreads most evenly over some arcs, by unit arcs near a guess."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import ranks
from optimal.networks.cheapest_flow import cheapest
from optimal.networks.network import Network, face, potentials

if TYPE_CHECKING:
    from groups.arrays import Bools, Int64
    from optimal.time_left import TimeLeft


def least_squares(
    network: Network,
    arcs: Int64,
    base: Int64,
    guess: Int64,
    time_left: TimeLeft,
    *,
    cost: Int64 | None = None,
    weight: Int64 | None = None,
) -> tuple[Int64, Network, Int64]:
    """Minimise the sum of squares of ``base + flow`` over some arcs, and what the others cost.

    The k-th unit of an arc costs ``2 (base + k) - 1``, times its weight. Unit arcs stand for the
    steps around `guess` only; what is below and above runs at the slope of the nearest step, which
    never costs more than the truth. Where a flow leaves its window so far that it costs less, the
    window grows and the flow is solved again.

    Parameters
    ----------
    arcs : indices of the arcs; base, guess : (len(arcs),) int64
    cost : (arcs of the network,) int64, of a unit on each of the other arcs; None: 0
    weight : (len(arcs),) int64, what a square counts, 1 or more; None: 1

    Returns
    -------
    A flow, (arcs of the network,) int64, the network of all flows that cost no more, and the
    potentials, (nodes,) int64.
    """
    slope = np.ones(len(arcs), np.int64) if weight is None else weight
    least, most = network.lower[arcs], network.upper[arcs]
    of_unit = np.zeros(len(network.tail), np.int64) if cost is None else cost
    others = np.ones(len(network.tail), bool)
    others[arcs] = False
    width = 2
    low, high = np.clip(guess - width, least, most), np.clip(guess + width, least, most)
    while True:
        steps, of_step, of = _steps(network, arcs, others, base, low, high, of_unit, slope)
        flow = cheapest(steps, of_step, time_left)
        carried = np.bincount(of, flow[-len(of) :], len(arcs)).astype(np.int64)
        inside = ((carried >= low - 1) | (low == least)) & ((carried <= high + 1) | (high == most))
        if inside.all():
            break
        width *= 2
        low = np.minimum(low, np.clip(carried - width, least, most))
        high = np.maximum(high, np.clip(carried + width, least, most))
    distance = potentials(steps, of_step, flow)
    narrowed = face(network, of_unit, distance)
    rise = distance[network.head[arcs]] - distance[network.tail[arcs]]
    lower, upper = network.lower.copy(), network.upper.copy()
    lower[others], upper[others] = narrowed.lower[others], narrowed.upper[others]
    # Every best flow takes the steps that cost less than the rise, none those that cost more.
    lower[arcs] = np.clip(-(-rise // slope) // 2 - base, least, most)
    upper[arcs] = np.clip((rise // slope + 1) // 2 - base, least, most)
    total = np.empty(len(network.tail), np.int64)
    total[others] = flow[: int(others.sum())]
    total[arcs] = carried
    return total, replace(network, lower=lower, upper=upper), distance


def _steps(
    network: Network,
    arcs: Int64,
    others: Bools,
    base: Int64,
    low: Int64,
    high: Int64,
    of_unit: Int64,
    slope: Int64,
) -> tuple[Network, Int64, Int64]:
    """(network with the arcs split into steps, its costs, which arc each of the last ones is)."""
    least, most = network.lower[arcs], network.upper[arcs]
    count = high - low
    units = np.repeat(np.arange(len(arcs)), count)
    step = low[units] + 1 + ranks(count)
    every = np.arange(len(arcs))
    of = np.concatenate((every, units, every))
    price = np.concatenate((low, step, high + 1)) + base[of]
    # The whole lower bound rides on the first of the three kinds of arc.
    lower = np.concatenate((least, np.zeros(len(units) + len(arcs), np.int64)))
    upper = np.concatenate((low, np.ones(len(units), np.int64), most - high))
    return (
        Network(
            tail=np.concatenate((network.tail[others], network.tail[arcs][of])),
            head=np.concatenate((network.head[others], network.head[arcs][of])),
            lower=np.concatenate((network.lower[others], lower)),
            upper=np.concatenate((network.upper[others], upper)),
            supply=network.supply,
        ),
        np.concatenate((of_unit[others], (2 * price - 1) * slope[of])),
        of,
    )
