import random
from dataclasses import asdict, replace

import pytest

from compare.sizes import sizing
from compare.sizes.sizing import parse_target, size
from compare.what_if import all_alike, reading, what_if
from groups import BadInput, Group, values
from groups.columns.places import MemberDetails
from tests.compare.conftest import holding
from tests.optimal.small_groups import every_assignment, group_of
from tests.seeds import for_each

LAG = [90, 50, 40, 30, 20, 10]


def alike(lag=LAG, members=2):
    """Return a group of one topic, of this lag or so many partitions, of which nobody owns any."""
    return Group.from_dict(holding(lag, {f"c{i}": [] for i in range(members)}))


DIFFERING = group_of(
    {"t0": 6, "t1": 2, "t2": 3},
    {"a": ["t0"], "b": ["t1"]},
    {"a": {"t0": [0, 1, 2, 3, 4, 5]}},
    racks=["r"],
)


@for_each(range(6))
def test_each_row_is_the_best_by_exhaustion(seed):
    rng = random.Random(seed)
    lag = [rng.randint(0, 40) for _ in range(5)]
    for row in size(alike(lag), members=range(1, 5)).rows:
        group = what_if(alike(lag), members=row.members)
        best = min(values(one, ("balance", "peak_lag")) for one in every_assignment(group))
        assert (row.balance, row.peak_lag, row.peak_lag_bound) == (*best, best[1])
        assert row.proved


def test_divisors_are_seen_in_the_loads_and_beyond_the_partitions_members_are_idle():
    rows = size(alike(60), members=range(6, 13)).rows
    assert [(row.members, row.least_load, row.most_load) for row in rows] == [
        (6, 10, 10), (7, 8, 9), (8, 7, 8), (9, 6, 7), (10, 6, 6), (11, 5, 6), (12, 5, 5),
    ]  # fmt: skip
    rows = size(alike(3), members=(2, 3, 5)).rows
    assert [(row.members, row.idle) for row in rows] == [(2, 0), (3, 0), (5, 2)]


@pytest.mark.parametrize(
    ("target", "smallest"),
    [
        ({"peak_lag": 240}, 1), ({"peak_lag": 119}, 3), ({"peak_lag": 90}, 4),
        ({"peak_lag": 89}, None), ({"peak_time": 12}, 2), ({"peak_time": 11}, 3),
        ({"peak_load": 3}, 2), ({"peak_load": 1}, 6), ({"load_spread": 0}, 1),
        ({"balance": 0}, 1),
    ],
)  # fmt: skip
def test_the_smallest_number_that_is_within_a_target_is_found_and_proved(target, smallest):
    found = size(alike().with_rate(10), members=range(1, 7), target=target)
    assert (found.smallest, found.sure) == (smallest, True)
    assert [row.members for row in found.rows if row.meets][:1] == [smallest] * bool(smallest)


HELD = Group.from_dict(holding(LAG, {"a": [0, 1, 2, 3], "b": [4, 5]}))


@pytest.mark.parametrize(
    ("target", "members"),
    [
        ({"peak_lag": 140}, 2), ({"peak_lag": 100}, 3), ({"peak_load": 3}, 2),
        ({"peak_load": 2}, 3), ({"balance": 0}, 2), ({"load_spread": 1}, 2),
    ],
)  # fmt: skip
def test_no_fewer_moves_than_the_change_of_a_size_reach_its_target(target, members):
    found = size(HELD, target=target, members=range(2, 7))
    (aim, most), change = next(iter(target.items())), found.change
    group = what_if(HELD, members=members)
    moves = {"balanced": [], "any": []}
    for made in every_assignment(group):
        balance, peak = values(made, ("balance", "peak_lag"))
        peak_load, spread = made.loads.max(), made.loads.max() - made.loads.min()
        reached = {"balance": balance, "peak_lag": peak, "peak_load": peak_load}
        if (reached | {"load_spread": spread})[aim] <= most:
            moves["any"].append(len(made.moved))
            if spread <= 1:
                moves["balanced"].append(len(made.moved))
    wanted = min(moves["balanced" if aim == "peak_lag" else "any"])
    assert (len(change.group.members), len(change.assignment.moved)) == (members, wanted)
    free = found.change_uneven or change
    assert len(free.assignment.moved) == min(moves["any"])
    assert found.to_dict()["change"]["assignment"] == change.assignment.to_dict()


def test_a_group_within_its_target_or_of_which_nobody_holds_anything_has_nothing_to_move():
    assert size(HELD, target={"peak_lag": 210}).change is None
    assert size(alike(), target={"peak_lag": 120}).change is None


def test_what_is_not_proved_leaves_it_open():
    rng = random.Random(4)
    lag = [rng.randint(0, 10**9) for _ in range(200)]
    group = alike(lag, members=63)
    (row,) = size(group, members=[63], time_limit=1e-9).rows
    assert not row.proved
    assert row.peak_lag > row.peak_lag_bound
    between = size(group, members=[63], target={"peak_lag": row.peak_lag_bound}, time_limit=1e-9)
    assert (between.rows[0].meets, between.smallest, between.sure) == (None, None, False)


def test_a_lag_that_is_not_known_leaves_the_counts_and_rows_are_flat():
    found = size(alike([1, None, 3]), members=[2])
    assert found.objective == ("balance",)
    assert (found.rows[0].peak_lag, found.rows[0].peak_seconds) == (None, None)
    for row in (found.rows[0], size(alike(), members=[2]).rows[0]):
        # So that a data frame can be made of them.
        assert all(value is None or isinstance(value, int) for value in asdict(row).values())


def test_the_time_limit_is_for_all_numbers_together(monkeypatch):
    rng = random.Random(2)
    lag = [rng.randint(50_000, 100_000) for _ in range(60)]
    given, solving = [], sizing.solve

    def noted(group, objective, *, time_limit, **more):
        given.append(time_limit)
        return solving(group, objective, time_limit=time_limit, **more)

    monkeypatch.setattr(sizing, "solve", noted)
    found = size(alike(lag), members=range(12, 32), time_limit=1.0)
    assert len(found.rows) == 20
    assert given[0] < 1.0 / 10


def test_without_numbers_it_looks_at_twice_the_members_within_limits():
    assert [row.members for row in size(alike(9, members=3)).rows] == [*range(1, 13)]
    assert size(alike(9, members=15)).rows[-1].members == 30
    assert size(DIFFERING).rows[0].members == 2


def test_of_many_numbers_some_are_looked_at_and_all_just_below_the_first_that_will_do():
    group = alike(1000, members=100)
    rows = size(group).rows
    assert [row.members for row in rows] == sorted({1, 100, *range(1, 201, 5)})
    found = size(group, target={"peak_load": 12})
    assert (found.smallest, found.sure) == (84, True)
    assert [row.members for row in found.rows if 80 < row.members < 90] == [81, 82, 83, 84, 85, 86]


SLOW = replace(alike(members=2), details=(MemberDetails(capacity=10), MemberDetails(capacity=5)))


def test_new_members_read_what_they_are_said_to_at_the_rate_of_those_they_are_like():
    assert not all_alike(DIFFERING)
    grown = what_if(DIFFERING, members=4)
    assert grown.members == ("a", "b", "new-1", "new-2")
    assert [grown.subscription(m).tolist() for m in range(4)] == [[0], [1], [0, 1], [0, 1]]
    assert what_if(DIFFERING, members=3, like="b").subscription(2).tolist() == [1]
    assert reading(DIFFERING, "b") == "New members read what b reads."
    assert reading(DIFFERING) == ("New members read every topic that somebody reads: 2 topics.")
    assert reading(alike()) == "New members read what the others read: 1 topic."
    assert size(DIFFERING, members=[3], like="a").rows[0].most_load == 3
    taken = Group.from_dict(holding(LAG, {"new-1": []}))
    assert what_if(taken, members=3).members == ("new-1", "new-2", "new-3")
    assert not all_alike(SLOW)
    for group, like, rates in (
        (SLOW, "c0", [10, 5, 10]), (SLOW, None, [10, 5, None]),
        (alike(members=2).with_rate(7), None, [7, 7, 7]),
    ):  # fmt: skip
        assert [one.capacity for one in what_if(group, members=3, like=like).details] == rates


def test_a_rate_of_new_members_that_nothing_tells_asks_for_the_one_that_they_are_like():
    asks = "members: capacity of new ones unknown, as those that are there differ, but "
    for said, needs in (({"target": {"peak_time": 60}}, "target"), ({}, "tier")):
        objective = "balance > peak_time"
        with pytest.raises(
            BadInput, match=f"^{asks}{needs} peak_time needs it; name a member that"
        ):
            size(SLOW, members=[3], objective=objective, **said)
        assert size(SLOW, members=[3], like="c0", objective=objective, **said).rows
    unknown = replace(SLOW, details=(MemberDetails(capacity=10), MemberDetails()))
    with pytest.raises(BadInput, match=r"^members.c1.capacity: unknown, but target peak_time"):
        size(unknown, members=[3], target={"peak_time": 60})


def test_members_of_different_rates_are_judged_by_the_time_that_the_last_takes():
    found = size(SLOW, members=[2, 3, 4], like="c0", target={"peak_time": 12})
    assert found.objective == ("balance", "peak_time")
    for row in found.rows:
        held = what_if(SLOW, members=row.members, like="c0")
        assert row.peak_seconds == row.peak_seconds_bound
        best = min(values(one, ("balance", "peak_time")) for one in every_assignment(held))
        assert (row.balance, row.peak_seconds) == best
    assert found.smallest == next(row.members for row in found.rows if row.peak_seconds <= 12)


def test_a_group_without_members_is_sized_for_all_its_topics():
    empty = alike(members=0)
    found = size(empty, target={"peak_lag": 100})
    assert (found.members_now, found.partitions, found.smallest) == (0, 6, 3)
    assert found.reads == "Members are taken to read all that there is: 1 topic."


@pytest.mark.parametrize(
    ("group", "given", "message"),
    [
        (alike(), {"members": []}, "members: expected one or more numbers of 1 or more"),
        (alike(), {"members": [2, 0]}, "members: 0, expected a whole number of 1 or more"),
        (alike(), {"members": [10**400]}, "members: an integer of 1329 bits leaves 64 bits"),
        (DIFFERING, {"members": [1]}, "members: 1, but which of the 2 would leave matters"),
        (alike(), {"like": "c9"}, "like: no member 'c9', expected one of c0, c1"),
        (alike(), {"target": {"lag": 1}}, "target: 'lag', expected one of peak_lag, peak_time"),
        (alike(), {"target": {"peak_lag": -1}}, "target.peak_lag: -1, expected a whole number"),
        (alike(), {"target": {"peak_lag": 1.5}}, "target.peak_lag: 1.5, expected a whole"),
        (alike(), {"target": {"peak_lag": 1, "balance": 1}}, "target: peak_lag and balance, exp"),
        (alike(), {"target": {"peak_time": 1}}, "members.c0.capacity: unknown, but target peak"),
        (alike(), {"objective": "kip-54"}, "objective: stickiness is about what members hold now"),
        (alike(), {"objective": "peak_lag", "target": {"balance": 1}}, "target.balance: the obj"),
        (alike(), {"objective": "balance", "target": {"peak_lag": 1}}, "target.peak_lag: the ob"),
        (alike(3), {"target": {"peak_lag": 1}}, r"topics.t.lag\[0\]: unknown, but tier peak_lag"),
        (group_of({"t": 6}, {"c0": None}), {}, "members.c0.subscription: unknown"),
        (group_of({"t": 0}, {"c0": ["t"]}), {}, "nobody reads a partition"),
    ],
)
def test_what_cannot_be_sized_is_refused_and_why(group, given, message):
    with pytest.raises(BadInput, match=message.replace("(", r"\(")):
        size(group, **given)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("peak_time=5m", {"peak_time": 300}), ("peak_time=90", {"peak_time": 90}),
        ("peak_time=2h", {"peak_time": 7200}), ("peak_lag=400k", {"peak_lag": 400_000}),
        ("peak_lag=1,200", {"peak_lag": 1200}),
        ("peak_load=8", {"peak_load": 8}), ("peak_lag=2M", {"peak_lag": 2_000_000}),
        ("peak_lag=50%", {"peak_lag": 45}), ("peak_load=67%", {"peak_load": 2}),
    ],
)  # fmt: skip
def test_a_target_is_written_with_units_as_people_do(text, found):
    held = holding([40, 30, 21, 9], {"a": [0, 1, 2], "b": [3]})
    assert parse_target(text, Group.from_dict(held)) == found


@pytest.mark.parametrize(
    "text",
    ["peak_time=5x", "peak_lag=5m", "peak_lag=", "peak_lag=-1", "x=1", "peak_lag=50%", "x=50%"],
)
def test_a_target_with_another_unit_is_refused(text):
    with pytest.raises(BadInput, match=f"^target {text}: "):
        parse_target(text, group_of({"t": 4}, {}))
