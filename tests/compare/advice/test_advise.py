"""Every change that is advised is made, and what it then comes to is counted by other means."""

from fractions import Fraction

import numpy as np
import pytest

from assay import Assignment, BadInput, Group, advise, assign
from compare.advice.advice import CHEAPEST_FIRST, Peak
from compare.advice.words import headline, rounded, what_to_do
from tests.compare.advice.made import (
    applied,
    document_of,
    least_load,
    load_now,
    reads_of,
    topics_read,
    with_one_more_subscription,
)
from tests.optimal.small_groups import group_of

SEEDS = range(120)


def least_share(document: dict, topic: str, was: int) -> Fraction:
    """Return the least load of the busiest member, in today's partitions, by trying all."""
    members, topics = list(document["members"]), document["topics"]
    states = {(Fraction(0),) * len(members)}
    for name, count in topics.items():
        part = Fraction(was, count) if name == topic else Fraction(1)
        readers = [i for i, m in enumerate(members) if name in reads_of(document, m)]
        for _ in range(count if readers else 0):
            states = {
                (*loads[:i], loads[i] + part, *loads[i + 1 :]) for loads in states for i in readers
            }
    return min(max(loads) for loads in states)


@pytest.fixture(scope="module")
def advised() -> list:
    documents = [one for one in map(document_of, SEEDS) if topics_read(one)]
    return [
        (document, advise(Group.from_dict(document), assignors=(), time_limit=None))
        for document in documents
    ]


def test_a_change_that_is_made_comes_to_what_was_promised_and_the_greatest_comes_first(advised):
    for document, found in advised:
        gains = [change.at_least for change in found.changes]
        assert gains == sorted(gains, reverse=True)
        assert all(gain > 0 for gain in gains)
        assert all(change.at_least == 0 for change in found.same_peak)
        assert found.now == load_now(document)
        assert found.best.value == found.best.bound == least_load(document)
        for change in (*found.changes, *found.same_peak):
            made = applied(document, change)
            there = Assignment.from_dict(Group.from_dict(made), change.assignment.to_dict())
            assert there.is_valid
            assert len(there.moved) == change.moves == len(change.to_dict()["moves"])
            before = load_now(document) if change.kind == "rebalance" else least_load(document)
            assert Fraction(change.before.value, change.before.per) == before
            assert change.after.proved
            if change.kind != "partitions":
                assert change.after.value == least_load(made) == there.loads.max()
            elif sum(made["topics"].values()) <= 12 and len(made["members"]) <= 3:
                least = least_share(made, change.topic, change.partitions_now)
                assert Fraction(change.after.value, change.after.per) == least
    kinds = [change.kind for _, found in advised for change in (*found.changes, *found.same_peak)]
    for kind in set(CHEAPEST_FIRST) - {"assignor", "isolate"}:
        assert kinds.count(kind) >= 9, kind


def test_no_gain_is_said_only_of_what_gains_nothing_and_no_other_subscription_gains_more(advised):
    for document, found in advised:
        least = least_load(document)
        changes = {change.kind: change for change in found.changes}
        said = {one.kind: one for one in found.no_gain}
        assert not changes.keys() & said.keys()
        assert changes.keys() | said.keys() == {
            "rebalance", "subscription", "members", "partitions",
        }  # fmt: skip
        if "rebalance" in said:
            assert load_now(document) == least
        others = [least_load(made) for made in with_one_more_subscription(document)]
        if "subscription" in changes:
            assert min(others) == changes["subscription"].after.value
        elif said["subscription"].proved:
            assert {*others} <= {least}
        if "members" in said:
            assert said["members"].proved
            assert least <= 1


def test_fewer_members_more_would_not_do_and_fewer_members_less_would(advised):
    for document, found in advised:
        now = len(document["members"])
        for change in found.changes:
            if change.kind == "members" and change.members - now > 1:
                made = applied(document, change)
                made["members"].popitem()
                assert least_load(made) == change.before.value
        for change in found.same_peak:
            made = applied(document, change)
            made["members"].popitem()
            assert not made["members"] or least_load(made) > change.before.value


def test_members_of_a_pod_come_and_leave_together():
    def in_pods(partitions, pods):
        each = range(2 * pods)
        held = {f"c{m}": {"t": [*range(m, partitions, 2 * pods)]} for m in each}
        members = {m: ["t"] for m in held}
        hosts = "".join("abcd"[m // 2] for m in each)
        return advise(
            group_of({"t": partitions}, members, held, hosts=hosts),
            lower="peak_load",
            assignors=(),
        )

    found = in_pods(5, 4)
    (fewer,) = found.same_peak
    assert (fewer.members, fewer.leaves) == (6, ("c6", "c7"))
    assert what_to_do(fewer, found).startswith("1 pod of 2 members can leave (8 -> 6)")
    found = in_pods(12, 2)
    (more,) = (one for one in found.changes if one.kind == "members")
    assert (more.members, more.after.value) == (6, 2)
    assert what_to_do(more, found).startswith("Add 1 pod of 2 members (4 -> 6)")


def test_what_is_there_now_is_told_also_where_the_time_is_up_before_anything_is_found():
    document = document_of(0)
    found = advise(Group.from_dict(document), assignors=(), time_limit=1e-9)
    assert (found.best, found.now, found.valid) == (None, load_now(document), True)
    assert headline(found) == (
        f"g: the busiest of 3 members holds {load_now(document)} of 13 partitions; "
        "the least was not found in time."
    )
    next(iter(document["members"].values()))["owned"].clear()
    torn = advise(Group.from_dict(document), assignors=(), time_limit=1e-9)
    assert (torn.best, torn.valid) == (None, False)
    assert "what members hold is not valid: 6 partitions have no owner: t1-0, " in headline(torn)
    assert torn.violation == "t1-0 with nobody: unassigned"


@pytest.mark.parametrize(
    ("value", "per", "shown"),
    [(1, 3, "0.333"), (8, 1, "8"), (15, 2, "7.5"), (299, 3, "99.7"), (5000, 3, "1,667")],
)
def test_parts_of_a_partition_are_shown_with_three_digits_and_never_as_a_power(value, per, shown):
    assert rounded(Peak(value, value, per).amount) == shown
    assert rounded(Peak(value * 7, value * 7, per * 7).amount) == shown


def test_loads_that_can_be_more_even_with_the_same_peak_are_told_with_their_moves():
    group = group_of(
        {"t": 4, "u": 1},
        {"a": ["t"], "b": ["t"], "c": ["t", "u"], "d": ["t"]},
        {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}, "c": {"u": [0]}},
    )
    found = advise(group, assignors=())
    assert (found.now, found.best.value, found.more_even) == (2, 2, 1)


def test_a_thousand_members_of_ten_thousand_partitions_are_advised():
    rng = np.random.default_rng(7)
    size, topics = 1_000, 100
    reads = [np.sort(rng.choice(topics, topics // 2, replace=False)) for _ in range(size)]
    group = Group.from_arrays(
        group="large",
        topics=[f"t{i:02}" for i in range(topics)],
        partitions=[100] * topics,
        members=[f"c{i:03}" for i in range(size)],
        subscription_indptr=np.arange(size + 1) * (topics // 2),
        subscription_topics=np.concatenate(reads),
    )
    held = assign(group, "roundrobin").holdings
    found = advise(group.with_claims(*held), assignors=())
    assert [(change.kind, change.after.value) for change in found.changes] == [
        ("rebalance", 10),
        ("members", 9),
    ]
    assert found.changes[1].members == 1_112


def test_new_members_may_read_what_another_reads():
    owned = {"a": {"t": [0, 1, 2, 3, 4, 5]}, "b": {"u": [0, 1]}}
    group = group_of({"t": 6, "u": 2}, {"a": ["t"], "b": ["u"]}, owned)
    like_a = advise(group, assignors=(), like="a")
    (more,) = [change for change in like_a.changes if change.kind == "members"]
    assert (more.members, more.after.value) == (3, 3)
    like_b = advise(group, assignors=(), like="b")
    assert "members" in [one.kind for one in like_b.no_gain if not one.proved]
    with pytest.raises(BadInput, match=r"like: no member 'c', expected one of a, b"):
        advise(group, assignors=(), like="c")
