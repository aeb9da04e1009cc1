"""Advice on lag: what is promised is what every assignment that is tried one by one comes to."""

import random

import pytest

from assay import Assignment, BadInput, Group, advise, solve
from compare.advice.words import conclusion, depends, gains_nothing, headline, why
from groups.tiers import values
from tests.compare.advice.made import applied, document_of, topics_read, with_lag
from tests.compare.conftest import holding
from tests.optimal.small_groups import group_of

TIERS = ("balance", "peak_lag")
HOT = holding([90, 10, 10, 10], {"a": [0, 1], "b": [2, 3]}, group="hot")
LITTLE = "less than 10% is not advised."


@pytest.fixture(scope="module")
def advised() -> list:
    """Return small groups with lag, and the advice on each."""
    small = [
        one
        for one in map(document_of, range(250))
        if topics_read(one) and len(one["members"]) <= 3 and sum(one["topics"].values()) <= 8
    ]
    lagging = [with_lag(one, seed) for seed, one in enumerate(small)]
    return [
        (document, advise(Group.from_dict(document), assignors=(), time_limit=None))
        for document in lagging
    ]


def least_peak(document: dict) -> int:
    """Return the least peak lag with loads as even as possible, over all assignments."""
    solution = solve(Group.from_dict(document), TIERS, method="brute")
    return solution.terms[1].value


def test_a_change_that_is_made_comes_to_what_was_promised(advised):
    assert len(advised) > 40
    kinds = [change.kind for _, found in advised for change in found.changes]
    assert {*kinds} == {"rebalance", "isolate", "subscription", "members"}
    assert kinds.count("isolate") > 6
    for document, found in advised:
        assert found.lower == "peak_lag"
        least = min(found.now, least_peak(document))
        assert found.best.bound <= least <= found.best.value
        for change in found.changes:
            made = applied(document, change)
            there = Assignment.from_dict(Group.from_dict(made), change.assignment.to_dict())
            assert there.is_valid
            assert values(there, ("peak_lag",)) == (change.after.value,)
            assert len(there.moved) == change.moves
            if len(made["members"]) > 4:
                continue
            if change.kind == "isolate":
                # This change allows uneven loads.
                uneven = solve(Group.from_dict(made), ("peak_lag",), method="brute").terms[0].value
                assert change.after.value == uneven < least_peak(document)
                continue
            assert change.after.bound <= least_peak(made) <= change.after.value
            before = found.now if change.kind == "rebalance" else least
            gain = before - least_peak(made)
            assert 0 < change.at_least <= gain <= change.at_most


def test_the_hottest_partition_is_the_floor_and_more_partitions_do_not_help_against_lag():
    found = advise(Group.from_dict(HOT), assignors=())
    alone, more = found.changes
    assert (alone.kind, alone.moves, more.kind, more.moves) == ("isolate", 1, "members", 1)
    assert (found.now, found.best.value) == (100, 100)
    assert alone.after.value == more.after.value == 90
    assert found.hot == ("t", 0, 90)
    assert {one.kind: one.because for one in found.no_gain} == {
        "rebalance": "No assignment of these members with loads as even as can be has less.",
        "subscription": "Every member reads every topic that somebody reads.",
        "partitions": "The lag that is there stays in the partitions where it is.",
    }


def test_lag_that_is_not_known_cannot_be_lowered_and_then_partitions_decide():
    assert advise(Group.from_dict(HOT), lower="peak_load", assignors=()).lower == "peak_load"
    some = Group.from_dict(HOT | {"topics": {"t": {"partitions": 4, "lag": [900, None, 10, 10]}}})
    assert advise(some, assignors=()).lower == "peak_load"
    with pytest.raises(BadInput, match=r"topics\.t\.lag\[1\]: unknown, but tier peak_lag needs"):
        advise(some, lower="peak_lag")
    with pytest.raises(BadInput, match=r"lower: 'balance', expected one of peak_load, peak_lag"):
        advise(some, lower="balance")


def started(committed: int | None, **said: object) -> Group:
    """Return a group with a lag of 59 on one partition, and `committed` on the other."""
    offsets = [
        {"beginning": 0, "end": 100, "committed": 41},
        {"beginning": 0, "end": 900, "committed": committed},
    ]
    topics = {"t": {"partitions": 2, "offsets": offsets}}
    return Group.from_dict(holding(2, {"a": [0], "b": [1]}) | {"topics": topics} | said)


def test_advice_on_lag_that_rests_on_where_consumers_start_says_so_with_the_option():
    found = advise(started(None), assignors=())
    latest = (
        "if consumers start at the end (auto.offset.reset=latest, assumed for 1 partition "
        "without a commit)"
    )
    assert (found.lower, found.now) == ("peak_lag", 59)
    assert headline(found).endswith(f" has less, {latest}.")
    assert conclusion(found).startswith(
        f"Nothing that was tried lowers peak_lag enough, and that is proved, {latest}: moving "
    )
    assert found.to_dict()["if"] == latest.removeprefix("if ")


def test_moves_after_which_the_last_member_catches_up_later_are_not_advised():
    # b is slow: with 91 of the 191 records it takes 91 s instead of 1 s.
    document = holding([100, 90, 1, 0], {"a": [0, 1], "b": [2, 3]})
    for member, rate in (("a", 100), ("b", 1)):
        document["members"][member]["capacity"] = rate
    found = advise(Group.from_dict(document), assignors=())
    assert not found.changes
    (one,) = (one for one in found.no_gain if one.kind == "rebalance")
    assert one.because == (
        "Lag falls to 100, but the last member then catches up in 1 min 31 s, not in 2 s; no "
        "assignment without that delay is known."
    )


def test_a_change_that_lowers_lag_by_less_than_a_tenth_is_not_said_to_lower_nothing():
    # A second member could have 1 of the 1,001 records.
    found = advise(Group.from_dict(holding([1000, 1], {"a": [0, 1]})), assignors=())
    assert not found.changes
    assert conclusion(found).startswith("Nothing that was tried lowers peak_lag enough, and that")
    topics = {"t": {"partitions": 2, "lag": [1000, 1]}, "u": {"partitions": 1, "lag": [1]}}
    members = {
        "a": {"subscription": ["t"], "owned": {"t": [0, 1]}},
        "b": {"subscription": ["u"], "owned": {"u": [0]}},
    }
    two = {"format": "assay-group/1", "group": "g", "topics": topics, "members": members}
    found = advise(Group.from_dict(two), assignors=())
    assert "On average, or by one partition, somebody has 1,000 or more." in [
        one.because for one in found.no_gain
    ]


@pytest.mark.parametrize(
    ("group", "lower", "now"),
    [
        (started(900), "peak_lag", 59),
        (started(None, auto_offset_reset="latest"), "peak_lag", 59),
        (started(None).with_reset("earliest"), "peak_lag", 900),
        (started(None), "peak_load", 1),
    ],
)
def test_advice_on_what_is_known_has_no_condition(group, lower, now):
    found = advise(group, lower=lower, assignors=())
    assert (found.now, found.condition) == (now, None)


def lagging(lag: list[int], owned: dict[str, list[int]]) -> Group:
    return Group.from_dict(holding(lag, owned))


def test_whoever_reads_what_somebody_has_as_much_as_all_have_on_average():
    topics = {"t0": {"partitions": 5, "lag": [0, 1, 2, 3, 4]}}
    topics["t1"] = {"partitions": 2, "lag": [6, 6]}
    owned = {"m0": {"t0": [0, 1, 2, 3, 4]}, "m1": {"t1": [0, 1]}}
    found = advise(group_of(topics, dict.fromkeys(owned), owned))
    assert (found.now, found.best.bound, found.best.value) == (12, 11, 12)
    (more,) = [one for one in found.changes if one.kind == "members"]
    assert (more.members, more.after.value, more.at_least) == (4, 6, 5)


def test_few_moves_that_the_verdict_names_come_before_many_for_little_more():
    rng = random.Random(3)
    lags = [20_000, *(rng.randint(1, 60) for _ in range(23))]
    lags[4:6] = [1_500, 1_500]
    owned = {m: [*range(4 * at, 4 * at + 4)] for at, m in enumerate("abcdef")}
    found = advise(lagging(lags, owned | {"a": [*range(6)], "b": [6, 7]}), assignors=())
    (move,) = [one for one in found.changes if one.kind == "rebalance"]
    assert move.moves == len(found.judged.plan.moved) == 2
    assert move.after.value < found.now


def test_neither_moves_for_less_than_a_tenth_nor_assignors_that_keep_it_by_chance_are_advised():
    for hot, falls in ((91, False), (90, True)):
        group = lagging([hot, 0, 0, 100 - hot], {"a": [0, 1, 3], "b": [2]})
        found = advise(group, assignors=["roundrobin"])
        advised = {one.kind: one.after.value for one in found.changes}
        because = {one.kind: one.because for one in found.no_gain}
        if falls:
            assert advised["rebalance"] == hot
        else:
            assert because["rebalance"] == f"Lag falls from 100 to {hot}, and {LITTLE}"
        # An assignor that does not look at lag keeps it low by chance.
        assert because["assignor"] == (
            f"The one tried, roundrobin, leaves the busiest member with {hot}, by chance: it has "
            "more than the least in 1 of 1 tries with one member more or less."
        )
        assert falls or conclusion(found).startswith(
            "Nothing that was tried lowers peak_lag enough"
        )


HALVES = {"a": [0, 1, 2], "b": [3, 4, 5]}
QUARTERS = {"a": [0, 1, 2, 4], "b": [3, 5, 6, 7]}


@pytest.mark.parametrize(
    ("lag", "owned", "changes", "because"),
    [
        # With three members the least peak is 98.
        ([52, 50, 48, 50], {"a": [0, 2], "b": [1, 3]}, {"members": (100, 52, 2)}, {}),
        # Uneven loads have to gain a tenth of what the best even loads leave.
        ([91, 3, 3, 3, *[20] * 4], QUARTERS, {"rebalance": (117, 100, 2)},
         {"isolate": f"Lag falls from 100 to 91, and {LITTLE}"}),
        ([90, 3, 3, 4, *[20] * 4], QUARTERS,
         {"rebalance": (116, 100, 2), "isolate": (100, 90, 3)}, {}),
        # They are counted from now where even ones gain too little, or take as many moves.
        ([88, 4, 8, 3, 20, 20], HALVES, {"isolate": (100, 88, 2)},
         {"rebalance": f"Lag falls from 100 to 95, and {LITTLE}"}),
        ([91, 20, 20, 20, 5, 4], HALVES,
         {"rebalance": (131, 100, 2), "isolate": (131, 91, 2)}, {}),
    ],
)  # fmt: skip
def test_a_change_is_advised_where_lag_falls_by_a_tenth_of_what_it_is_counted_from(
    lag, owned, changes, because
):
    found = advise(lagging(lag, owned), assignors=())
    said = {
        one.kind: (one.before.value, one.after.value, one.moves)
        for one in found.changes
        if one.kind in {"rebalance", "isolate", *changes}
    }
    assert said == changes
    assert because.items() <= {one.kind: one.because for one in found.no_gain}.items()
    for one in found.changes:
        if one.kind == "isolate" and "rebalance" not in changes:
            assert why(one, found) == (
                "Proved (exhaustion): no assignment of the same members has less."
            )


def test_the_command_that_shows_what_fewer_moves_bring_is_named():
    found = advise(lagging([50, 40, 1, 1], {"a": [0, 1], "b": [2, 3]}), assignors=())
    (moves,) = [one for one in found.changes if one.kind == "rebalance"]
    hint = "What fewer moves bring if loads may differ: assay frontier g.json."
    assert hint in depends(moves, found, "assay frontier g.json")


def test_what_mends_a_group_says_that_a_rebalance_does_it_and_what_waits():
    found = advise(lagging([4, 9_000, 3, 80], {"a": [0], "b": []}), assignors=())
    assert headline(found).endswith(
        "not valid: 3 partitions have no owner: t-1, t-2, t-3; 9,083 records wait there."
    )
    # The peak of a group with ownerless lag is no measure of the gains of changes.
    assert not any("falls from 4 to" in line for line in gains_nothing(found))
    assert depends(found.changes[0], found)[0].startswith("A rebalance makes it valid, such as ")
