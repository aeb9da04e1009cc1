"""One broker for all tests of a process: each uses topics and groups of its own names."""

import pytest

from groups import BadInput
from live.broker import Broker


@pytest.fixture(scope="session")
def broker():
    try:
        started = Broker.start()
    except BadInput as reason:
        pytest.skip(str(reason))
    with started:
        yield started
