"""Hosts and racks: how even they are by flows, and what proves it."""

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from groups import BadInput, Group
from groups.fleet import Fleet
from groups.table.rows import batch_of
from optimal import Status, check, solve, solve_fleet
from optimal.enumeration import count
from tests.optimal.judging import (
    changed,
    claimed,
    is_accepted,
    verdict_of,
)
from tests.optimal.small_groups import found, group_of

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


def test_members_that_read_alike_are_even_on_hosts_and_by_themselves_with_a_certificate():
    rng = random.Random("pods")
    for _ in range(25):
        sizes = [rng.randint(1, 4) for _ in range(rng.randint(1, 4))]
        partitions = rng.randint(0, 30)
        owned = {"c00": {"t": [n for n in range(partitions) if rng.random() < 0.7]}}
        group = pods(sizes, partitions, owned)
        for objective in ("host_balance > balance > stickiness", "balance > host_balance"):
            solution = solve(group, objective)
            assert (solution.status, solution.proof.kind) == ("optimal", "certificate")
            loads = solution.assignment.loads
            assert loads.max() - loads.min() <= 1
            assert is_accepted(group, solution)


def test_the_closed_form_finds_what_flows_and_exhaustion_find_with_a_certificate():
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
