"""What classic members write, read: good metadata, odd metadata, and any bytes at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription

from groups import Group
from live.capture.documents import document
from live.capture.membership import (
    Described,
    Member,
    classic,
    consumer,
    held,
    subscribed,
)
from live.capture.messages import (
    Assigned,
    ClassicGroup,
    ClassicMember,
    ConsumerGroup,
    ConsumerMember,
    Partition,
    TopicPartitions,
)
from live.capture.obstacles import Obstacle
from live.capture.offsets import Logs
from live.capture.topics import Topics, matching, names_in, with_nobody
from tests.growth import calls
from tests.live.capture.by_hand import assignment

OWNED = [("t0", [0, 1])]


def metadata(version, topics=("t0", "t1"), user_data=None, rack=None):
    kind = ConsumerProtocolSubscription
    return kind(
        topics=list(topics), user_data=user_data, owned_partitions=[
            kind.TopicPartition(topic=topic, partitions=numbers) for topic, numbers in OWNED
        ], generation_id=7, rack_id=rack, version=version,
    ).encode(version=version)  # fmt: skip


def group(*members, state="Stable", protocol_type="consumer", protocol="range"):
    return ClassicGroup(0, "g", state, protocol_type, protocol, list(members))


def member(name, said, assigned=b""):
    return ClassicMember(name, "client", "/host", said, assigned)


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_subscriptions_of_every_version_are_read(version):
    rack = "a" if version == 3 else None
    said = metadata(version, user_data=b"\xff\0", rack="a")
    assert subscribed(said) == (("t0", "t1"), rack)


def test_a_later_version_is_read_as_the_last_one_that_is_known():
    said = b"\0\x09" + metadata(3, rack="a")[2:] + b"and more"
    assert subscribed(said) == (("t0", "t1"), "a")


def test_a_topic_is_read_once_and_one_without_a_name_not_at_all():
    assert subscribed(metadata(1, ("t1", "", "t0", "t1"))) == (("t0", "t1"), None)


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"\0",
        b"\xff\xff\0\0\0\0\xff\xff\xff\xff",
        metadata(3)[:-3],
        b'{"version": 1}',
        b"\0\0\0\0\0\1\0\1\xff\xff\xff\xff\xff",
        b"\0\0\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\0\0\0\0\0\1\xff\xff\xff\xff\xff\xff",
        b"\0\0\x7f\xff\xff\xff\0\1a",
    ],
    ids=[
        "nothing", "cut version", "negative version", "cut end", "JSON", "no UTF-8",
        "no list", "no name", "a long list that is not there",
    ],
)  # fmt: skip
def test_what_is_no_subscription_is_unknown(said):
    assert subscribed(said) is None
    found = classic(group(member("m", said, assignment({"t0": [1]}))))
    assert found.members[0].subscription is None
    assert found.members[0].held == {"t0": (1,)}


def test_an_assignment_is_what_a_member_holds_whatever_it_claimed_when_it_joined():
    said = member("m", metadata(2), assignment({"t1": [2, 0], "t0": []}))
    (found,) = classic(group(said)).members
    assert found.held == {"t1": (0, 2)}
    assert found.subscription == ("t0", "t1")


def test_a_member_without_an_assignment_holds_nothing():
    assert held(b"") == held(assignment({})) == {}


@pytest.mark.parametrize(
    ("state", "passing", "reason"),
    [
        ("PreparingRebalance", True, "rebalancing"),
        ("CompletingRebalance", True, "rebalancing"),
        ("Dead", False, "does not exist"),
        ("Brooding", False, "unknown state 'Brooding'"),
        ("", False, "unknown state ''"),
    ],
)
def test_states_without_an_assignment_are_obstacles(state, passing, reason):
    found = classic(group(member("m", b"", b""), state=state))
    assert isinstance(found, Obstacle)
    assert reason in found.reason
    assert found.passing == passing


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_no_bytes_break_the_reader(said, assigned):
    found = classic(group(member("m", said, assigned)))
    _check(found)


@given(st.data())
def test_no_damage_to_good_bytes_breaks_the_reader(data):
    pieces = []
    for good in (metadata(3, rack="a"), assignment({"t0": [0, 1], "t1": [2]})):
        found = bytearray(good)
        for at in data.draw(st.lists(st.integers(0, len(good) - 1), max_size=4)):
            found[at] = data.draw(st.integers(0, 255))
        pieces.append(bytes(found))
    _check(classic(group(member("m", *pieces))))


texts = st.text(max_size=5)
numbers = st.lists(st.integers(-(2**31), 2**31 - 1), max_size=3)
assigned = st.builds(Assigned, st.lists(st.builds(TopicPartitions, texts, numbers), max_size=3))
kip_848_members = st.builds(
    ConsumerMember,
    member_id=texts,
    instance_id=st.none() | texts,
    rack_id=st.none() | texts,
    member_epoch=st.integers(-(2**31), 2**31 - 1),
    client_id=texts,
    client_host=texts,
    subscribed_topic_names=st.lists(texts, max_size=3),
    subscribed_topic_regex=st.none() | texts,
    assignment=assigned,
    target_assignment=assigned,
)


@given(texts, st.lists(kip_848_members, max_size=3))
def test_no_answer_of_kip_848_breaks_the_reader(assignor, members):
    _check(consumer(ConsumerGroup(0, "g", "Stable", 1, 1, assignor, members)))


def _check(found):
    """Require that what was read gives a group or an obstacle, and never an exception."""
    if isinstance(found, Described):
        known = Topics()
        said = document(found, names_in(found, known), known, None, Logs(), "2026-11-20T10:00:00Z")
        if not isinstance(said, Obstacle):
            Group.from_dict(said)
            return
        found = said
    assert isinstance(found, Obstacle)
    assert "'g'" in found.reason


def test_partitions_with_nobody_are_those_of_a_classic_group_alone():
    known = Topics({"t": (Partition(0, 1, [1]),)})
    members = (Member("m", ("t",), {}, "client", "/host"),)
    assert with_nobody(Described("g", members), known) == [("t", 0)]
    assert with_nobody(Described("g", members, epochs=(1, 1)), known) == []


NAMES = ["audit", "orders", "orders-v1", "orders.eu", "t0", "t0x", "t1"]


@pytest.mark.parametrize(
    ("pattern", "matched"),
    [
        ("t[0-9]", ["t0", "t1"]),
        ("^t.*", ["t0", "t0x", "t1"]),
        ("(^t[0-9])", ["t0", "t1"]),
        (r"(^orders(\..*)?)|(^t0$)", ["orders", "orders.eu", "t0"]),
        ("(?:t0|t1)x?", ["t0", "t0x", "t1"]),
        (r"\w+[.-]\w+", ["orders-v1", "orders.eu"]),
        (r"t\d", ["t0", "t1"]),
        ("[^t][a-z]*", ["audit", "orders"]),
        ("t0|", ["t0"]),
        ("nothing", []),
    ],
)
def test_a_pattern_matches_whole_names(pattern, matched):
    assert matching(pattern, NAMES) == tuple(matched)


@pytest.mark.parametrize(
    "pattern",
    [
        "(?i)T0", r"\p{L}+", "[[:alpha:]]+", "t{1,2}", "(a+)+", "t*?", "a++", r"\x41", r"(a)\1",
        "(?=t)t0", "t[", "(t", "[9-0]", "t\n", "a" * 301, "(((((t)))))",
        ".*a.*b.*c.*", "(a|b)" * 30, "a?" * 30,
    ],
)  # fmt: skip
def test_of_a_pattern_that_may_mean_something_else_or_take_long_nothing_is_known(pattern):
    assert matching(pattern, NAMES) is None


@given(st.text("ta0.*+?()[]|^$\\-dw", max_size=40))
def test_every_pattern_is_answered(pattern):
    names = ["a" * 249, "t" * 248 + "0", *NAMES]
    found = matching(pattern, names)
    assert found is None or set(found) <= set(names)


@pytest.mark.parametrize("pattern", ["(" * 300, "(a(a(a(" * 42, "[" * 300, "a|" * 150, "(a*" * 99])
def test_looking_at_a_hostile_pattern_takes_little_work(pattern):
    assert calls(matching, pattern, NAMES) < 100_000
