"""Groups of known shapes: chains, staircases, buckets, and what everybody carries in them."""

import random
from collections import Counter
from itertools import product

import pytest

from compare.samples.families import Family
from groups import values
from optimal import ProofKind, Stopped, check, solve
from optimal.flow.algorithm import flow
from tests.optimal.flow.one_convex_flow import monolithic
from tests.optimal.judging import KIP_54
from tests.optimal.random_groups import random_group
from tests.optimal.small_groups import chain, found, group_of

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
