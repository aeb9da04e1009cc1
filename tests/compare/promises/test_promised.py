"""Who promises what."""

import pytest

from compare.promises.promise import PROMISES, is_promised, promises_of
from heuristics import WRITTEN, assignors

OF_BALANCE = {"balanced", "optimal-balance", "optimal-moves"}
OF_ALL = {"terminates", "answers", "valid", "idempotent"}


@pytest.mark.parametrize("name", [name for name in assignors() if "/" in name])
def test_of_the_shipped_assignors_the_sticky_and_uniform_ones_balance_over_all_topics(name):
    balances = "sticky" in name or "/uniform@" in name
    expected = OF_ALL | (OF_BALANCE if balances else set())
    assert set(promises_of(name)) - {"settles"} == expected
    assert ("settles" in promises_of(name)) == ("/cooperative-sticky@" in name)


def test_of_those_as_written_three_do_not_balance_over_all_topics():
    without = {name for name in WRITTEN if not OF_BALANCE & set(promises_of(name))}
    assert without == {"range", "roundrobin", "kip-169-lag"}
    assert all(set(promises_of(name)) >= OF_BALANCE for name in set(WRITTEN) - without)


@pytest.mark.parametrize("name", ["mine:range", "mine:deal", "my-app/least-loaded", "a/b/sticky"])
def test_an_assignor_that_nobody_knows_is_held_to_every_promise_but_those_of_a_single_one(name):
    assert promises_of(name) == tuple(n for n in PROMISES if n not in ("settles", "no-revert"))


def test_a_client_that_joined_the_probe_is_known_by_its_name_on_the_wire():
    for name in ("librdkafka/range", "my-app/RoundRobinAssigner", "a/b/roundrobin"):
        assert not is_promised("balanced", name)
        assert is_promised("valid", name)
