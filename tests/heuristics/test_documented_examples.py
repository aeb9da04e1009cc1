"""The examples of the StickyAssignor documentation, number by number."""

import pytest

from groups import values
from heuristics import assign

TOPICS_1 = {"t0": 2, "t1": 2, "t2": 2, "t3": 2}
AFTER_FIRST_1 = {
    "C0": {"t0": [0], "t1": [1], "t3": [0]},
    "C1": {"t0": [1], "t2": [0], "t3": [1]},
    "C2": {"t1": [0], "t2": [1]},
}
TOPICS_2 = {"t0": 1, "t1": 2, "t2": 3}
SUBSCRIPTIONS_2 = {"C0": ["t0"], "C1": ["t0", "t1"], "C2": ["t0", "t1", "t2"]}


def preserved(assignment) -> int:
    owned = int((assignment.group.owner >= 0).sum())
    return owned - values(assignment, ("stickiness",))[0]


def without(member: str, mapping: dict) -> dict:
    return {key: value for key, value in mapping.items() if key != member}


@pytest.mark.parametrize("name", ["roundrobin", "kip-54-sticky"])
def test_example_1_starts_alike_with_round_robin_and_sticky(group_of, name):
    group = group_of(TOPICS_1, dict.fromkeys(("C0", "C1", "C2"), TOPICS_1))
    assert assign(group, name).to_dict() == AFTER_FIRST_1


def test_example_1_round_robin_after_c1_left(group_of):
    group = group_of(TOPICS_1, dict.fromkeys(("C0", "C2"), TOPICS_1), without("C1", AFTER_FIRST_1))
    assignment = assign(group, "roundrobin")
    assert assignment.to_dict() == {
        "C0": {"t0": [0], "t1": [0], "t2": [0], "t3": [0]},
        "C2": {"t0": [1], "t1": [1], "t2": [1], "t3": [1]},
    }
    assert preserved(assignment) == 3


def test_example_1_sticky_preserves_all_five_after_c1_left(group_of):
    group = group_of(TOPICS_1, dict.fromkeys(("C0", "C2"), TOPICS_1), without("C1", AFTER_FIRST_1))
    assignment = assign(group, "kip-54-sticky")
    assert assignment.to_dict() == {
        "C0": {"t0": [0], "t1": [1], "t2": [0], "t3": [0]},
        "C2": {"t0": [1], "t1": [0], "t2": [1], "t3": [1]},
    }
    assert preserved(assignment) == 5


def test_example_2_round_robin_is_not_balanced(group_of):
    assignment = assign(group_of(TOPICS_2, SUBSCRIPTIONS_2), "roundrobin")
    assert assignment.to_dict() == {
        "C0": {"t0": [0]},
        "C1": {"t1": [0]},
        "C2": {"t1": [1], "t2": [0, 1, 2]},
    }
    assert not assignment.balanced()


def test_example_2_sticky_gives_each_member_its_own_topic(group_of):
    assignment = assign(group_of(TOPICS_2, SUBSCRIPTIONS_2), "kip-54-sticky")
    assert assignment.to_dict() == {
        "C0": {"t0": [0]},
        "C1": {"t1": [0, 1]},
        "C2": {"t2": [0, 1, 2]},
    }


def test_example_2_round_robin_preserves_three_after_c0_left(group_of):
    owned = {"C1": {"t1": [0]}, "C2": {"t1": [1], "t2": [0, 1, 2]}}
    assignment = assign(group_of(TOPICS_2, without("C0", SUBSCRIPTIONS_2), owned), "roundrobin")
    assert assignment.to_dict() == {
        "C1": {"t0": [0], "t1": [1]},
        "C2": {"t1": [0], "t2": [0, 1, 2]},
    }
    assert preserved(assignment) == 3


def test_example_2_sticky_preserves_five_after_c0_left(group_of):
    owned = {"C1": {"t1": [0, 1]}, "C2": {"t2": [0, 1, 2]}}
    assignment = assign(group_of(TOPICS_2, without("C0", SUBSCRIPTIONS_2), owned), "kip-54-sticky")
    assert assignment.to_dict() == {
        "C1": {"t0": [0], "t1": [0, 1]},
        "C2": {"t2": [0, 1, 2]},
    }
    assert preserved(assignment) == 5
