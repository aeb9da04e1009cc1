import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from groups import Assignment, BadInput, Group, ProofError, values
from optimal import ProofKind, Solution, Status, check, solve
from optimal.loads.exchange import exchange_within
from optimal.loads.load_problem import LoadProblem
from optimal.time_left import TimeLeft
from tests.optimal.judging import changed, with_owner
from tests.optimal.random_groups import case_within
from tests.optimal.small_groups import found, lagging, one_topic


@pytest.fixture
def hot() -> Group:
    """A group in which c0 owns lags of 9, 8 and 1, and another lag of 1 has no owner."""
    return one_topic([9, 8, 1, 1], 2, owned=[0, 1, 2])


def meet_within(rng: random.Random) -> Solution | None:
    """Solve a group within budgets, and compare with ``brute``; None if nothing keeps to them."""
    group, objective, at_most = case_within(rng)
    what = (objective, at_most, group.to_dict())
    method = "exchange" if LoadProblem.of(objective, at_most) else "auto"

    def solved(method: str) -> Solution | None:
        try:
            return solve(group, objective, method=method, at_most=at_most)
        except BadInput as error:
            if "the least that is possible" in str(error):
                return None
            raise

    truth, found = solved("brute"), solved(method)
    if truth is None or found is None:
        assert truth is found, what
        return None
    assert found.status is Status.OPTIMAL, what
    assert found.terms == truth.terms, what
    reached = values(found.assignment, (*objective, *at_most))
    assert reached[: len(objective)] == tuple(term.bound for term in found.terms), what
    assert all(reached[at] <= most for at, most in enumerate(at_most.values(), len(objective)))
    reread = Solution.from_dict(group, found.to_dict())
    assert (check(group, reread) == ()) == (found.proof.kind is ProofKind.CERTIFICATE), what
    return found


@pytest.mark.exhaustive
def test_no_assignment_within_budgets_is_better_and_no_bound_above_it():
    rng, kinds = random.Random("within budgets"), Counter()
    for _ in range(300):
        solution = meet_within(rng)
        kinds[f"{solution.method} {solution.proof.kind}" if solution else "nothing"] += 1
    assert kinds["exchange certificate"] > 120
    assert kinds["exchange solver"] > 15
    assert kinds["nothing"] > 5


@pytest.mark.parametrize(
    ("partitions", "members", "kind"),
    [(100, 10, "uniform"), (100, 10, "lognormal"), (100, 10, "zipf"), (1000, 100, "lognormal")],
)
def test_every_further_move_lowers_the_peak_and_its_bound_or_leaves_them(
    partitions, members, kind
):
    """Rounds are counted, so that a busy machine finds the same."""
    group, reached = lagging(partitions, members, kind), []
    for moves in (0, members // 4, members, partitions // 3):
        budget, no_limit = {"stickiness": moves}, TimeLeft.of(None)
        found = exchange_within(group, ("peak_lag",), budget, no_limit, rounds=200)
        assignment = Assignment(group, found.owner)
        assert assignment.is_valid
        assert len(assignment.moved) <= moves
        (peak,), (bound,) = values(assignment, ("peak_lag",)), found.bounds
        assert bound <= peak <= 1.05 * bound
        reached.append((peak, bound))
    for column in zip(*reached, strict=True):
        assert list(column) == sorted(column, reverse=True)


def test_givers_show_that_fewer_moves_leave_a_higher_peak_and_no_more_than_that(hot):
    """Without a move c0 carries 18; with one it gives up 9 or 8, and keeps 9."""
    assert [found(solve(hot, "peak_lag", at_most={"stickiness": k})) for k in (0, 1)] == [
        (18,), (10,),
    ]  # fmt: skip
    stays = solve(hot, "peak_lag", at_most={"stickiness": 0}, method="exchange")
    fewest = solve(hot, "stickiness", at_most={"peak_lag": 10}, method="exchange")
    assert (found(fewest), fewest.proof.givers, stays.proof.givers) == ((1,), (0,), (0,))
    assert check(hot, fewest) == check(hot, stays) == ()
    unowned = replace(hot, owner=np.full(4, -1, np.int32))
    for group, forged, message in (
        (unowned, changed(stays), "givers: they show 0 moves below a peak_lag of 18"),
        (hot, with_owner(fewest, [0, 1, 1, 0]), "givers: they show 1 moves, not 2"),
        (hot, changed(stays, givers=(0, 5)), "givers: an index outside the group's members"),
    ):
        with pytest.raises(ProofError, match=message):
            check(group, forged)
    with pytest.raises(ProofError, match=r"givers: \(1, 0\), expected ascending indices"):
        changed(stays, givers=(1, 0))


def test_counts_may_differ_by_so_much_in_exchange_for_lag(hot):
    """With 2 partitions each somebody carries 9 and 1; with 1 and 3 the 9 is alone."""
    for spread, peak in ((0, 10), (1, 10), (2, 10)):
        solution = solve(hot, "peak_lag", at_most={"load_spread": spread}, method="exchange")
        assert found(solution) == (peak,)
        loads = solution.assignment.loads
        assert loads.max() - loads.min() <= spread


def test_nobody_is_idle_where_there_are_partitions_enough():
    for members, extreme in ((3, min), (6, max)):
        group = one_topic([90, 1, 1, 0], members)
        solution = solve(group, "peak_lag", at_most={"idle_members": 0}, method="exchange")
        assert (found(solution), extreme(solution.assignment.loads)) == ((90,), 1)


def test_the_fewest_moves_under_a_peak_are_found_and_proved():
    group = lagging(100, 10, "uniform")
    for moves in (3, 6):
        reached = solve(group, "peak_lag", at_most={"stickiness": moves}, time_limit=5)
        peak = reached.terms[0].value
        solution = solve(group, "stickiness", at_most={"peak_lag": peak}, time_limit=5)
        assert (solution.status, solution.terms[0].value) == (Status.OPTIMAL, moves)


def test_budgets_that_exclude_each_other_are_refused_at_any_size():
    group = lagging(1000, 100, "uniform")
    with pytest.raises(
        BadInput,
        match=r"at_most.moves: 9, but with load_spread at most 0 the least that is possible",
    ):
        solve(group, "peak_lag", at_most={"load_spread": 0, "stickiness": 9}, time_limit=20)
    with pytest.raises(BadInput, match=r"at_most.peak_lag: 9, but the least that is possible is"):
        solve(group, "stickiness", at_most={"peak_lag": 9}, time_limit=20)


def test_what_exchanges_within_budgets_do_not_serve_is_refused():
    group = lagging(10, 3, "uniform")
    for objective, at_most in (
        ("lag_spread > stickiness", {"stickiness": 1}),
        ("balance", {"stickiness": 1}),
        ("peak_lag", {"lag_spread": 10**9}),
        ("peak_lag", {"idle_members": 1}),
    ):
        with pytest.raises(BadInput, match=r"exchange does not serve .* within .*; auto takes"):
            solve(group, objective, at_most=at_most, method="exchange")


@pytest.mark.parametrize("kind", ["lognormal", "zipf"])
def test_few_partitions_move_where_one_hot_partition_pins_the_peak(kind):
    group = lagging(1000, 100, kind)
    solution = solve(group, "balance > peak_lag > stickiness", time_limit=3)
    assert solution.method == "exchange"
    assert [term.bound == term.value for term in solution.terms[:2]] == [True, True]
    moves = solution.terms[2]
    # An assignment of the least peak has about 990 moves if moves are not minimized.
    assert moves.bound <= moves.value <= 1.15 * moves.bound
    assert solution.terms[0] == solve(group, "balance").terms[0]
    assert check(group, Solution.from_dict(group, solution.to_dict())) is not None


def test_the_fewest_moves_after_the_least_peak_have_a_certificate():
    """c0 owns all; nobody carries less than 9, and c1 has to get all but the hot partition."""
    group = one_topic([9, 3, 3, 3], 2, owned=range(4))
    solution = solve(group, "peak_lag > stickiness", method="exchange")
    assert found(solution) == (9, 1)
    assert solution.assignment.owner.tolist() == [1, 0, 0, 0]
    assert (solution.proof.kind, solution.proof.givers) == (ProofKind.CERTIFICATE, (0,))
    assert check(group, solution) == ()
    with pytest.raises(ProofError, match="givers: they show 1 moves, not 3"):
        check(group, with_owner(solution, [0, 1, 1, 1]))
    with pytest.raises(ProofError, match="floor is missing"):
        check(group, changed(solution, floor=None))


def test_evenness_within_a_budget_on_moves_keeps_to_it():
    group = lagging(100, 10, "lognormal")
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
    group = lagging(200, 20, "uniform")
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
    group = one_topic([5, 1, 1, 1], 3, owned=range(4))
    told = solve(group, "stickiness", at_most={budget: 1 if budget == "load_spread" else 0})
    forged = told.to_dict() | {"proof": {"kind": "certificate", "givers": ["c0"]}}
    with pytest.raises(ProofError, match="givers: they show moves under a peak"):
        check(group, Solution.from_dict(group, forged))
