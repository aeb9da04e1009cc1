from hypothesis import given
from hypothesis import strategies as st

from groups import Group
from heuristics import assign
from tests.optimal.small_groups import group_of


def test_range_gives_the_first_members_of_each_topic_one_more():
    topics = {"t": 7, "u": 2}
    assignment = assign(group_of(topics, {"a": topics, "b": topics, "c": topics}), "range")
    assert assignment.to_dict() == {
        "a": {"t": [0, 1, 2], "u": [0]},
        "b": {"t": [3, 4], "u": [1]},
        "c": {"t": [5, 6]},
    }


def test_members_with_an_instance_id_come_first_and_by_it():
    document = group_of({"t": 4}, {m: ["t"] for m in "abcd"}).to_dict()
    document["members"]["c"]["instance_id"] = "y"
    document["members"]["d"]["instance_id"] = "x"
    group = Group.from_dict(document)
    for name in ("range", "roundrobin"):
        assert assign(group, name).to_dict() == {
            "a": {"t": [2]},
            "b": {"t": [3]},
            "c": {"t": [1]},
            "d": {"t": [0]},
        }


@given(
    counts=st.lists(st.integers(0, 5), min_size=1, max_size=4),
    subscriptions=st.lists(st.sets(st.integers(0, 3)), min_size=1, max_size=5),
)
def test_round_robin_walks_round_the_members_one_by_one(counts, subscriptions):
    group = group_of(
        {f"t{t}": count for t, count in enumerate(counts)},
        {f"m{m}": [f"t{t}" for t in topics] for m, topics in enumerate(subscriptions)},
    )
    expected, turn = [], 0
    for topic, count in enumerate(counts):
        for _ in range(count):
            if not any(topic in topics for topics in subscriptions):
                expected.append(-1)
                continue
            while topic not in subscriptions[turn % len(subscriptions)]:
                turn += 1
            expected.append(turn % len(subscriptions))
            turn += 1
    assert assign(group, "roundrobin").owner.tolist() == expected
