import pytest

from heuristics.time_limit import TimeLimit
from tests.heuristics.shipped.consumers.leading import SECONDS


@pytest.fixture(scope="module")
def limit():
    with TimeLimit(SECONDS) as running:
        yield running
