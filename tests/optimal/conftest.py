import pytest

from groups import Group
from optimal import Solution, solve
from tests.optimal.judging import KIP_54


@pytest.fixture
def group() -> Group:
    """Three members of levels 0, 2 and 2; c1 owned too much of what c2 reads too."""
    return Group.from_dict(
        {
            "format": "assay-group/1",
            "group": "g",
            "topics": {"t0": 1, "t1": 5, "t9": 1},
            "members": {
                "c0": {"subscription": ["t0"]},
                "c1": {"subscription": ["t0", "t1"], "owned": {"t0": [0], "t1": [0, 1, 2, 3]}},
                "c2": {"subscription": ["t1"]},
            },
        }
    )


@pytest.fixture
def solution(group) -> Solution:
    return solve(group, KIP_54, method="flow")
