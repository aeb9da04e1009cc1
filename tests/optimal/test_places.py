"""Hosts, racks and state: how even they are by flows, where copies lie, and what proves it."""

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from groups import BadInput, Group, ProofError
from groups.fleet import Fleet
from groups.table.rows import batch_of
from optimal import Status, check, solve, solve_fleet
from optimal.enumeration import count
from tests.optimal.judging import changed, claimed, is_accepted, verdict_of
from tests.optimal.random_groups import random_streams
from tests.optimal.small_groups import found, group_of, streams

# Two hosts that hold as much whichever way p and q go together. One way has the least sum of
# squares, the other the least differences of pairs.
TORN = group_of(
    {"p": 1, "q": 1, "a": 5, "b": 3, "c": 3, "f": 5},
    {"m1": "pa", "m2": "qb", "m3": "pc", "m4": "q", "m5": "", "m6": "f"},
    hosts=("A", "A", "B", "B", "A", "B"),
)


def pods(sizes, partitions, owned=None) -> Group:
    """Return a group of pods with these numbers of threads, all of which read one topic."""
    hosts = [f"pod{h}" for h, size in enumerate(sizes) for _ in range(size)]
    reads = {f"c{m:02}": ["t"] for m in range(len(hosts))}
    return group_of({"t": partitions}, reads, owned, hosts=hosts)


def test_members_that_read_alike_are_even_on_hosts_and_by_themselves_without_a_flow():
    """As flows and exhaustion find, with a certificate."""
    rng, met = random.Random("closed form"), Counter()
    for _ in range(60):
        members, partitions = rng.randint(1, 7), rng.randint(0, 14)
        names = [f"c{m}" for m in range(members)]
        owned = {name: {"t": []} for name in names}
        for number in range(partitions):
            if rng.random() < 0.8:
                owned[rng.choice(names[: 1 + members // 2])]["t"].append(number)
        group = group_of(
            {"t": partitions, "u": rng.randint(0, 3)},
            dict.fromkeys(names, ["t", "u"] if rng.random() < 0.7 else ["t"]),
            owned,
            racks=[rng.choice("xyz") for _ in names],
            hosts=[rng.choice("abcd") for _ in names],
        )
        tiers = [rng.choice(["host_balance", "rack_balance"])]
        tiers.insert(rng.randint(0, 1), rng.choice(["balance", "load_squares"]))
        objective = (*tiers, "stickiness")[: rng.choice((2, 3, 3))]
        solution = solve(group, objective)
        assert (solution.method, solution.proof.kind) == ("closed-form", "certificate")
        assert solution.assignment.loads.max() - solution.assignment.loads.min() <= 1
        assert is_accepted(group, solution)
        for method in ("flow", *(["brute"] if count(group) < 3000 else [])):
            other = solve(group, objective, method=method)
            met[other.method] += 1
            assert found(other) == found(solution), (objective, group.to_dict())
    assert met["flow"] == 60
    assert met["brute"] > 10


def test_after_hosts_the_least_sum_of_squares_need_not_have_the_least_differences_of_pairs():
    squares = solve(TORN, "host_balance > load_squares")
    assert sorted(squares.assignment.loads.tolist()) == [0, 1, 3, 3, 5, 6]
    assert squares.proof.kind == "certificate"
    pairs = solve(TORN, "host_balance > balance")
    assert sorted(pairs.assignment.loads.tolist()) == [0, 0, 4, 4, 5, 5]
    assert (found(pairs), pairs.status, pairs.proof.kind) == ((162, 40), "optimal", "exhaustion")
    by_flow = solve(TORN, "host_balance > balance", method="flow")
    assert (by_flow.status, found(by_flow)) == ("feasible", (162, 42))
    assert [term.bound for term in by_flow.terms] == [162, None]
    for method in ("cp-sat", "ilp"):
        assert found(solve(TORN, "host_balance > balance", method=method)) == (162, 40)


def test_asks_of_the_sum_of_squares_prove_nothing_of_the_differences_of_pairs():
    squares = solve(TORN, "host_balance > load_squares")
    owner = squares.assignment.owner
    claim = changed(claimed(TORN, owner, ("host_balance", "balance")), prices=squares.proof.prices)
    assert not is_accepted(TORN, claim)
    assert "prices.host.B: expected 0 in balance" in str(verdict_of(check, TORN, claim))


def test_asks_so_large_that_sums_leave_64_bits_prove_no_more_than_others():
    group = pods([2, 1], 5)
    genuine = solve(group, "host_balance > stickiness")
    owner = np.zeros(5, np.int32)
    for number in (2**62, 2**63 - 1, -(2**63)):
        prices = {kind: np.full_like(t, number) for kind, t in genuine.proof.prices.items()}
        assert not is_accepted(
            group, changed(claimed(group, owner, genuine.objective), prices=prices)
        )


def test_a_host_that_is_not_known_is_refused_where_it_is_asked_for():
    group = group_of({"t": 2}, {"c0": ["t"], "c1": ["t"]}, hosts=("h",))
    with pytest.raises(BadInput, match=r"members.c1.host: unknown, but tier host_balance needs"):
        solve(group, "host_balance")
    with pytest.raises(BadInput, match=r"members.c0.rack: unknown, but .* \(and 1 more\)"):
        solve(group, "balance > rack_balance")


def test_a_host_in_two_racks_is_refused_only_where_both_are_asked_for():
    reads = {"c0": ["t"], "c1": ["t"]}
    group = group_of({"t": 2}, reads, racks=("a", "b"), hosts=("h", "h"))
    for objective in ("host_balance", "rack_balance"):
        assert solve(group, objective).status is Status.OPTIMAL
    with pytest.raises(BadInput, match=r"members.c1.rack: 'b', but its host 'h' is in 'a', too"):
        solve(group, "host_balance > rack_balance")


def test_hosts_whose_sizes_have_no_common_multiple_of_64_bits_are_refused():
    group = pods([2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47], 40)
    with pytest.raises(BadInput, match="hosts have such different numbers of members that"):
        solve(group, "host_balance")


def test_a_fleet_has_for_each_group_what_it_has_by_itself():
    groups = [pods([2, 2], 7), TORN, replace(pods([3], 4), name="three")]
    objective = "balance > host_balance > stickiness"
    alone = [found(solve(group, objective)) for group in groups]
    for fleet in (Fleet.of(groups), Fleet.from_arrow(batch_of(groups))[0]):
        solved = solve_fleet(fleet, objective)
        assert list(map(found, solved)) == alone
        assert {one.proof.kind for one in solved} == {"certificate"}


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
