"""The optimum by flows: against all assignments of small groups, one convex flow of large ones."""

import random
from itertools import permutations

import pytest

from groups import BadInput, Group, values
from optimal import ProofKind, Status, check, solve
from optimal.audit import confirm
from optimal.brute import brute
from tests.optimal.flow.one_convex_flow import FLOW_TIERS, larger_group, monolithic
from tests.optimal.random_groups import random_group, with_a_row_each
from tests.optimal.small_groups import found

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
