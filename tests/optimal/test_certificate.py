"""A certificate is accepted exactly where it proves what it is said to prove."""

import random
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from groups import Assignment, Group, InvalidAssignment, ProofError, values
from optimal import ProofKind, Solution, check, solve
from optimal.brute import brute
from tests.optimal.conditions import (
    KIP_54,
    ORDERS,
    accepts,
    format_accepts,
    priced,
    weights_of,
)
from tests.optimal.judging import changed, claimed, is_accepted, readers_of, with_owner
from tests.optimal.random_groups import random_group


def test_the_certificate_of_a_small_group_is_what_the_format_says(group, solution):
    assert [t.value for t in solution.terms] == [4, 2]
    assert solution.proof.level.tolist() == [0, 2, 2]
    assert format_accepts(
        group, solution.assignment, solution.proof.level.tolist(), solution.proof.price.tolist()
    )
    assert check(group, solution) == ()


def test_the_certificate_of_the_formats_own_example_is_accepted():
    group = Group.from_dict(
        {
            "format": "assay-group/1",
            "group": "orders",
            "topics": {"t0": 2, "t1": 3, "t9": 1},
            "members": {
                "c0": {"subscription": ["t0", "t1"], "owned": {"t0": [0]}},
                "c1": {"subscription": ["t1"]},
            },
        }
    )
    document = {
        "format": "assay-solution/1",
        "group": "orders",
        "objective": ["balance", "stickiness"],
        "status": "optimal",
        "stopped": "proof",
        "method": "flow",
        "seconds": 0.004,
        "terms": [
            {"name": "balance", "value": 1, "bound": 1},
            {"name": "stickiness", "value": 0, "bound": 0},
        ],
        "assignment": {"c0": {"t0": [0, 1]}, "c1": {"t1": [0, 1, 2]}},
        "unassigned": {"t9": [0]},
        "proof": {
            "kind": "certificate",
            "level": {"c0": 2, "c1": 2},
            "price": {"c0": 0, "c1": 0},
        },
        "assumed": [],
    }
    assert check(group, Solution.from_dict(group, document)) == ()
    mine = solve(group).to_dict()
    for key in ("objective", "status", "stopped", "terms", "unassigned", "assumed"):
        assert mine[key] == document[key]


def test_every_change_of_one_integer_is_judged_as_the_format_judges_it():
    rng = random.Random("one integer")
    judged = {True: 0, False: 0}
    for _ in range(40):
        group = random_group(rng, members=5, partitions=12)
        solution = solve(group, KIP_54, method="flow")
        columns = {key: getattr(solution.proof, key).tolist() for key in ("level", "price")}
        for key in columns:
            for member in range(len(group.members)):
                for step in (-1, 1):
                    column = list(columns[key])
                    column[member] += step
                    proof = columns | {key: column}
                    expected = format_accepts(group, solution.assignment, **proof)
                    found = claimed(group, solution.assignment.owner, KIP_54, **proof)
                    assert is_accepted(group, found) is expected, (group.to_dict(), proof)
                    judged[expected] += 1
    assert judged[False] > 400
    assert judged[True] > 20


def few_members_many_partitions(rng: random.Random) -> Group:
    """Topics of several levels and prices, some read by nobody, partly owned by readers."""
    topics, members = 5, rng.randint(2, 4)
    counts = np.array([rng.choice((0, 3, 12, 30)) for _ in range(topics)])
    rows = [sorted(rng.sample(range(topics), rng.randint(1, 3))) for _ in range(members)]
    owner = []
    for topic in np.repeat(np.arange(topics), counts):
        readers = [m for m, row in enumerate(rows) if topic in row]
        stays = readers and rng.random() < 0.8
        owner.append(readers[min(rng.randrange(3), len(readers) - 1)] if stays else -1)
    return Group.from_arrays(
        group="g",
        topics=[f"t{t}" for t in range(topics)],
        partitions=counts,
        members=[f"c{m}" for m in range(members)],
        subscription_indptr=np.cumsum([0, *map(len, rows)]),
        subscription_topics=[t for row in rows for t in row],
        owner=owner,
    )


def test_partitions_counted_by_topic_and_owner_prove_what_each_by_itself_proves():
    rng = random.Random("counted")
    judged = {True: 0, False: 0}
    for _ in range(60):
        group = few_members_many_partitions(rng)
        solution = solve(group, KIP_54)
        columns = {key: getattr(solution.proof, key).tolist() for key in ("level", "price")}
        assert format_accepts(group, solution.assignment, **columns)
        for _ in range(8):
            proof = {key: list(column) for key, column in columns.items()}
            member = rng.randrange(len(group.members))
            proof[rng.choice(("level", "price", "price"))][member] += rng.choice((-1, 1))
            owner = solution.assignment.owner.copy()
            if rng.random() < 0.3 and len(owner):
                partition = rng.randrange(len(owner))
                owner[partition] = rng.choice(readers_of(group).get(partition, [-1]))
            assignment = Assignment(group, owner)
            expected = format_accepts(group, assignment, **proof)
            found = is_accepted(group, claimed(group, owner, KIP_54, **proof))
            assert found is expected, (group.to_dict(), proof)
            judged[expected] += 1
    assert judged[False] > 100
    assert judged[True] > 20


def test_a_rejected_integer_names_the_place_where_the_proof_fails():
    rng = random.Random("places")
    rejected = 0
    for _ in range(30):
        solution = solve(random_group(rng, members=4, partitions=10), KIP_54, method="flow")
        group, owner = solution.group, solution.assignment.owner
        for key in ("level", "price"):
            for member in range(len(group.members)):
                column = getattr(solution.proof, key).copy()
                column[member] += rng.choice((-2, -1, 1, 2))
                proof = {k: getattr(solution.proof, k) for k in ("level", "price")} | {key: column}
                if is_accepted(group, claimed(group, owner, KIP_54, **proof)):
                    continue
                with pytest.raises(ProofError, match=r"^(level(\.c\d)?|price|t\d-\d+|c\d): .+$"):
                    check(group, changed(solution, **proof))
                rejected += 1
    assert rejected > 100


@pytest.mark.parametrize("method", ["flow", "auto"])
def test_every_flow_certificate_passes_the_conditions_of_the_format(method):
    rng = random.Random(f"format {method}")
    for _ in range(60):
        group = random_group(rng, members=5, partitions=14)
        for objective in (KIP_54, ("balance", "moved_weight")):
            solution = solve(group, objective, method=method)
            reward = dict(enumerate(weights_of(group)))
            assert format_accepts(
                group,
                solution.assignment,
                solution.proof.level.tolist(),
                solution.proof.price.tolist(),
                reward if objective[1] == "moved_weight" else None,
            ), group.to_dict()


def test_both_checkers_agree_on_the_certificates_of_every_order_and_on_their_neighbours():
    rng = random.Random("neighbours")
    for order in ORDERS:
        group = random_group(rng, members=4, partitions=9)
        solution = solve(group, order, method="flow")
        assert solution.proof.kind is ProofKind.CERTIFICATE
        proof, owner = solution.proof, solution.assignment.owner
        columns = {"level": proof.level.tolist(), "price": proof.price.tolist()}
        assert accepts(group, solution.assignment, order, **columns, scale=proof.scale), order
        for _ in range(12):
            near = {key: list(column) for key, column in columns.items()}
            if group.members:
                near[rng.choice(("level", "price"))][rng.randrange(len(group.members))] += (
                    rng.choice((-2, -1, 1, 2))
                )
            scale = tuple(unit + rng.choice((0, 0, -1, 1)) for unit in proof.scale)
            expected = all(unit > 0 for unit in scale) and accepts(
                group, solution.assignment, order, **near, scale=scale
            )
            found = is_accepted(group, claimed(group, owner, order, **near, scale=scale))
            assert found is expected, (group.to_dict(), order, near, scale)


def valid_owner(rng: random.Random, group: Group) -> np.ndarray:
    """Any valid assignment of a group."""
    owner = np.full(group.n_partitions, -1, np.int32)
    for partition, readers in readers_of(group).items():
        mine = int(group.owner[partition])
        owner[partition] = mine if mine >= 0 and rng.random() < 0.5 else rng.choice(readers)
    return owner


def likely_scale(rng: random.Random, group: Group, after: tuple[str, ...]) -> tuple[int, ...]:
    scale: list[int] = []
    rest = 0
    for tier in reversed(after):
        scale.append(rest + rng.choice((1, 1, 1, 2)))
        total = group.n_partitions
        if tier == "moved_weight":
            total = sum(weights_of(group))
        rest += scale[-1] * total
    return tuple(reversed(scale))


def test_no_level_price_or_scale_proves_an_assignment_that_brute_force_beats():
    rng = random.Random("adversary")
    tried = {"wrong": 0, "accepted": 0}
    for _ in range(200):
        group = random_group(rng, members=3, partitions=rng.randint(2, 6))
        order = rng.choice(ORDERS)
        optimum = brute(group, order).bounds
        genuine = solve(group, order, method="flow")
        for _ in range(30):
            owner = valid_owner(rng, group)
            if rng.random() < 0.3:
                owner = genuine.assignment.owner.copy()
            loads = Assignment(group, owner).loads.tolist()
            level = [load - rng.choice((0, 0, 1, 1, 2)) for load in loads]
            price = [rng.randint(-3, 3) for _ in loads]
            if rng.random() < 0.5:
                level = genuine.proof.level.tolist()
            if rng.random() < 0.3:
                price = genuine.proof.price.tolist()
            scale = likely_scale(rng, group, priced(order))
            found = is_accepted(group, claimed(group, owner, order, level, price, scale))
            expected = accepts(group, Assignment(group, owner), order, level, price, scale)
            assert found is expected, (group.to_dict(), order, level, price, scale)
            best = values(Assignment(group, owner), order) == optimum
            assert best or not found, (group.to_dict(), order, level, price, scale)
            tried["wrong"] += not best
            tried["accepted"] += found
    assert tried["wrong"] > 1500
    assert tried["accepted"] > 100


def test_no_certificate_is_accepted_for_tiers_without_balance_unless_each_partition_costs_least():
    rng = random.Random("no balance")
    orders = list(permutations(("stickiness", "moved_weight", "racks")))
    for _ in range(120):
        group = random_group(rng, members=3, partitions=5)
        order = rng.choice(orders)[: rng.randint(1, 3)]
        owner = valid_owner(rng, group)
        best = values(Assignment(group, owner), order) == brute(group, order).bounds
        assert is_accepted(group, claimed(group, owner, order)) is best, (group.to_dict(), order)


def test_an_assignment_with_one_partition_moved_is_rejected_wherever_it_costs_more():
    rng = random.Random("moved")
    moved = 0
    for _ in range(40):
        group = random_group(rng, members=4, partitions=8)
        solution = solve(group, KIP_54, method="flow")
        optimum = tuple(t.value for t in solution.terms)
        for partition, readers in readers_of(group).items():
            for member in readers:
                owner = solution.assignment.owner.copy()
                owner[partition] = member
                other = with_owner(solution, owner)
                if tuple(t.value for t in other.terms) == optimum:
                    assert check(group, other) == ()
                    continue
                with pytest.raises(ProofError, match=r"^(t\d-\d+|c\d|level|price): "):
                    check(group, other)
                with pytest.raises(InvalidAssignment, match=r"^terms\.\w+: \d+, but the value is"):
                    check(group, replace(solution, assignment=other.assignment))
                moved += 1
    assert moved > 300


def test_the_sums_above_every_level_close_wherever_readers_and_loads_fit_the_levels():
    rng = random.Random("the second condition")
    fitting = 0
    for _ in range(400):
        group = random_group(rng, members=3, partitions=4)
        readers, owner = readers_of(group), valid_owner(rng, group)
        loads = Assignment(group, owner).loads.tolist()
        level = [load - rng.choice((0, 1)) for load in loads]
        least = {p: min(level[m] for m in readers[p]) for p in readers}
        if all(level[owner[p]] == least[p] for p in readers):
            fitting += 1
            for k in range(max(loads, default=0) + 1):
                inside = sum(level >= k for level in least.values())
                outside = k * sum(one >= k for one in level)
                assert sum(max(0, load - k) for load in loads) == inside - outside
    assert fitting > 40


def test_the_example_that_the_page_works_by_hand_is_accepted():
    members = {
        "c0": {"subscription": ["a"]},
        "c1": {"subscription": ["a", "b"], "owned": {"a": [0], "b": [0, 1, 2]}},
        "c2": {"subscription": ["b"]},
    }
    group = Group.from_dict(
        {"format": "assay-group/1", "group": "g", "topics": {"a": 1, "b": 4}, "members": members}
    )
    solution = claimed(group, [0, 1, 1, 2, 2], KIP_54, level=[0, 1, 1], price=[0, 1, 0])
    assert [term.value for term in solution.terms] == [2, 2]
    assert is_accepted(group, solution)
    for price in ([-1, 1, 0], [0, 0, 0], [0, 2, 0], [0, 1, 1]):
        assert not is_accepted(group, changed(solution, price=np.array(price)))
