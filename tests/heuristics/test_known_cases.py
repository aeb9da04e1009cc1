"""Where what ships agrees with what is written: sorted loads and moves, release 4.4.0.

Shapes from Apache Kafka's own tests; the numbers are what its assignors returned.
"""

import pytest

from groups import values
from heuristics import assign

ALL = ("t0", "t1", "t2", "t3")
CASES = {
    "staircase subscriptions": (
        {"t0": 1, "t1": 2, "t2": 3},
        {"C0": ["t0"], "C1": ["t0", "t1"], "C2": ["t0", "t1", "t2"]},
        {},
        {"range": ([1, 1, 4], 0), "roundrobin": ([1, 1, 4], 0), "kip-54-sticky": ([1, 2, 3], 0)},
    ),
    "C1 left": (
        dict.fromkeys(ALL, 2),
        {"C0": ALL, "C2": ALL},
        {"C0": {"t0": [0], "t1": [1], "t3": [0]}, "C2": {"t1": [0], "t2": [1]}},
        {"range": ([4, 4], 2), "roundrobin": ([4, 4], 2), "kip-54-sticky": ([4, 4], 0)},
    ),
    "co-partitioned topics": (
        {"t0": 3, "t1": 3},
        {"C0": ["t0", "t1"], "C1": ["t0", "t1"]},
        {},
        {"range": ([2, 4], 0), "roundrobin": ([3, 3], 0), "kip-54-sticky": ([3, 3], 0)},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_text_and_the_release_agree(group_of, case):
    topics, subscriptions, owned, expected = CASES[case]
    group = group_of(topics, subscriptions, owned, 1)
    for name, (loads, moves) in expected.items():
        assignment = assign(group, name)
        assert sorted(assignment.loads.tolist()) == loads
        assert values(assignment, ("stickiness",)) == (moves,)
