import pytest

from tests.clients import called


@pytest.fixture
def planned(limit):
    """Give a function from a group and a shipped assignor's name to its plan."""

    def plan(group, name):
        outcome = limit.plan(group, called(name).name)
        assert (outcome.status, outcome.reason) == ("planned", None)
        assert 0 < outcome.seconds < limit.seconds or not group.members
        return outcome.plan

    return plan
