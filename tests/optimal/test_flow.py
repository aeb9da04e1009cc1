"""Flow: against every assignment of small groups, one convex flow of larger ones, known loads."""

import random
from itertools import permutations

import numpy as np
import pytest
from ortools.graph.python import min_cost_flow

from groups import Assignment, BadInput, Group, values
from optimal import ProofKind, Status, Stopped, check, solve
from optimal.brute import brute
from tests.optimal.random_groups import random_group

FLOW_TIERS = ("balance", "topic_balance", "stickiness", "moved_weight", "racks")
KIP_54 = ("balance", "stickiness")
ORDERS = [order for size in range(1, 6) for order in permutations(FLOW_TIERS, size)]


def group_of(topics, subscriptions, owned=None, name="g") -> Group:
    members = {m: {"subscription": list(topics)} for m, topics in subscriptions.items()}
    for member, held in (owned or {}).items():
        members[member]["owned"] = held
    return Group.from_dict(
        {"format": "assay-group/1", "group": name, "topics": topics, "members": members}
    )


def found(solution) -> tuple[int, ...]:
    return tuple(term.value for term in solution.terms)


@pytest.mark.parametrize("first", FLOW_TIERS)
def test_every_order_of_flow_tiers_has_the_optimum_of_all_assignments(first):
    rng = random.Random(f"orders {first}")
    for order in ORDERS:
        if order[0] != first:
            continue
        for members, partitions in ((3, 7), (5, 4)):
            group = random_group(rng, members=members, partitions=partitions)
            solution = solve(group, order, method="flow")
            assert found(solution) == brute(group, order).bounds, (order, group.to_dict())
            assert solution.status is Status.OPTIMAL
            short = "topic_balance" not in order or order == ("topic_balance",)
            assert solution.proof.kind is (ProofKind.CERTIFICATE if short else ProofKind.SOLVER)


@pytest.mark.parametrize("preset", ["kip-54", "kip-54-fairest", "kip-881"])
def test_every_preset_of_flow_tiers_has_the_optimum_of_all_assignments(preset):
    rng = random.Random(preset)
    for _ in range(60):
        group = random_group(rng, members=4, partitions=8)
        solution = solve(group, preset)
        truth = solve(group, preset, method="brute")
        assert found(solution) == found(truth), group.to_dict()
        assert check(group, solution) == ()


def test_the_closed_form_costs_what_the_flow_costs():
    rng = random.Random("closed form")
    ran = {"closed-form": 0, "flow": 0}
    for _ in range(120):
        group = random_group(rng, members=rng.randint(1, 9), partitions=rng.randint(0, 40))
        for order in (("balance", "stickiness"), ("balance",)):
            closed, flowing = (solve(group, order, method=m) for m in ("auto", "flow"))
            assert found(closed) == found(flowing), group.to_dict()
            assert flowing.method == "flow"
            assert check(group, closed) == check(group, flowing) == ()
            ran[closed.method] += 1
    assert min(ran.values()) > 20


def monolithic(group: Group, order: tuple[str, ...]) -> Assignment:
    """The optimum by one min-cost flow of unit arcs, one node a partition.

    A partition goes to a member's part of the topic, on to the member, on to the sink; the k-th
    unit of a convex arc costs 2k - 1. One weighted sum stands for the order of the tiers.
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
            far = 0
            if unit["racks"]:
                far = int(group.racks.misses(np.array([m]), np.array([p]))[0])
            cost = moved * (unit["stickiness"] + unit["moved_weight"] * int(weight[p]))
            cost += far * unit["racks"]
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


def larger_group(rng: random.Random, kind: str) -> Group:
    """50 members and 500 partitions: random, skewed or banded subscriptions, some newcomers."""
    names, racks = [f"t{t:02}" for t in range(25)], ("a", "b", "c")
    topics = {
        t: {
            "partitions": 20,
            "weight": [rng.randint(0, 4) for _ in range(20)],
            "racks": [sorted(rng.sample(racks, 2)) for _ in range(20)],
        }
        for t in names
    }
    members = {}
    for m in range(50):
        if kind == "banded":
            mine = names[m // 2 : m // 2 + 3]
        elif kind == "skewed":
            mine = [t for i, t in enumerate(names) if rng.random() < 1 / (1 + i / 3)]
        else:
            mine = rng.sample(names, rng.randint(0, 6))
        members[f"c{m:02}"] = {"subscription": mine, "rack": rng.choice(racks), "owned": {}}
    holders = rng.sample(list(members), 40)
    for topic in names:
        readers = [m for m in holders if topic in members[m]["subscription"]]
        for number in range(20 if readers else 0):
            if rng.random() < 0.9:
                owner = min(rng.sample(readers, min(2, len(readers))))
                members[owner]["owned"].setdefault(topic, []).append(number)
    return Group.from_dict(
        {"format": "assay-group/1", "group": kind, "topics": topics, "members": members}
    )


@pytest.mark.parametrize("kind", ["random", "skewed", "banded"])
def test_groups_of_500_partitions_cost_what_one_convex_flow_costs(kind):
    rng = random.Random(kind)
    triples = rng.sample([order for order in ORDERS if len(order) == 3], 4)
    for order in (("balance", "stickiness"), ("topic_balance", "balance"), *triples):
        group = larger_group(rng, kind)
        solution = solve(group, order)
        assert found(solution) == values(monolithic(group, order), order), order


def chain(members: int, partitions: int, owned=None) -> Group:
    """Topic i is read by the members i and i + 1."""
    topics = {f"t{i:04}": partitions for i in range(members - 1)}
    names = list(topics)
    reads = {f"c{m:04}": names[max(m - 1, 0) : m + 1] for m in range(members)}
    return group_of(topics, reads, owned)


@pytest.mark.parametrize("method", ["flow", "auto"])
def test_a_chain_of_21_members_carries_400_each(method):
    solution = solve(chain(21, 420), method=method)
    assert set(solution.assignment.loads.tolist()) == {400}
    assert found(solution) == (0, 0)
    assert solution.proof.kind is ProofKind.CERTIFICATE


def test_a_chain_whose_last_member_is_new_moves_20_more_at_every_link():
    owned = {f"c{i:04}": {f"t{i:04}": list(range(420))} for i in range(20)}
    solution = solve(chain(21, 420, owned))
    assert set(solution.assignment.loads.tolist()) == {400}
    assert found(solution) == (0, 20 * sum(range(1, 21)))
    links = solution.assignment.moves_by_pair()
    assert links == {(f"c{i:04}", f"c{i + 1:04}"): 20 * (i + 1) for i in range(20)}


def test_a_long_chain_that_does_not_divide_has_loads_that_differ_by_one():
    solution = solve(chain(201, 99))
    assert sorted(set(solution.assignment.loads.tolist())) == [98, 99]
    assert solution.proof.level.tolist() == [98] * 201


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
def test_a_staircase_up_carries_one_more_at_every_step(method):
    topics = {f"t{i:02}": i + 1 for i in range(60)}
    reads = {f"c{i:02}": list(topics)[: i + 1] for i in range(60)}
    solution = solve(group_of(topics, reads), method=method)
    assert solution.assignment.loads.tolist() == list(range(1, 61))
    assert solution.status is Status.OPTIMAL


def test_a_staircase_down_is_level():
    topics = {f"t{i:02}": i + 1 for i in range(60)}
    reads = {f"c{i:02}": list(topics)[i:] for i in range(60)}
    loads = solve(group_of(topics, reads)).assignment.loads.tolist()
    assert (min(loads), max(loads)) == (30, 31)


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


def test_a_newcomer_that_reads_one_topic_only_takes_its_share_of_that():
    topics = {f"t{i}": 30 for i in range(10)}
    reads = {f"c{m:02}": list(topics) for m in range(19)} | {"c19": ["t3"]}
    before = solve(group_of(topics, {m: t for m, t in reads.items() if m != "c19"}))
    joined = group_of(topics, reads, before.assignment.to_dict())
    after = solve(joined)
    assert set(after.assignment.loads.tolist()) == {15}
    assert after.assignment.to_dict()["c19"].keys() == {"t3"}
    assert found(after) == values(monolithic(joined, KIP_54), KIP_54)
    crowded = solve(group_of({"t0": 1000, "t1": 3}, {"c0": ["t0"], "c1": ["t1"], "c2": ["t0"]}))
    assert crowded.assignment.loads.tolist() == [500, 3, 500]


def test_a_chain_of_moves_that_no_single_move_begins_is_found():
    topics, reads = {"t0": 3, "t1": 1, "t2": 1}, {"c0": ["t0"], "c1": ["t0", "t1"]}
    reads |= {"c2": ["t1", "t2"], "c3": ["t2"]}
    owned = {"c0": {"t0": [0, 1]}, "c1": {"t0": [2]}, "c2": {"t1": [0]}, "c3": {"t2": [0]}}
    solution = solve(group_of(topics, reads, owned))
    assert sorted(solution.assignment.loads.tolist()) == [1, 1, 1, 2]
    assert found(solution) == (3, 0)
    owned = {"c0": {"t0": [0]}, "c1": {"t0": [1, 2]}, "c2": {"t1": [0], "t2": [0]}}
    solution = solve(group_of(topics, reads, owned))
    assert found(solution) == (3, 1)


def test_weights_decide_which_partitions_stay():
    document = {
        "format": "assay-group/1",
        "group": "g",
        "topics": {"t": {"partitions": 4, "weight": [1, 100, 2, 50]}},
        "members": {
            "c0": {"subscription": ["t"], "owned": {"t": [0, 1, 2, 3]}},
            "c1": {"subscription": ["t"]},
        },
    }
    group = Group.from_dict(document)
    solution = solve(group, "balance > moved_weight")
    assert solution.assignment.to_dict() == {"c0": {"t": [1, 3]}, "c1": {"t": [0, 2]}}
    assert found(solution) == (0, 3)


def test_the_example_of_kip_881_puts_partitions_near_and_then_moves_none():
    document = {
        "format": "assay-group/1",
        "group": "g",
        "topics": {"t": {"partitions": 4, "racks": [["a"], ["b"], ["a", "b"], ["c"]]}},
        "members": {
            "c0": {"subscription": ["t"], "rack": "a", "owned": {"t": [1, 2]}},
            "c1": {"subscription": ["t"], "rack": "b"},
        },
    }
    solution = solve(Group.from_dict(document), "kip-881")
    assert found(solution) == (0, 1, 1)
    assert solution.assignment.to_dict() == {"c0": {"t": [0, 2]}, "c1": {"t": [1, 3]}}


def test_the_same_group_gets_the_same_answer_again():
    rng = random.Random("again")
    for order in rng.sample(ORDERS, 20):
        group = random_group(rng, members=6, partitions=20)
        first, second = (solve(group, order) for _ in range(2))
        assert first.assignment.owner.tolist() == second.assignment.owner.tolist()
        assert first.proof.to_dict(group) == second.proof.to_dict(group)


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


def test_weights_near_64_bits_are_solved_or_refused_before_any_solver_starts():
    def heavy(weight: int) -> Group:
        return Group.from_dict(
            {
                "format": "assay-group/1",
                "group": "g",
                "topics": {"t": {"partitions": 3, "weight": [weight] * 3}},
                "members": {
                    "c0": {"subscription": ["t"], "owned": {"t": [0, 1, 2]}},
                    "c1": {"subscription": ["t"]},
                },
            }
        )

    solution = solve(heavy(2**40), "balance > moved_weight")
    assert found(solution) == (1, 2**40)
    with pytest.raises(BadInput, match="the total weight leaves 64 bits"):
        solve(heavy(2**62), "balance > moved_weight")


def test_a_tier_that_is_no_flow_is_refused_by_the_flow():
    with pytest.raises(BadInput, match="method: flow does not serve tier peak_lag; use cp-sat"):
        solve(chain(3, 2).with_unknown_lag(1), "balance > peak_lag", method="flow")
    with pytest.raises(BadInput, match="method: 'simplex', expected one of auto, flow, cp-sat"):
        solve(chain(3, 2), method="simplex")


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        ("balance > racks", r"topics\.t0000\.racks: unknown, but tier racks needs it"),
        ("balance > peak_lag", r"topics\.t0000\.lag\[0\]: unknown, but tier peak_lag needs it"),
        ("balance > peak_weight", r"topics\.t0000\.weight\[0\]: unknown, .* \(and 3 more\)"),
        ("balance > balance", "objective: tier 'balance' appears twice"),
        ("balance > fun", "objective: unknown tier 'fun', expected one of kip-54, "),
        ("", "objective: unknown tier ''"),
        ((), "objective: no tier named"),
    ],
)
def test_an_objective_that_the_group_cannot_answer_is_refused_with_its_place(objective, message):
    with pytest.raises(BadInput, match=message):
        solve(chain(3, 2), objective)


def test_unknown_subscriptions_are_refused_unless_they_are_assumed_equal():
    document = chain(3, 2).to_dict()
    document["members"]["c0001"]["subscription"] = None
    group = Group.from_dict(document)
    with pytest.raises(BadInput, match=r"members\.c0001\.subscription: unknown; pass --assume"):
        solve(group)
    solution = solve(group, assume_subscriptions="equal")
    assert solution.to_dict()["assumed"] == [
        "subscription of 1 member unknown, taken as all 2 topics of the group"
    ]


def test_out_of_time_the_answer_is_unknown_and_says_so():
    topics, reads = {"t0": 3, "t1": 5}, {"c0": ["t0"], "c1": ["t0", "t1"], "c2": ["t1"]}
    solution = solve(group_of(topics, reads), time_limit=0)
    assert (solution.status, solution.stopped) == (Status.UNKNOWN, Stopped.TIME_LIMIT)
    assert solution.assignment is None
    assert solution.terms == ()
    document = solution.to_dict()
    assert (document["assignment"], document["proof"]) == (None, {"kind": "none"})


@pytest.mark.parametrize(
    ("topics", "reads"),
    [
        ({}, {}),
        ({"t0": 3}, {}),
        ({}, {"c0": [], "c1": []}),
        ({"t0": 0}, {"c0": ["t0"], "c1": ["t0"]}),
        ({"t0": 4}, {"c0": [], "c1": []}),
        ({"t0": 4, "t1": 0}, {"c0": ["t1"]}),
    ],
)
@pytest.mark.parametrize(
    "order",
    [
        ("balance", "stickiness"),
        ("stickiness", "balance"),
        ("topic_balance", "balance"),
        ("stickiness",),
    ],
)
def test_a_group_with_nothing_to_assign_is_optimal_at_no_cost(topics, reads, order):
    group = group_of(topics, reads)
    solution = solve(group, order, method="flow")
    assert found(solution) == (0,) * len(order)
    assert solution.status is Status.OPTIMAL
    assert not (solution.assignment.owner >= 0).any()
    left = {t: list(range(n)) for t, n in topics.items() if n and t == "t0"}
    assert solution.assignment.unassigned == left


@pytest.mark.parametrize("objective", ["kip-881", "racks > balance", "topic_balance > racks"])
def test_racks_may_be_asked_about_where_nobody_reads_anything(objective):
    members = {"a": {"subscription": ["t", "gone"]}, "b": {"subscription": []}}
    document = {"format": "assay-group/1", "group": "g", "topics": {"t": 0}, "members": members}
    solution = solve(Group.from_dict(document | {"topics": {"t": 0, "unread": 2}}), objective)
    assert solution.status is Status.OPTIMAL
    assert all(term.value == 0 for term in solution.terms)
    assert solution.assignment.unassigned == {"unread": [0, 1]}
