import random

import pytest

from compare.judged import judge
from compare.lag import peaks
from compare.lag.lowest import lag_document, least_lagging
from compare.lag.peaks import lowest_peaks
from compare.lag.words import needed
from groups import Group, values
from optimal import check, solve, time_left
from optimal.time_left import TimeLeft
from tests.compare.conftest import holding
from tests.optimal.small_groups import document, every_assignment
from tests.seeds import for_each

KIP_54 = ("balance", "stickiness")


def group_of(lag, owned):
    return Group.from_dict(holding(lag, owned))


def lowest_of(group, **more):
    (one,) = judge([group])
    (found,) = lowest_peaks([one], KIP_54, **more)
    return one, found


def every_peak(group):
    """Return (balance, peak lag) of every assignment."""
    return [values(one, ("balance", "peak_lag")) for one in every_assignment(group)]


@for_each(range(25))
def test_it_is_the_lowest_peak_of_all_that_are_balanced_best(seed):
    rng = random.Random(seed)
    members = [f"m{i}" for i in range(rng.randint(2, 3))]
    lag = [rng.randint(0, 50) for _ in range(rng.randint(2, 7))]
    owned = {member: [] for member in members}
    for p in range(len(lag)):
        owned[rng.choice(members)].append(p)
    group = group_of(lag, owned)
    _, found = lowest_of(group)
    assert (found.records, found.proved) == (min(every_peak(group))[1], True)
    assert found.assignment.is_valid


def test_a_small_group_is_searched_to_its_end_and_without_a_search_it_is_said_to_be_open():
    group = group_of([9, 8, 7, 6, 5, 5, 4, 3, 2, 1, 1, 1], {"a": list(range(9)), "b": [9, 10, 11]})
    _, found = lowest_of(group)
    assert (found.records, found.proved, found.in_time) == (26, True, True)
    group = group_of([10, 10, 10, 7, 7, 2], {"a": [0, 1, 2], "b": [3, 4, 5]})
    _, found = lowest_of(group, rounds=0)
    assert (found.records, found.bound, found.proved) == (24, 23, False)
    _, found = lowest_of(group)
    assert (found.records, found.proved) == (24, True)


HOT = {"a": [0, 1], "b": [2, 3]}
NINE = ([9, 3, 3, 1], {"a": [0, 1, 2], "b": [3]}, None)


@pytest.mark.parametrize(
    ("objective", "lag", "owned", "rate", "said"),
    [
        # A peak at one hot partition needs no search.
        ("kip-54", [100, 0, 1, 0], HOT, None,
         "The assignor is not at fault: no balanced assignment has less on one member. "
         "One partition (t-0) alone has 100 of lag: no assignment can put less on its member, "
         "however many members there are."),
        # Loads that are not balanced may have less.
        ("kip-54", [9, 3, 3, 3], {"a": [0], "b": [1, 2, 3]}, None,
         "No balanced assignment has less than 12 on one member."),
        ("kip-54", [60, 50, 4, 2], HOT, 1,
         "With balanced loads and any number of moves, the busiest member can have 62 of lag, "
         "and no less: 48 less than now. "
         "The objective, balance > moves, does not look at lag. "
         "That is 1 min 2 s to catch up, not 1 min 50 s. "
         "One partition (t-0) alone has 60 of lag, however many members there are."),
        # Loads are called balanced only where balance stands before the peak.
        ("peak_lag > stickiness", *NINE,
         "With any number of moves, the busiest member can have 9 of lag"),
        ("balance > peak_lag", *NINE, "With balanced loads and any number of moves, the busiest"),
        ("stickiness > peak_lag", *NINE,
         "No assignment with the fewest moves has less on one member."),
    ],
)  # fmt: skip
def test_what_is_needless_is_told_in_records_and_in_time_and_why_no_less(
    objective, lag, owned, rate, said
):
    group = group_of(lag, owned) if rate is None else group_of(lag, owned).with_rate(rate)
    (one,) = judge([group], objective)
    more = {"rounds": 0} if lag[0] == 100 else {}
    (found,) = lowest_peaks([one], one.best.objective, **more)
    assert found.proved
    told = needed(one, found)
    assert told == said if objective == "kip-54" else told.startswith(said)


@pytest.mark.parametrize("lag", [[None, 1, 1, 1], [None] * 4, [1, None, None, None]])
def test_an_unknown_lag_gives_no_lowest_peak(lag):
    assert lowest_of(group_of(lag, {"a": [0, 1, 2], "b": [3]}))[1] is None


def test_where_it_is_open_who_reads_what_there_is_no_lowest_peak():
    topics = {t: {"partitions": 2, "lag": [5, 4]} for t in ("t0", "t1")}
    shown = {"a": {"owned": {"t0": [0, 1], "t1": [0]}}, "b": {"owned": {"t1": [1]}}}
    one, found = lowest_of(Group.from_dict(document(topics, shown)))
    assert (one.verdict.says, found is None) == ("improvable", False)
    hidden = {"a": {"owned": {"t0": [0, 1]}}, "b": {"owned": {}}}
    group = Group.from_dict(document(topics, hidden))
    one, found = lowest_of(group)
    assert (one.verdict.question is None, found) == (False, None)
    told = lag_document(one.now, found)
    assert (told["peak"], told["lowest"]) == (9, None)
    (assumed,) = judge([group], assume_equal=True)
    (found,) = lowest_peaks([assumed], KIP_54, assume_equal=True)
    assert (found.records, found.proved) == (5, True)


@pytest.mark.exhaustive
def test_a_bound_holds_for_more_readers_too():
    """With subscriptions hidden, what is proved is proved whoever reads what."""
    rng = random.Random(7)
    proved = 0
    for _ in range(40):
        topics = {
            t: {"partitions": 2, "lag": [rng.randint(0, 30) for _ in range(2)]}
            for t in ("t0", "t1", "t2")
        }
        members = {m: {"subscription": list(topics), "owned": {}} for m in ("a", "b", "c")}
        for t in topics:
            for p in range(2):
                members[rng.choice("abc")]["owned"].setdefault(t, []).append(p)
        known = document(topics, members)
        hidden = known | {"members": {m: {"owned": one["owned"]} for m, one in members.items()}}
        _, found = lowest_of(Group.from_dict(hidden))
        if found is None:
            continue
        least = min(every_peak(Group.from_dict(known)))
        balance = values(found.assignment, ("balance",))[0]
        if balance == least[0]:
            assert found.bound <= least[1] <= found.records
            proved += found.proved
    assert proved >= 5


def heavy_tailed(seed, groups, partitions=40, members=8):
    rng = random.Random(seed)
    held = partitions // members
    owned = {f"m{i}": list(range(held * i, held * i + held)) for i in range(members)}
    lags = [[int(rng.lognormvariate(8, 1)) for _ in range(partitions)] for _ in range(groups)]
    return judge([group_of(lag, owned) for lag in lags])


def test_many_groups_share_the_rounds_of_search(monkeypatch):
    judged, given, search = heavy_tailed(3, 60), [], peaks.lowest_of

    def noted(group, objective, rounds, time_left):
        given.append(rounds)
        return search(group, objective, rounds, time_left)

    monkeypatch.setattr(peaks, "lowest_of", noted)
    found = lowest_peaks(judged, KIP_54)
    assert 40 < len(given) <= sum(given) <= peaks.ROUNDS
    assert all(one is not None and one.bound <= one.records for one in found)
    (alone,) = lowest_peaks(judged[:1], KIP_54)
    assert alone.records <= found[0].records


def told_of(found):
    return [(one.records, one.bound, one.in_time, one.assignment.owner.tolist()) for one in found]


def test_a_busy_machine_gives_the_same_answers(monkeypatch):
    """Each look at the clock is a second later than the one before."""
    judged = heavy_tailed(5, 3)
    idle = told_of(lowest_peaks(judged, KIP_54, seconds=1e6))
    late = iter(range(10**9))
    monkeypatch.setattr(time_left, "monotonic", lambda: float(next(late)))
    assert told_of(lowest_peaks(judged, KIP_54, seconds=1e6)) == idle
    assert any(records > bound for records, bound, _, _ in idle)


def test_it_is_no_more_than_the_moves_that_are_advised_leave_where_no_search_is_made():
    for judged in heavy_tailed(7, 5):
        (found,) = lowest_peaks([judged], KIP_54, rounds=0)
        assert (judged.verdict.says, judged.fall is None) == ("as good as can be", False)
        assert found.records <= judged.fall.then < judged.fall.now


def test_where_the_clock_does_stop_it_that_is_said():
    (one,) = heavy_tailed(5, 1)
    (found,) = lowest_peaks([one], KIP_54, seconds=0.0)
    assert (found.in_time, found.proved) == (False, False)
    assert " The search stopped early: time was up." in needed(one, found)


def test_the_least_lagging_is_as_good_in_all_else():
    rng = random.Random(11)
    lag = [int(rng.lognormvariate(6, 1)) for _ in range(12)]
    group = group_of(lag, {"a": list(range(9)), "b": [9, 10, 11], "c": []})
    solution = solve(group)
    found = least_lagging(solution, 200, TimeLeft.of(60))
    assert values(found.assignment, KIP_54) == tuple(t.value for t in solution.terms)
    least = solve(group, (*KIP_54, "peak_lag"))
    assert values(found.assignment, ("peak_lag",))[0] == least.terms[-1].value
    assert least.status == "optimal"


def test_an_objective_about_lag_and_a_group_without_have_nothing_to_choose_from():
    for lag, objective in (([1, 2, 3], "balance > peak_lag"), ([0, 0, 0], "kip-54")):
        solution = solve(group_of(lag, {"a": [0, 1, 2], "b": []}), objective)
        assert least_lagging(solution, 200, TimeLeft.of(60)) is None


def test_a_target_with_less_lag_is_one_that_the_certificate_proves():
    """Under balance alone, the certificate shows the fewest moves, too: the target makes no more.

    It was exchanged for one with less lag and more moves, which its certificate does not prove.
    """
    rng, chosen = random.Random(3), 0
    for objective in ("balance", "kip-54", "load_squares > moves", "topic_balance > moves"):
        for _ in range(20):
            held = [list(range(i, 12, 3)) for i in range(3)]
            owned = {
                m: [p for p in h if rng.random() < 0.8] for m, h in zip("abc", held, strict=True)
            }
            group = group_of([rng.choice((0, 0, 1, 5, 9)) for _ in range(12)], owned)
            (one,) = judge([group], objective)
            check(group, one.best)
            chosen += one.least_lag is not None
    assert chosen > 20
