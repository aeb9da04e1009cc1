import pytest

from groups import Group
from optimal import Solution, solve
from tests.optimal.judging import KIP_54
from tests.optimal.small_groups import group_of


@pytest.fixture
def group() -> Group:
    """A group of levels 0, 2 and 2, in which c1 owns too much of a topic that c2 also reads."""
    reads = {"c0": ["t0"], "c1": ["t0", "t1"], "c2": ["t1"]}
    owned = {"c1": {"t0": [0], "t1": [0, 1, 2, 3]}}
    return group_of({"t0": 1, "t1": 5, "t9": 1}, reads, owned)


@pytest.fixture
def solution(group) -> Solution:
    return solve(group, KIP_54, method="flow")
