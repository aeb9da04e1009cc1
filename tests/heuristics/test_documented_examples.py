"""The examples of the StickyAssignor documentation, number by number."""

from groups import values
from heuristics import assign
from tests.optimal.small_groups import group_of

TOPICS_1 = {"t0": 2, "t1": 2, "t2": 2, "t3": 2}
FRESH_1 = {
    "C0": {"t0": [0], "t1": [1], "t3": [0]},
    "C1": {"t0": [1], "t2": [0], "t3": [1]},
    "C2": {"t1": [0], "t2": [1]},
}
TOPICS_2 = {"t0": 1, "t1": 2, "t2": 3}
READS_2 = {"C0": ["t0"], "C1": ["t0", "t1"], "C2": ["t0", "t1", "t2"]}
DEALT_2 = {"C0": {"t0": [0]}, "C1": {"t1": [0]}, "C2": {"t1": [1], "t2": [0, 1, 2]}}
STICKY_2 = {"C0": {"t0": [0]}, "C1": {"t1": [0, 1]}, "C2": {"t2": [0, 1, 2]}}
# Of each example: who reads what, what they owned, what they get, and how much of it they owned.
EXAMPLES = [
    ("roundrobin", TOPICS_1, dict.fromkeys(FRESH_1, TOPICS_1), {}, FRESH_1, 0),
    ("kip-54-sticky", TOPICS_1, dict.fromkeys(FRESH_1, TOPICS_1), {}, FRESH_1, 0),
    ("roundrobin", TOPICS_1, dict.fromkeys(("C0", "C2"), TOPICS_1), FRESH_1, {
        "C0": {"t0": [0], "t1": [0], "t2": [0], "t3": [0]},
        "C2": {"t0": [1], "t1": [1], "t2": [1], "t3": [1]},
    }, 3),
    ("kip-54-sticky", TOPICS_1, dict.fromkeys(("C0", "C2"), TOPICS_1), FRESH_1, {
        "C0": {"t0": [0], "t1": [1], "t2": [0], "t3": [0]},
        "C2": {"t0": [1], "t1": [0], "t2": [1], "t3": [1]},
    }, 5),
    ("roundrobin", TOPICS_2, READS_2, {}, DEALT_2, 0),
    ("kip-54-sticky", TOPICS_2, READS_2, {}, STICKY_2, 0),
    ("roundrobin", TOPICS_2, {m: READS_2[m] for m in ("C1", "C2")}, DEALT_2, {
        "C1": {"t0": [0], "t1": [1]}, "C2": {"t1": [0], "t2": [0, 1, 2]},
    }, 3),
    ("kip-54-sticky", TOPICS_2, {m: READS_2[m] for m in ("C1", "C2")}, STICKY_2, {
        "C1": {"t0": [0], "t1": [0, 1]}, "C2": {"t2": [0, 1, 2]},
    }, 5),
]  # fmt: skip


def test_each_example_gives_what_it_says_and_preserves_as_much():
    for name, topics, reads, before, after, preserved in EXAMPLES:
        group = group_of(topics, reads, {m: held for m, held in before.items() if m in reads})
        made = assign(group, name)
        assert made.to_dict() == after
        assert (group.owner >= 0).sum() - values(made, ("stickiness",))[0] == preserved
