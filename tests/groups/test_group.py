"""Group: built from columns or a document, immutable, and who owned what."""

import numpy as np
import pytest

from groups import BadInput, Group
from groups.collection import readers_of_nothing
from tests.optimal.small_groups import document, group_of

ARRAYS = {
    "group": "g",
    "topics": ["t0", "t1"],
    "partitions": [2, 3],
    "members": ["c0", "c1"],
    "subscription_indptr": [0, 2, 3],
    "subscription_topics": [0, 1, 1],
    "owner": [0, -1, 1, 1, 0],
    "lag": [5, -1, 0, 7, 1],
    "weight": [1, 2, 3, 4, 5],
}


def claim(*numbers, generation=None, reads=("t",), topic="t") -> dict:
    found = {"subscription": list(reads), "owned": {topic: list(numbers)}}
    return found if generation is None else found | {"generation": generation}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"topics": {"t0", "t1"}}, "topics: set, expected a list of names"),
        ({"topics": "ab"}, "topics: str, expected a list of names"),
        ({"members": {"c0": 1, "c1": 2}.keys()}, "members: dict_keys, expected a list of names"),
        ({"partitions": [2, -1], "owner": None}, r"partitions\[1\]: -1, expected 0 or more"),
    ],
)
def test_columns_of_no_order_or_below_0_are_refused(change, message):
    assert repr(Group.from_arrays(**ARRAYS)) == "Group('g', 2 topics, 5 partitions, 2 members)"
    with pytest.raises(BadInput, match=f"^{message}"):
        Group.from_arrays(**(ARRAYS | change))


def test_what_there_is_not_has_no_subscription_and_no_subscribers():
    group = Group.from_arrays(**ARRAYS)
    for ask, what in ((group.subscribers, "topic"), (group.subscription, "member")):
        assert ask(np.int32(1)).tolist() == ask(1).tolist()
        for wrong, expected in (
            (2, f"but there are 2 {what}s"),
            (-1, "expected a whole number of 0 or more"),
            (0.5, "expected a whole number of 0 or more"),
        ):
            with pytest.raises(BadInput, match=f"^{what}: {wrong}, {expected}$"):
                ask(wrong)


def test_after_the_greatest_generation_of_64_bits_there_is_none():
    group = Group.from_dict(document({"t": 1}, {"a": claim(0, generation=2**63 - 1)}))
    assert group.next_generation == 2**63 - 1
    assert group.with_claims([0], [0], generation=group.next_generation).owner.tolist() == [0]


def test_subscriptions_that_are_not_known_keep_claims_and_must_be_assumed():
    members = {"c0": {"owned": {"t": [0]}}, "c1": {"subscription": None}, "c2": claim(1)}
    group = Group.from_dict(document({"t": 2, "u": 1}, members))
    assert group.subscription_known.tolist() == [False, False, True]
    assert group.owner.tolist() == [0, 2, -1]
    message = (
        r"members\.c0\.subscription: unknown \(and 1 more\); "
        r"group\.with_equal_subscriptions\(\) takes them as all topics"
    )
    for ask in (group.require_subscriptions, lambda: group.subscribers(0)):
        with pytest.raises(BadInput, match=message):
            ask()
    # Such a member may read any topic, and is not said to read all.
    assert group.subscribes(np.array([0, 1, 2]), np.array([1, 1, 1])).tolist() == [
        True,
        True,
        False,
    ]
    assert not group.everybody_reads_all
    equal = group.with_equal_subscriptions()
    equal.require_subscriptions()
    assert not equal.everybody_reads_all
    assert equal.subscribers(0).tolist() == [0, 1, 2]
    # Nobody holds a partition of u, so nobody reads it.
    assert [equal.subscription(member).tolist() for member in range(3)] == [[0], [0], [0]]
    assert equal.owner.tolist() == group.owner.tolist()
    assert equal.assumed == (
        "subscription of 2 members unknown, taken as the 1 topic that somebody holds",
    )
    assert group.assumed == ()
    assert equal.with_equal_subscriptions() is equal
    # It is written down with what was assumed before.
    alone = Group.from_dict(document({"t": 1}, {"c0": {}}, assumed=["t: 1 partition"]))
    assert alone.with_equal_subscriptions().everybody_reads_all
    written = alone.with_equal_subscriptions().to_dict()
    assert written["members"]["c0"]["subscription"] == ["t"]
    said = "subscription of 1 member unknown, taken as the 1 topic of the group"
    assert written["assumed"] == ["t: 1 partition", said]


def test_an_unknown_lag_can_be_filled_in_and_that_is_said():
    topics = {"t": {"partitions": 3, "lag": [4, None, 0]}, "u": 1}
    group = Group.from_dict(document(topics, {"c0": claim(0)}))
    assert group.lag_records.tolist() == [4, -1, 0, -1]
    filled = group.with_unknown_lag(9)
    assert filled.lag_records.tolist() == [4, 9, 0, 9]
    assert filled.assumed == ("lag of 2 partitions unknown, taken as 9",)
    assert filled.with_unknown_lag(1).assumed == filled.assumed
    with pytest.raises(BadInput, match="lag: -1, expected 0 or more"):
        group.with_unknown_lag(-1)


def test_racks_say_who_is_near_a_replica():
    topics = {"t": {"partitions": 3, "racks": [["b", "a"], [], ["c"]]}}
    members = {"c0": {"rack": "a"}, "c1": {"rack": "d"}, "c2": {}}
    racks = Group.from_dict(document(topics, members)).racks
    assert racks.names == ("a", "b", "c", "d")
    assert racks.member.tolist() == [0, 3, -1]
    misses = [racks.misses(np.full(3, m), np.arange(3)).tolist() for m in range(3)]
    assert misses == [[False, True, True], [True] * 3, [True] * 3]
    assert [racks.of_set(int(s)) for s in racks.replicas] == [["a", "b"], [], ["c"]]


def reading(name: str, **reads: list[str] | None) -> Group:
    return group_of({"t": 1}, reads, name=name)


def test_members_that_read_only_topics_that_do_not_exist_are_named_in_one_line():
    some = reading("g", a=["t", "gone"], b=["gone"], c=[], d=None)
    line = "1 member reads only topics that do not exist: b (gone)"
    assert readers_of_nothing([some]) == line
    assert readers_of_nothing([some.only([0, 2, 3])]) is None
    many = reading("g", **{f"c{i}": ["x", "y", "z", "zz"] for i in range(5)})
    assert readers_of_nothing([many, reading("h", a=["t"])]) == (
        "5 members read only topics that do not exist: c0 of g (x, y, z and 1 more), "
        "c1 of g (x, y, z and 1 more), c2 of g (x, y, z and 1 more) and 2 more"
    )
