import gc
import logging
import random
import re

import pytest

from live.assignor.planned import optimum
from live.assignor.rebalance import Joined, Rebalance
from tests.live.assignor.lag_aware import AsyncLagAware, LagAware
from tests.live.assignor.playing import AsyncMember, Member, settle

TOPICS = {"t0": 6, "t1": 5}
# kafka-python leaves the socket of a refused connection to the collector, which warns of it.
LEAKS = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture
def collected():
    """Collect garbage in each test, so that its warnings belong to that test."""
    yield
    gc.collect()


@LEAKS
@pytest.mark.usefixtures("collected")
@pytest.mark.parametrize("assignor", [LagAware, AsyncLagAware])
def test_without_offsets_the_plan_is_that_of_the_optimal_assignor_and_a_line_says_so(
    caplog, assignor
):
    members = {name: Joined.of(["t0", "t1"], b"") for name in "abc"}
    rebalance = Rebalance.of(members, {t: range(n) for t, n in TOPICS.items()}.get)
    plan = assignor.solver()(rebalance)
    assert plan == optimum(rebalance, time_limit=5)
    (line,) = [line for line in caplog.records if line.name.startswith("live.")]
    assert line.levelno == logging.WARNING
    assert re.match(
        r"lag is not known, loads alone are balanced \(BadInput: 127\.0\.0\.1:1: .*refused",
        line.getMessage(),
    )


@LEAKS
@pytest.mark.usefixtures("collected")
@pytest.mark.parametrize(("kind", "assignor"), [(Member, LagAware), (AsyncMember, AsyncLagAware)])
def test_without_offsets_a_group_comes_to_rest(kind, assignor):
    party = {"a": kind(TOPICS, assignor), "b": kind(TOPICS, assignor)}
    settle(party, TOPICS)
    assert sorted(len(one.held) for one in party.values()) == [5, 6]


class Restless(LagAware):
    """An assignor that sees another random lag at each call."""

    time_limit = 30
    rng = random.Random(3)

    @classmethod
    def lag(cls, numbers):
        return {(t, n): cls.rng.randint(0, 99) for t, some in numbers.items() for n in some}


def test_a_group_comes_to_rest_while_lag_changes_all_the_time():
    party = {}
    for name in "abcd":
        party[name] = Member(TOPICS, Restless)
        assert settle(party, TOPICS) <= 2
    loads = sorted(len(one.held) for one in party.values())
    assert loads == [2, 3, 3, 3]


def test_the_busiest_member_has_as_little_lag_as_balanced_loads_allow():
    known = {("t0", n): records for n, records in enumerate((90, 60, 30, 20, 10, 6))}

    class Known(LagAware):
        time_limit = 30

        @classmethod
        def lag(cls, numbers):
            return known

    party = {name: Member(["t0"], Known) for name in "ab"}
    settle(party, TOPICS)
    assert sorted(sum(known[p] for p in one.held) for one in party.values()) == [106, 110]
