"""The optimum by flows: against all assignments of small groups, one convex flow of large ones."""

import random
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from groups import BadInput, Group, values
from optimal import ProofKind, Status, check, solve
from optimal.brute import brute
from tests.optimal.flow.one_convex_flow import FLOW_TIERS, larger_group, monolithic
from tests.optimal.random_groups import random_group
from tests.optimal.small_groups import found

ORDERS = [order for size in range(1, 6) for order in permutations(FLOW_TIERS, size)]


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


@pytest.mark.parametrize("kind", ["random", "skewed", "banded"])
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
        each = [group.subscription(m) for m in range(len(group.members))]
        apart = replace(
            group,
            subscription_indptr=np.cumsum([0, *map(len, each)]),
            subscription_topics=np.concatenate([np.empty(0, np.int32), *each]),
            subscription_row=np.arange(len(each), dtype=np.int32),
        )
        repeated += len(each) > len(group.subscription_indptr) - 1
        one, other = solve(group, order), solve(apart, order)
        assert one.assignment.owner.tolist() == other.assignment.owner.tolist(), group.to_dict()
        assert (one.terms, one.method) == (other.terms, other.method)
        assert one.proof.to_dict(group) == other.proof.to_dict(apart)
    assert repeated > 20


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
