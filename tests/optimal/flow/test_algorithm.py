"""The optimum by flows: of all small groups, of one convex flow, and of groups of known shapes."""

import random
from collections import Counter
from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
from ortools.graph.python import min_cost_flow

from compare.samples.families import Family, Subscriptions
from groups import Assignment, BadInput, Group, values
from groups.columns.racks import Racks
from optimal import ProofKind, Status, Stopped, check, solve
from optimal.audit import confirm
from optimal.brute import brute
from optimal.flow.algorithm import flow
from optimal.flow.flows import Stages
from optimal.flow.pools import pools_of
from tests.optimal.judging import KIP_54
from tests.optimal.random_groups import any_owner, random_group, with_a_row_each
from tests.optimal.small_groups import chain, found, group_of

FLOW_TIERS = ("balance", "topic_balance", "stickiness", "moved_weight", "racks")


def monolithic(group: Group, order: tuple[str, ...]) -> Assignment:
    """Return an optimum, from one min-cost flow of unit arcs with a node for each partition.

    A unit flows from its partition to a node for (topic, member), then to the member and to the
    sink; the k-th unit of a convex arc costs 2k - 1. One weighted sum stands for the order of the
    tiers.
    """
    weight = np.zeros(group.n_partitions, np.int64) if group.weight is None else group.weight
    read = np.flatnonzero(group.readers[group.topic] > 0)
    greatest = {tier: len(read) for tier in FLOW_TIERS} | {
        "balance": len(read) ** 2,
        "topic_balance": int((group.partitions**2).sum()),
        "moved_weight": int(weight[group.owner >= 0].sum()),
    }
    unit, rest = dict.fromkeys(FLOW_TIERS, 0), 0
    for tier in reversed(order):
        unit[tier] = rest + 1
        rest += unit[tier] * greatest[tier]
    solver = min_cost_flow.SimpleMinCostFlow()
    topics, members = len(group.topics), len(group.members)
    part = group.n_partitions + topics * members
    sink = part + members
    choices = []
    for p in read.tolist():
        solver.set_node_supply(p, 1)
        topic, owner = int(group.topic[p]), int(group.owner[p])
        for m in np.flatnonzero(group.subscribes(np.arange(members), np.full(members, topic))):
            moved = int(owner not in (-1, int(m)))
            misses = 0
            if unit["racks"]:
                misses = int(group.racks.misses(np.array([m]), np.array([p]))[0])
            cost = moved * (unit["stickiness"] + unit["moved_weight"] * int(weight[p]))
            cost += misses * unit["racks"]
            head = group.n_partitions + topic * members + int(m)
            arc = solver.add_arc_with_capacity_and_unit_cost(p, head, 1, cost)
            choices.append((p, int(m), arc))
    reader, listed = group.subscription_pairs
    for t, m in zip(listed, reader, strict=True):
        tail = group.n_partitions + int(t) * members + int(m)
        for k in range(1, int(group.partitions[t]) + 1):
            cost = unit["topic_balance"] * (2 * k - 1)
            solver.add_arc_with_capacity_and_unit_cost(tail, part + int(m), 1, cost)
    most = np.zeros(members, np.int64)
    np.add.at(most, reader, group.partitions[listed])
    for m in range(members):
        for k in range(1, int(most[m]) + 1):
            cost = unit["balance"] * (2 * k - 1)
            solver.add_arc_with_capacity_and_unit_cost(part + m, sink, 1, cost)
    solver.set_node_supply(sink, -len(read))
    assert solver.solve() == solver.OPTIMAL
    owner = np.full(group.n_partitions, -1, np.int32)
    for p, m, arc in choices:
        if solver.flow(arc):
            owner[p] = m
    return Assignment(group, owner)


def larger_group(rng: random.Random, kind: Subscriptions) -> Group:
    """Return a group of 50 members and 500 partitions of 25 topics, with random or no owners."""
    group = Family(50, 10, 25, kind, skewed=rng.random() < 0.5).group(rng.randrange(1000))
    owner = any_owner(rng, group)
    owner[[p for p in range(len(owner)) if rng.random() < 0.1]] = -1
    near = [rng.choice("abc") for _ in group.members]
    racks = Racks.of(near, [sorted(rng.sample("abc", 2)) for _ in owner])
    weight = np.array([rng.randint(0, 4) for _ in owner])
    return replace(group, owner=owner, racks=racks, weight=weight)


ORDERS = [order for size in range(1, 6) for order in permutations(FLOW_TIERS, size)]


def test_every_order_of_flow_tiers_has_the_optimum_of_all_assignments():
    rng = random.Random("orders")
    for order in ORDERS:
        members, partitions = rng.choice(((3, 7), (5, 4)))
        group = random_group(rng, members=members, partitions=partitions)
        solution = solve(group, order, method="flow")
        assert found(solution) == brute(group, order).bounds, (order, group.to_dict())
        assert solution.status is Status.OPTIMAL
        short = "topic_balance" not in order or order == ("topic_balance",)
        assert solution.proof.kind is (ProofKind.CERTIFICATE if short else ProofKind.SOLVER)


@pytest.mark.parametrize("kind", ["random", "nested", "buckets"])
def test_groups_of_500_partitions_cost_what_one_convex_flow_costs(kind):
    rng = random.Random(kind)
    triples = rng.sample([order for order in ORDERS if len(order) == 3], 4)
    for order in (("balance", "stickiness"), ("topic_balance", "balance"), *triples):
        group = larger_group(rng, kind)
        solution = solve(group, order)
        assert found(solution) == values(monolithic(group, order), order), order


def test_rows_that_happen_to_be_equal_change_no_answer():
    rng, repeated = random.Random("equal rows"), 0
    for order in rng.sample(ORDERS, 60):
        group = random_group(rng, members=8, partitions=20)
        apart = with_a_row_each(group)
        repeated += len(apart.subscription_indptr) > len(group.subscription_indptr)
        one, other = solve(group, order), solve(apart, order)
        assert confirm(apart, one) == confirm(group, one) == check(apart, one)
        assert one.assignment.owner.tolist() == other.assignment.owner.tolist(), group.to_dict()
        assert (one.terms, one.method) == (other.terms, other.method)
        assert one.proof.to_dict(group) == other.proof.to_dict(apart)
    assert repeated > 20
    for method in ("exchange", "cp-sat", "ilp", "brute"):
        group = random_group(rng, members=4, partitions=6)
        one, other = (
            solve(some, "balance > peak_lag", method=method)
            for some in (group, with_a_row_each(group))
        )
        assert one.terms == other.terms


@pytest.mark.parametrize("exponent", [20, 30, 40, 50, 54, 57, 58, 59, 60])
@pytest.mark.parametrize(
    "order",
    [
        "balance > moved_weight",
        "balance > stickiness > moved_weight",
        "balance > racks > moved_weight > stickiness",
        "topic_balance > moved_weight",
    ],
)
def test_weights_of_any_size_are_solved_and_proved_or_refused_for_their_size(exponent, order):
    rng = random.Random(f"{exponent} {order}")
    for _ in range(4):
        document = random_group(rng, members=3, partitions=7).to_dict()
        for topic in document["topics"].values():
            if isinstance(topic, dict):
                topic["weight"] = [rng.randint(0, 2**exponent) for _ in topic["weight"]]
        if not document["members"] or not document["topics"]:
            continue
        group = Group.from_dict(document)
        try:
            solution = solve(group, order, method="flow")
        except BadInput as error:
            assert exponent > 55, error  # noqa: PT017 - both ends are good
            assert "64 bits" in str(error)  # noqa: PT017
            continue
        assert solution.status is Status.OPTIMAL
        assert exponent > 40 or not order.startswith("balance") or check(group, solution) == ()
        assert found(solution) == found(solve(group, order, method="brute"))


EVENTS = ("fresh", "join-one", "leave-many", "partitions-added", "stable")


def test_a_chain_whose_last_member_is_new_moves_20_more_at_every_link():
    owned = {f"c{i:04}": {f"t{i:04}": list(range(420))} for i in range(20)}
    solution = solve(chain(21, 420, owned))
    assert set(solution.assignment.loads.tolist()) == {400}
    assert found(solution) == (0, 20 * sum(range(1, 21)))
    links = solution.assignment.moves_by_pair()
    assert links == {(f"c{i:04}", f"c{i + 1:04}"): 20 * (i + 1) for i in range(20)}


@pytest.mark.parametrize("owned_by", ["chance", "the upper ends"])
def test_a_chain_too_long_for_cost_scaling_costs_what_one_convex_flow_costs(owned_by):
    rng, members = random.Random(f"long {owned_by}"), 240
    owned = {f"c{m:04}": {} for m in range(members)}
    for t in range(members - 1):
        for number in range(4):
            up = owned_by == "the upper ends" or rng.random() < 0.5
            if owned_by != "chance" or rng.random() < 0.8:
                owned[f"c{t + up:04}"].setdefault(f"t{t:04}", []).append(number)
    group = chain(members, 4, owned)
    solution = solve(group)
    assert found(solution) == values(monolithic(group, KIP_54), KIP_54)
    assert solution.proof.kind is ProofKind.CERTIFICATE
    assert found(solution)[1] > 0


@pytest.mark.parametrize("method", ["flow", "auto"])
def test_buckets_are_levelled_each_by_itself_and_a_newcomer_takes_only_its_share(method):
    topics = {f"t{b}": 40 + b for b in range(5)}
    reads = {f"c{b}{m}": [f"t{b}"] for b in range(5) for m in range(4)}
    fresh = solve(group_of(topics, reads), method=method)
    assert fresh.assignment.loads.reshape(5, 4).sum(axis=1).tolist() == [40, 41, 42, 43, 44]
    assert fresh.method == ("closed-form" if method == "auto" else "flow")
    owned = fresh.assignment.to_dict()
    joined = solve(group_of(topics, reads | {"c04": ["t0"]}, owned), method=method)
    assert found(joined)[1] == 8
    assert joined.assignment.moves_by_pair() == {(f"c0{m}", "c04"): 2 for m in range(4)}


def test_the_example_of_kip_881_puts_partitions_near_and_then_moves_none():
    topics = {"t": {"partitions": 4, "racks": [["a"], ["b"], ["a", "b"], ["c"]]}}
    reads = {"c0": ["t"], "c1": ["t"]}
    solution = solve(group_of(topics, reads, {"c0": {"t": [1, 2]}}, racks="ab"), "kip-881")
    assert found(solution) == (0, 1, 1)
    assert solution.assignment.to_dict() == {"c0": {"t": [0, 2]}, "c1": {"t": [1, 3]}}


def test_the_closed_form_costs_what_the_flow_costs_with_the_same_loads():
    rng, met = random.Random("small"), Counter()
    groups = [
        random_group(rng, members=rng.randint(1, 10), partitions=rng.randint(0, 60))
        for _ in range(150)
    ]
    for kind, event, skewed in product(("equal", "buckets"), EVENTS, (False, True)):
        groups += [Family(10, 6, 6, kind, event, skewed=skewed).group(seed) for seed in range(2)]
    for group in groups:
        order = rng.choice((KIP_54, ("balance",)))
        closed, flowing = (solve(group, order, method=method) for method in ("auto", "flow"))
        assert (found(closed), flowing.method) == (found(flowing), "flow"), group.to_dict()
        assert closed.assignment.loads.tolist() == flowing.assignment.loads.tolist()
        assert check(group, closed) == check(group, flowing) == ()
        met[closed.method] += 1
    assert min(met["closed-form"], met["flow"]) > 40


def test_a_small_group_stops_when_the_time_is_up():
    answer = flow(chain(9, 20), KIP_54, time_limit=-1.0)
    assert (answer.owner, answer.stopped) == (None, Stopped.TIME_LIMIT)


def numbered(keys) -> list[int]:
    """Return a number for each key; equal keys have one number, in order of first appearance."""
    seen: dict[object, int] = {}
    return [seen.setdefault(key, len(seen)) for key in keys]


@pytest.mark.parametrize(
    "objective", [("balance", "stickiness"), ("racks", "balance", "moved_weight")]
)
def test_members_and_topics_are_put_together_where_nothing_tells_them_apart(objective):
    rng, several = random.Random("alike"), 0
    stages = Stages.of(objective)
    for _ in range(200):
        group = random_group(rng, members=rng.randint(1, 8), partitions=rng.randint(1, 20))
        some = pools_of(group, stages)
        kept = [int((some.kept & (group.owner == m)).sum()) for m in range(len(group.members))]
        racks = group.racks.member.tolist() if "racks" in objective else kept
        there = {*np.flatnonzero(group.partitions).tolist()}
        reads = [there & {*group.subscription(m).tolist()} for m in range(len(group.members))]
        keys = [*zip(map(frozenset, reads), kept, racks, strict=True)]
        assert some.member_class.tolist() == numbered(keys)
        assert some.class_size.tolist() == [*Counter(keys).values()]
        if "racks" not in objective:
            readers = [
                frozenset(m for m, r in enumerate(reads) if t in r)
                for t in range(len(group.topics))
            ]
            used = [t for t, r in enumerate(readers) if r]
            of_topic = dict(zip(used, numbered(readers[t] for t in used), strict=True))
            assert some.pool.tolist() == [of_topic.get(t, -1) for t in group.topic.tolist()]
        several += 1 < len(some.class_size) < len(group.members)
    assert several > 50
