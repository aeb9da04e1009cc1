"""Consumers as people write them, led one after the other through groups that reuse names."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from assay.commands.probe import score_client
from compare.scores import score_assignors
from heuristics.shipped.probe import Probe
from optimal import solve
from tests.heuristics.shipped.probe.plain_consumers import CONSUMERS
from tests.optimal.small_groups import group_of

pytestmark = pytest.mark.clients

DEADLINE = 60.0
# More consumers at once would starve each other on a busy machine.
TOGETHER = 6
HERE = [one for one in CONSUMERS if one.missing() is None]
READS = {"a": ["t", "u"], "b": ["t"]}
# The same names, with other counts.
GROUPS = (
    group_of({"t": 3, "u": 2}, READS, {"a": {"t": [0]}, "b": {"t": [1, 2]}}, generation=1),
    group_of(
        {"t": 6, "u": 1}, READS | {"c": ["t"]}, {"a": {"t": [0, 1, 2], "u": [0]}}, generation=1
    ),
    group_of({"t": 2, "u": 4}, READS | {"c": ["u"]}),
    # b and c claim some of the same partitions: the later generation decides.
    group_of(
        {"t": 6, "u": 4},
        READS | {"c": ["t", "u"]},
        {"a": {"t": [0, 1]}, "b": {"t": [2, 3, 4]}, "c": {"t": [2, 3, 4, 5], "u": [0]}},
        generation={"a": 5, "b": 4, "c": 5},
    ),
)


def led(consumer, folder):
    """Return the consumer's scores, and its exit code after the probe has dismissed it."""
    with Probe() as probe:
        process = consumer.start(probe.bootstrap, folder)
        try:
            rows = [
                score_client(probe, group, solve(group), None, timeout=DEADLINE)
                for group in GROUPS
            ]
            probe.dismiss(DEADLINE)
            return rows, process.wait(DEADLINE)
        finally:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    folders = [tmp_path_factory.mktemp(one.client) for one in HERE]
    with ThreadPoolExecutor(TOGETHER) as pool:
        begun = [pool.submit(led, *pair) for pair in zip(HERE, folders, strict=True)]
    return dict(zip(HERE, begun, strict=True))


def said(row):
    terms = None if row.terms is None else [(term.value, term.excess) for term in row.terms]
    return row.status, row.reason, row.valid, terms, row.rounds, row.revoked, row.loads


@pytest.mark.parametrize("consumer", CONSUMERS, ids=lambda one: one.shipped)
def test_the_rows_of_a_consumer_are_those_of_the_shipped_assignor_and_it_ends_when_told_to(
    outcomes, limit, consumer
):
    if consumer not in HERE:
        pytest.skip(consumer.missing())
    rows, code = outcomes[consumer].result()
    assert code == 0
    assert {row.assignor.partition("/")[0].rstrip("-0123456789.") for row in rows} == {
        consumer.called.rstrip("-0123456789.")
    }
    assert {row.assignor.partition("/")[2] for row in rows} == {consumer.shipped.partition("/")[2]}
    for group, row in zip(GROUPS, rows, strict=True):
        (shipped,) = score_assignors(group, solve(group), [consumer.shipped], limit)
        assert said(row) == said(shipped)
