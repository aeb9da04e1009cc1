"""Elastic groups: the fewest members within a capacity, then the least moved weight."""

import random
from dataclasses import replace
from itertools import product

import pytest
from ortools.sat.python import cp_model

from groups.errors import BadInput, ProofError
from optimal import Term
from optimal.arc_flow import ArcFlow
from optimal.elastic import Elastic, check, frontier, members_bound, moved_bound, pack


def drawn(seed: int, partitions: int, members: int, capacity: int, most: float = 1.2) -> Elastic:
    """Return random partitions: some are too fast, some idle, some without an owner."""
    rng = random.Random(seed)
    speeds = tuple(
        max(0, rng.randint(-capacity // 9, int(most * capacity))) for _ in range(partitions)
    )
    return Elastic(speeds, capacity, tuple(rng.randint(-1, members - 1) for _ in speeds))


def all_packings(elastic: Elastic) -> list[tuple[int, int]]:
    """Return (members, moved weight) of all assignments that fit, to up to a member each."""
    found, members = [], len(elastic.speeds)
    for owner in product(range(members), repeat=len(elastic.speeds)):
        loads = [0] * members
        for size, member in zip(elastic.sizes, owner, strict=True):
            loads[member] += size
        if max(loads) <= elastic.capacity:
            found.append((len(set(owner)), elastic.moved(owner)))
    return found


def one_variable_each(elastic: Elastic) -> tuple[int, int]:
    """Return an optimum by another formulation, with a variable for each partition and member."""
    model, members = cp_model.CpModel(), len(elastic.speeds) + 1 + max(elastic.owner)
    has = [[model.new_bool_var("") for _ in range(members)] for _ in elastic.speeds]
    used = [model.new_bool_var("") for _ in range(members)]
    for row in has:
        model.add_exactly_one(row)
    for m, is_used in enumerate(used):
        model.add(
            sum(s * row[m] for s, row in zip(elastic.sizes, has, strict=True)) <= elastic.capacity
        )
        for row in has:
            model.add_implication(row[m], is_used)
    kept = sum(
        speed * row[m]
        for speed, row, m in zip(elastic.speeds, has, elastic.owner, strict=True)
        if m >= 0
    )
    owned = sum(s for s, m in zip(elastic.speeds, elastic.owner, strict=True) if m >= 0)
    model.minimize((owned + 1) * sum(used) + owned - kept)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers, solver.parameters.random_seed = 1, 1
    assert solver.solve(model) == cp_model.OPTIMAL
    return divmod(int(solver.objective_value), owned + 1)


def test_no_assignment_of_a_small_group_has_fewer_members_or_moves_less_and_bounds_hold():
    for seed in range(40):
        elastic = drawn(seed, 5, 2 + seed % 2, 10 + seed % 3, (0.6, 1.0, 1.2)[seed % 3])
        packings = all_packings(elastic)
        fewest, least = min(packings)
        assert members_bound(elastic) <= fewest
        for most in range(fewest, 6):
            within = [moved for members, moved in packings if members <= most]
            assert moved_bound(elastic, most) <= min(within)
        answer = pack(elastic)
        assert answer.terms == (
            Term("members", fewest, fewest),
            Term("moved_weight", least, least),
        )
        for point in frontier(elastic):
            within = [moved for members, moved in packings if members <= point.at_most]
            assert point.terms[-1] == Term("moved_weight", min(within), min(within)), seed


def test_another_formulation_has_the_same_optimum():
    for seed, capacity in ((1, 10), (2, 100), (4, 997), (6, 10**9)):
        elastic = drawn(seed, 11, 4, capacity, 0.7)
        answer = pack(elastic)
        assert (answer.members, answer.moved) == one_variable_each(elastic)
        assert answer.status == "optimal"


def test_rounded_loads_give_true_bounds_and_packings_that_fit(monkeypatch):
    met = 0
    for seed in range(3):
        elastic = drawn(seed, 12, 4, 10_000, 0.7)
        monkeypatch.setattr("optimal.arc_flow.MOST_ARCS", 30_000)
        exact = pack(elastic)
        monkeypatch.setattr("optimal.arc_flow.MOST_ARCS", 400)
        rounded = pack(elastic, at_most=exact.members + 1)
        least = pack(elastic, at_most=exact.members + 1, time_limit=None)
        monkeypatch.setattr("optimal.arc_flow.MOST_ARCS", 30_000)
        value = pack(elastic, at_most=exact.members + 1).moved
        assert rounded.terms[0].bound <= value <= rounded.moved == least.moved
        met += rounded.status == "optimal"
    assert met


def test_partitions_without_a_record_take_one_member_and_no_partitions_none():
    assert pack(Elastic((0, 0, 0), 5, (4, 2, 2))).members == 1
    assert pack(Elastic((), 5, ())).members == 0


def test_without_time_the_bounds_are_what_is_known():
    elastic = drawn(3, 40, 20, 100, 0.7)
    answer = pack(elastic, time_limit=0)
    best = pack(elastic)
    assert answer.terms[0].bound <= best.members <= answer.members


def test_the_check_refuses_what_is_not_so():
    elastic = Elastic((60, 30, 30), 100, (0, 0, 0))
    good = pack(elastic)
    wrong = {
        "above the capacity": {"owner": (0, 0, 0)},
        "members: 1, but it is 2": {"terms": (Term("members", 1, 1), good.terms[1])},
        "moved_weight: 0, but it is 30": {"terms": (good.terms[0], Term("moved_weight", 0, 0))},
        "no certificate": {
            "owner": (0, 1, 2),
            "terms": (Term("members", 3, 3), Term("moved_weight", 60, 30)),
        },
    }
    for message, change in wrong.items():
        with pytest.raises(ProofError, match=message):
            check(elastic, replace(good, **change))


def test_bad_input_names_its_place():
    for elastic, message in (
        (((1,), 0, (0,)), "capacity: 0, expected a whole number of 1 or more"),
        (((1, -1), 5, (0, 0)), "speeds.1: -1, expected a whole number of 0 or more"),
        (((1,), 5, (-2,)), "owner.0: -2, expected a whole number of -1 or more"),
        (((1,), 5, ()), "owner: 0 values for 1 partitions"),
        (((2**61, 2**61), 5, (0, 0)), "speeds: .* together, expected less than 2\\^62"),
    ):
        with pytest.raises(BadInput, match=message):
            Elastic(*elastic)
    with pytest.raises(BadInput, match=r"at_most: no packing of 1 members found; at least 2 are"):
        pack(Elastic((9, 9), 10, (0, 0)), at_most=1)


def test_two_of_a_size_are_told_apart_by_what_their_move_costs():
    network = ArcFlow([3, 3], 4, [30, 31], {0: [0, 1]}, 2)
    bound, bins = network.solve(5.0)
    assert (bound, bins[1]) == (30, 0)
