"""What members say when they join, and what a leader makes of it."""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups import Assignment, InvalidAssignment
from live.assignor.rebalance import (
    FORMAT,
    MOST_BYTES,
    Claim,
    Joined,
    Note,
    Rebalance,
    claim_after,
    packed,
    unpacked,
)

NEWEST = 5


def joined(topics, owned=None, generation=NEWEST, member="", *, holds=False):
    claim = Claim(owned=owned or {}, generation=generation, member=member, holds=holds)
    return Joined(frozenset(topics), claim)


def test_a_member_that_said_nothing_claims_nothing():
    assert Joined.of(None, None) == Joined(frozenset(), Claim())
    assert Joined.of(["t0", "t0"], b"?") == Joined(frozenset({"t0"}), Claim())


def test_a_plan_keeps_the_partition_numbers_where_some_are_missing():
    rebalance = Rebalance.of(
        {"a": joined(["t0"], {"t0": [4, 9, 5]}), "b": joined(["t0"])}, {"t0": {9, 2, 4}}.get
    )
    group = rebalance.group()
    assert group.partitions.tolist() == [3]
    assert group.owner.tolist() == [-1, 0, 0]
    assert rebalance.plan_of(Assignment(group, group.owner)) == {"a": {"t0": [4, 9]}, "b": {}}


def test_an_unknown_topic_has_as_many_partitions_as_its_readers_claim():
    members = {
        "a": joined(["t0"], {"t0": [0, 3]}),
        "b": joined(["t1"], {"t0": [7], "t1": []}),
    }
    rebalance = Rebalance.of(members, {}.get)
    assert rebalance.numbers == {"t0": [0, 1, 2, 3]}


@pytest.mark.parametrize("numbers_of", [{}.get, {"t0": set()}.get])
def test_an_unknown_topic_that_is_gone_or_not_credible_has_none(numbers_of):
    members = {"a": joined(["t0"], {"t0": [0]})}
    assert Rebalance.of(members, numbers_of, gone={"t0"}).numbers == {}
    wild = {"a": joined(["t0"], {"t0": [2**31 - 1]})}
    assert Rebalance.of(wild, numbers_of).numbers == {}


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ({"a": {"t0": [0]}, "b": {"t1": [0]}}, "'t0': not every partition is with one member"),
        ({"a": {"t0": [0, 1, 1]}, "b": {"t1": [0]}}, "'t0': not every partition"),
        ({"a": {"t0": [0, 1, 2]}, "b": {"t1": [0]}}, "'t0': not every partition"),
        ({"a": {"t0": [0, 1], "t1": [0]}, "b": {}}, "'a' does not read 't1'"),
        ({"a": {"t0": [0, 1]}, "b": {}}, "'t1': not every partition"),
        ({"a": {"t0": [0, 1]}, "c": {"t1": [0]}}, "'c' is not a member"),
        ({"a": {"t0": [0, 1]}, "b": {"t1": [0], "t9": [0]}}, "'t9': not every partition"),
        ({"b": {"t0": [0, 1], "t1": [0]}}, "a member is missing"),
    ],
)
def test_a_plan_that_is_not_valid_is_refused(plan, said):
    members = {"a": joined(["t0"]), "b": joined(["t0", "t1", "t9"])}
    rebalance = Rebalance.of(members, {"t0": {0, 1}, "t1": {0}}.get)
    rebalance.require_valid({"a": {"t0": [1]}, "b": {"t0": [0], "t1": [0]}})
    with pytest.raises(InvalidAssignment, match=said):
        rebalance.require_valid(plan)


PLAN = {"a": {"t0": [0]}, "b": {"t0": [1]}}


@pytest.mark.parametrize(
    ("claim", "waits"),
    [
        (joined(["t0"], {"t0": [0, 1]}, member="a", holds=True), True),
        (joined(["t0"], {"t0": [0, 1]}, member="a"), False),
        (joined(["t0"], {"t0": [0, 1]}, member="old", holds=True), False),
        (joined(["t0"], {"t0": [0, 1]}, NEWEST - 1, "a", holds=True), False),
        (joined(["t0", "t1"], {"t1": [1]}, member="a", holds=True), False),
    ],
    ids=["held", "given up already", "under its old id", "missed one", "something else"],
)
def test_only_what_another_member_still_holds_has_to_wait(claim, waits):
    members = {"a": claim, "b": joined(["t0"])}
    rebalance = Rebalance.of(members, {"t0": {0, 1}}.get)
    now = rebalance.allowed_now(PLAN)
    assert now == ({"a": {"t0": [0]}, "b": {"t0": []}} if waits else PLAN)


def test_what_two_members_hold_is_given_to_neither():
    members = {m: joined(["t0"], {"t0": [0]}, member=m, holds=True) for m in "ab"}
    now = Rebalance.of(members, {"t0": {0, 1}}.get).allowed_now(PLAN)
    assert now == {"a": {"t0": []}, "b": {"t0": [1]}}


CLAIM = Claim(owned={"t0": [3, 1]}, generation=7, member="c0", holds=True)


def test_what_was_packed_is_unpacked_again():
    assert unpacked(packed(CLAIM), Claim) == CLAIM
    note = Note(generation=3, member="c1", unfinished=True)
    assert unpacked(packed(note), Note) == note


def test_a_thousand_partitions_take_less_than_two_bytes_each():
    """The brokers keep what all members say in one record of about a megabyte."""
    claim = Claim(owned={"orders": list(range(0, 3000, 3))})
    assert len(packed(claim)) < 2000


@pytest.mark.parametrize(
    "user_data",
    [
        None,
        b"",
        b"\x00",
        "text",
        FORMAT,
        FORMAT + b"not compressed",
        FORMAT + zlib.compress(b"not JSON"),
        FORMAT + zlib.compress(b"[" * 100_000),
        FORMAT + zlib.compress(b'{"later": ' + b"[" * 100_000),
        FORMAT + zlib.compress(b'{"later": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
        FORMAT + zlib.compress(b'{"owned": {"t0": [-1]}}'),
        FORMAT + zlib.compress(b'{"owned": {"t0": [2147483648]}}'),
        FORMAT + zlib.compress(b'{"generation": 9007199254740993}'),
        FORMAT + zlib.compress(b'{"owned": {"t0": null}}'),
        FORMAT + zlib.compress(b'{"member": "\xff"}'),
        FORMAT + zlib.compress(b" " * (MOST_BYTES + 1)),
        FORMAT + packed(CLAIM)[1:-9],
        b"\x02" + packed(CLAIM)[1:],
    ],
)
def test_what_is_no_claim_claims_nothing(user_data):
    assert unpacked(user_data, Claim) is None


@given(st.binary())
def test_no_bytes_whatever_raise(user_data):
    for sent in (user_data, FORMAT + user_data, FORMAT + zlib.compress(user_data)):
        found = unpacked(sent, Claim)
        assert found is None or isinstance(found, Claim)


def test_a_later_version_may_say_more():
    sent = FORMAT + zlib.compress(b'{"owned": {"t0": [1]}, "rack": "a"}')
    assert unpacked(sent, Claim) == Claim(owned={"t0": [1]})


def test_a_member_claims_only_what_it_still_subscribes_to():
    said = Claim(owned={"t0": [1], "t1": [2]}, generation=4).about({"t1"}, holds=True)
    assert said == Claim(owned={"t1": [2]}, generation=4, holds=True)


def test_what_came_without_a_note_is_claimed_from_no_generation():
    assert claim_after([("t0", (2, 3))], b"") == Claim(owned={"t0": [2, 3]})
