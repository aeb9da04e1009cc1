"""What keeps state: even by itself, where copies of it lie, and what proves it."""

import random

import numpy as np
import pytest

from groups import BadInput, Group, ProofError
from optimal import Status, check, solve
from tests.optimal.judging import changed, is_accepted, verdict_of
from tests.optimal.random_groups import random_streams
from tests.optimal.small_groups import found, group_of, streams

# The example of docs/explanation/proof.md.
OF_THE_PAGE = streams(
    {"0": (2, True), "1": (2, False)},
    {"c0": ("A", {"0": [0, 1], "1": [0, 1]}, {}), "c1": ("B", {}, {"0": [1]})},
)


def test_members_and_what_keeps_state_are_within_one_and_hosts_as_even_as_that_allows():
    rng = random.Random("within one")
    for _ in range(40):
        document = random_streams(rng, members=7, tasks=30)
        group = Group.from_dict(document)
        solution = solve(group, "kip-1071")
        assert solution.proof.kind == "certificate"
        assert is_accepted(group, solution)
        owner = solution.assignment.owner
        for kept in (owner, owner[group.copies.replicas >= 0]):
            loads = np.bincount(kept, minlength=len(group.members))
            assert loads.max() - loads.min() <= 1


def test_the_example_of_the_page_has_the_asks_of_the_page():
    solution = solve(OF_THE_PAGE, "balance > stateful_balance > restores > stickiness")
    assert found(solution) == (0, 2, 0, 2)
    assert solution.assignment.to_dict()["c1"]["0"] == [1]
    asks = {
        "member": np.array([[3, 0, 0, 1], [3, 0, 0, 0]]),
        "state": np.array([[3, 1, 0, 1], [3, 1, 0, 0]]),
    }
    assert is_accepted(OF_THE_PAGE, changed(solution, prices=asks))


def test_asks_of_state_that_differ_in_balance_prove_nothing():
    solution = solve(OF_THE_PAGE, "balance > stateful_balance")
    for step in (-1, 1):
        asks = {kind: table.copy() for kind, table in solution.proof.prices.items()}
        asks["state"][:, 0] += step
        said = verdict_of(check, OF_THE_PAGE, changed(solution, prices=asks))
        assert isinstance(said, ProofError)
        assert not is_accepted(OF_THE_PAGE, changed(solution, prices=asks))
    said = verdict_of(check, OF_THE_PAGE, changed(solution, prices={"member": asks["member"]}))
    assert str(said) == "prices: expected those of each state and member"


def test_what_flows_do_not_serve_together_is_solved_by_others_and_says_so():
    for objective in ("stateful_balance > balance", "topic_balance > stateful_balance"):
        solution = solve(OF_THE_PAGE, objective)
        assert (solution.status, solution.proof.kind) == ("optimal", "exhaustion")
        with pytest.raises(BadInput, match=f"flow does not serve {objective} together"):
            solve(OF_THE_PAGE, objective, method="flow")


def test_what_is_not_known_of_state_is_refused():
    unknown = streams({"0": (1, None)}, {"a": ("A", {}, {})})
    for group in (unknown, group_of({"t": 1}, {"c0": ["t"]})):
        for tier in ("restores", "stateful_balance"):
            with pytest.raises(BadInput, match=f"^which partitions keep .* but tier {tier} needs"):
                solve(group, tier)
    assert solve(unknown, "balance > host_balance > stickiness").status is Status.OPTIMAL


def test_a_group_of_some_members_keeps_the_copies_of_the_others():
    only = OF_THE_PAGE.only([1])
    assert only.copies.member.tolist() == [1]
    assert found(solve(only, "restores")) == (1,)
