from dataclasses import replace

import numpy as np
import pytest

from benchmarks.lag_groups import alike
from groups import Group, ProofError, values
from optimal import ProofKind, Solution, Status, check, solve
from tests.optimal.judging import changed, with_owner
from tests.optimal.small_groups import found, group_of


def owned(partitions: int, members: int, kind: str) -> Group:
    group = alike(partitions, members, kind, 1)
    owner = np.random.default_rng(7).integers(0, members, partitions)
    return replace(group, owner=owner.astype(np.int32))


@pytest.mark.parametrize("kind", ["lognormal", "zipf"])
def test_few_partitions_move_where_one_hot_partition_pins_the_peak(kind):
    group = owned(1000, 100, kind)
    solution = solve(group, "balance > peak_lag > stickiness", time_limit=3)
    assert solution.method == "exchange"
    assert [term.bound == term.value for term in solution.terms[:2]] == [True, True]
    moves = solution.terms[2]
    # Any assignment of the least peak moves 990 or so, where nothing looks after moves.
    assert moves.bound <= moves.value <= 1.15 * moves.bound
    assert solution.terms[0] == solve(group, "balance").terms[0]
    assert check(group, Solution.from_dict(group, solution.to_dict())) is not None


def test_the_fewest_moves_after_the_least_peak_have_a_certificate():
    """c0 owns all; nobody carries less than 9, and c1 has to get all but the hot partition."""
    topics = {"t0": {"partitions": 4, "lag": [9, 3, 3, 3]}}
    group = group_of(topics, {"c0": ["t0"], "c1": ["t0"]}, {"c0": {"t0": [0, 1, 2, 3]}})
    solution = solve(group, "peak_lag > stickiness", method="exchange")
    assert found(solution) == (9, 1)
    assert solution.assignment.owner.tolist() == [1, 0, 0, 0]
    assert (solution.proof.kind, solution.proof.givers) == (ProofKind.CERTIFICATE, (0,))
    assert check(group, solution) == ()
    with pytest.raises(ProofError, match="givers: they show 1 moves, not 3"):
        check(group, with_owner(solution, [0, 1, 1, 1]))
    with pytest.raises(ProofError, match="floor is missing"):
        check(group, changed(solution, floor=None))


@pytest.mark.parametrize("kind", ["uniform", "lognormal", "zipf"])
@pytest.mark.parametrize("objective", ["balance > lag_spread", "lag_balance", "lag_spread"])
def test_how_even_lag_is_needs_no_peak_before_it(objective, kind):
    group = owned(100, 10, kind)
    solution = solve(group, objective, time_limit=10)
    assert (solution.status, solution.method) == (Status.OPTIMAL, "exchange")
    assert solution.proof.kind is ProofKind.CERTIFICATE
    assert check(group, Solution.from_dict(group, solution.to_dict())) == ()
    if kind == "uniform":
        assert solution.terms[-1].value < 100


def test_loads_that_could_be_more_even_without_a_peak_are_refused():
    topics = {"t0": {"partitions": 4, "lag": [5, 4, 3, 2]}}
    group = group_of(topics, {"c0": ["t0"], "c1": ["t0"]})
    for tier, least in (("lag_balance", 0), ("lag_spread", 0)):
        solution = solve(group, f"balance > {tier}", method="exchange")
        assert found(solution) == (0, least)
        with pytest.raises(ProofError, match=f"{tier}: the loads show 0, not 4"):
            check(group, with_owner(solution, [0, 0, 1, 1]))


def test_evenness_within_a_budget_on_moves_keeps_to_it():
    group = owned(100, 10, "lognormal")
    last = None
    for moves in (5, 20, 60):
        at_most = {"stickiness": moves}
        solution = solve(group, "lag_balance", at_most=at_most, time_limit=1)
        assert values(solution.assignment, ("stickiness",))[0] <= moves
        (term,) = solution.terms
        assert term.bound <= term.value
        assert last is None or term.value <= last
        last = term.value


@pytest.mark.parametrize(
    "objective", ["topic_balance > balance > peak_lag", "balance > lag_balance > stickiness"]
)
def test_where_exchanges_do_not_serve_the_answer_is_no_worse_than_their_start(objective):
    group = owned(200, 20, "uniform")
    solution = solve(group, objective, time_limit=2)
    assert solution.method == "cp-sat"
    first, *_ = objective.split(" > ")
    assert solution.terms[0].value == solve(group, first).terms[0].value
    alone = solve(group, objective, method="cp-sat", time_limit=2)
    if alone.terms:
        ours, theirs = ([term.value for term in one.terms] for one in (solution, alone))
        assert ours <= theirs


@pytest.mark.parametrize("budget", ["load_spread", "idle_members"])
def test_givers_show_nothing_where_no_peak_is_asked(budget):
    """What a forged document said of moves within a spread ended in a KeyError."""
    topic = {"partitions": 4, "lag": [5, 1, 1, 1]}
    members = {m: {"subscription": ["t"]} for m in "abc"}
    members["a"]["owned"] = {"t": [0, 1, 2, 3]}
    group = Group.from_dict(
        {"format": "assay-group/1", "group": "g", "topics": {"t": topic}, "members": members}
    )
    document = solve(group, "stickiness", at_most={budget: 1 if budget == "load_spread" else 0})
    forged = document.to_dict() | {"proof": {"kind": "certificate", "givers": ["a"]}}
    with pytest.raises(ProofError, match="givers: they show moves under a peak"):
        check(group, Solution.from_dict(group, forged))
