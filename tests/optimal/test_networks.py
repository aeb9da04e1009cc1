"""Cheapest flows and the networks of all of them, against every flow of small networks."""

import random
from itertools import product

import numpy as np
import pytest

from groups import SolverContradiction
from groups.arrays import numbered, order_by, ranks
from optimal import networks as module
from optimal.networks import (
    Network,
    by_steps,
    cheapest,
    face,
    least_squares,
    potentials,
    simplex,
)
from optimal.time_left import OutOfTime, TimeLeft

FOREVER = TimeLeft.of(None)


def random_network(rng: random.Random) -> tuple[Network, set[tuple[int, ...]]]:
    """Return a network of six arcs and four nodes, and all its feasible flows, at least one."""
    ends = [rng.sample(range(4), 2) for _ in range(6)]
    lower = [rng.choice((0, 0, 1)) for _ in ends]
    upper = [low + rng.randint(0, 3) for low in lower]
    flow = [rng.randint(low, high) for low, high in zip(lower, upper, strict=True)]
    supply = np.zeros(4, np.int64)
    for (tail, head), units in zip(ends, flow, strict=True):
        supply[tail] += units
        supply[head] -= units
    tail, head = np.array(ends).T
    network = Network(tail, head, np.array(lower), np.array(upper), supply)
    return network, all_flows(network)


def all_flows(network: Network) -> set[tuple[int, ...]]:
    ranges = [range(a, b + 1) for a, b in zip(network.lower, network.upper, strict=True)]
    found = set()
    for flow in product(*ranges):
        out = np.bincount(network.tail, flow, 4) - np.bincount(network.head, flow, 4)
        if np.array_equal(out, network.supply):
            found.add(flow)
    return found


def test_a_cheapest_flow_costs_the_least_and_its_face_is_all_that_cost_as_much():
    rng, several = random.Random("face"), 0
    for _ in range(150):
        network, flows = random_network(rng)
        cost = np.array([rng.randint(-1, 2) for _ in network.tail])
        least = min(np.dot(cost, flow) for flow in flows)
        best = {flow for flow in flows if np.dot(cost, flow) == least}
        flow = cheapest(network, cost, FOREVER)
        assert tuple(flow) in best
        assert tuple(simplex(network, cost)) in best
        assert all_flows(face(network, cost, potentials(network, cost, flow))) == best
        several += 1 < len(best) < len(flows)
    assert several > 20


def side_by_side(networks: list[Network]) -> tuple[Network, np.ndarray]:
    """Return one network of several with four nodes each, and the network of each node."""
    ends = [(n.tail + 4 * at, n.head + 4 * at) for at, n in enumerate(networks)]
    tail, head = (np.concatenate(column) for column in zip(*ends, strict=True))
    lower, upper, supply = (
        np.concatenate([getattr(n, name) for n in networks])
        for name in ("lower", "upper", "supply")
    )
    return Network(tail, head, lower, upper, supply), np.arange(4 * len(networks)) // 4


def test_steps_find_a_cheapest_flow_of_each_part_and_potentials_that_prove_it():
    rng = random.Random("steps")
    made = [random_network(rng) for _ in range(300)]
    network, part = side_by_side([one for one, _ in made])
    cost = np.array([rng.randint(-1, 1) for _ in network.tail])
    flow, distance = by_steps(network, cost, part, FOREVER)
    for at, (_, flows) in enumerate(made):
        own = slice(6 * at, 6 * at + 6)
        assert tuple(flow[own]) in flows
        assert np.dot(cost[own], flow[own]) == min(np.dot(cost[own], one) for one in flows)
    reduced = cost + distance[network.tail] - distance[network.head]
    assert (reduced[flow < network.upper] >= 0).all()
    assert (reduced[flow > network.lower] <= 0).all()
    assert reduced.any()


def test_more_steps_than_are_worth_it_find_nothing(monkeypatch):
    """A chain of three arcs that cost 1 each takes four steps."""
    ends, one = np.arange(3), np.ones(3, np.int64)
    chain = Network(ends, ends + 1, 0 * one, one, np.array([1, 0, 0, -1]))
    part = np.zeros(4, np.int64)
    flow, distance = by_steps(chain, one, part, FOREVER)
    assert flow.tolist() == [1, 1, 1]
    assert (distance - distance[0]).tolist() == [0, 1, 2, 3]
    monkeypatch.setattr(module, "MOST_STEPS", 3)
    assert by_steps(chain, one, part, FOREVER) is None


def test_least_squares_finds_the_most_even_flow_and_the_network_of_all_of_them():
    rng, several = random.Random("squares"), 0
    for _ in range(300):
        network, flows = random_network(rng)
        arcs = np.array(sorted(rng.sample(range(6), 3)))
        base = np.array([rng.randint(0, 4) for _ in arcs])
        guess = np.array([rng.randint(0, 9) for _ in arcs])
        weight = np.array([rng.choice((1, 1, 2, 3)) for _ in arcs])
        squares = {
            flow: int((weight * (base + np.array(flow)[arcs]) ** 2).sum()) for flow in flows
        }
        best = {flow for flow, square in squares.items() if square == min(squares.values())}
        flow, narrowed, _ = least_squares(network, arcs, base, guess, FOREVER, weight=weight)
        assert tuple(flow) in best
        assert all_flows(narrowed) == best
        several += 1 < len(best) < len(flows)
    assert several > 20


def test_a_network_without_a_flow_a_flow_that_is_not_cheapest_and_no_time_are_refused():
    one, zero = np.ones(1, np.int64), np.zeros(2, np.int64)
    network = Network(0 * one, one, 0 * one, one, np.array([2, -2]))
    with pytest.raises(SolverContradiction, match="the min-cost flow ended INFEASIBLE"):
        cheapest(network, 0 * one, FOREVER)
    with pytest.raises(SolverContradiction, match="the simplex method ended INFEASIBLE"):
        simplex(network, 0 * one)
    with pytest.raises(OutOfTime):
        cheapest(network, 0 * one, TimeLeft.of(-1))
    two = Network(zero, zero + 1, zero, zero + 1, np.array([1, -1]))
    with pytest.raises(SolverContradiction, match="left a cycle of negative cost"):
        potentials(two, np.array([5, 1]), np.array([1, 0]))


@pytest.mark.parametrize("greatest", [1, 2**16 - 1, 2**16, 2**40, 2**62])
def test_columns_of_any_width_are_ordered_stably_and_numbered_by_value(greatest):
    rng = random.Random(greatest)
    few = [rng.randint(0, greatest) for _ in range(20)]
    column = np.array([rng.choice([*few, 0, greatest]) for _ in range(300)])
    assert order_by(column).tolist() == sorted(range(300), key=lambda i: column[i])
    distinct, number = numbered(column, greatest + 1)
    assert distinct.tolist() == sorted(set(column.tolist()))
    assert distinct[number].tolist() == column.tolist()


def test_ranks_begin_again_in_every_run():
    assert ranks(np.array([3, 0, 2, 1])).tolist() == [0, 1, 2, 0, 1, 0]
