"""A client that is asked on the wire stays joined, and its limit is the assignor's time alone."""

import sys
import time
from functools import partial
from itertools import islice

import pytest

from compare.samples.drawn import drawn
from heuristics.assignor import attempt
from heuristics.shipped import CLIENTS
from heuristics.shipped.consumers import driver_process
from heuristics.shipped.consumers.consumer import LIBRDKAFKA, PROGRAM, Consumer
from heuristics.shipped.consumers.driver_process import DriverProcess
from heuristics.shipped.probe import Late
from heuristics.time_limit import TimeLimit

CONSUMERS = [client for client in CLIENTS.values() if isinstance(client, Consumer)]
ON_THE_WIRE = [(client, name) for client in CONSUMERS for name in client.assignors]
PROGRAM = PROGRAM
needs_librdkafka = pytest.mark.skipif(
    LIBRDKAFKA.missing("range", LIBRDKAFKA.versions()[0]) is not None,
    reason="confluent-kafka is not installed",
)
# Longer than any limit of these tests: only what never ends takes as long.
LONG = 120.0
LEAVES = """
import pathlib, sys, time
from confluent_kafka import Consumer
folder, bootstrap, group, _ = sys.argv[1:]
consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group})
consumer.subscribe(["assay-probe"])
while not (pathlib.Path(folder) / "leave").exists():
    consumer.poll(0.1)
consumer.close()
(pathlib.Path(folder) / "left").touch()
time.sleep(600)
"""
SLOWLY = f"import sys, time; time.sleep(1); exec(open({str(PROGRAM)!r}).read())"


def skip_unless_here(client, name):
    reason = client.missing(name, client.versions()[0])
    if reason is not None:
        pytest.skip(reason)


@pytest.fixture
def started():
    processes = []

    def start(*command):
        processes.append(DriverProcess(command, "range"))
        return processes[-1]

    yield start
    for process in processes:
        process.close()


@pytest.fixture
def group(group_of):
    return group_of({"t": 3, "u": 2}, {"a": ["t"], "b": ["t", "u"]})


@pytest.mark.parametrize(
    ("client", "name"), ON_THE_WIRE, ids=[f"{client.name}-{name}" for client, name in ON_THE_WIRE]
)
def test_a_driver_is_started_once_for_all_groups(client, name):
    skip_unless_here(client, name)
    version = client.versions()[0]
    process = driver_process.driver_process(client.driver.command(version), name)
    before = process.starts
    try:
        for group in islice(drawn(71), 40):
            plan = partial(client.plan, assignor=name, version=version, seconds=LONG)
            assert attempt(plan, group).status in ("planned", "refused")
        assert process.starts - before <= 1
    finally:
        process.close()


@needs_librdkafka
def test_joining_takes_no_part_of_the_limit(started, group):
    slow = started(sys.executable, "-c", SLOWLY)
    _, seconds = slow.plan(group, "range", seconds=0.9)
    assert seconds < 0.9


@pytest.mark.parametrize("client", CONSUMERS, ids=lambda client: client.name)
def test_a_second_look_at_a_plan_takes_no_part_of_the_limit(client, group):
    name = next(iter(client.assignors))
    skip_unless_here(client, name)
    with TimeLimit(0.3) as limit:
        outcomes = [limit.plan(group, f"{client.name}/{name}") for _ in range(5)]
    assert [(one.status, one.reason) for one in outcomes] == [("planned", None)] * 5


@needs_librdkafka
def test_a_client_that_never_joins_is_unavailable_and_not_late(started, group, monkeypatch):
    monkeypatch.setattr(driver_process, "WAIT_SECONDS", 0.5)
    never = started(sys.executable, "-c", "import time; time.sleep(600)")
    outcome = attempt(partial(never.plan, protocol="range", seconds=LONG), group)
    said = "the client did not join within 0.5 s"
    assert (outcome.status, outcome.reason) == ("unavailable", said)


@needs_librdkafka
def test_a_client_that_does_not_join_again_is_unavailable_and_not_late(
    started, group, monkeypatch, tmp_path
):
    client = started(sys.executable, "-c", LEAVES, str(tmp_path))
    client.plan(group, "range")
    (tmp_path / "leave").touch()
    while not (tmp_path / "left").exists():
        time.sleep(0.05)
    monkeypatch.setattr(driver_process, "WAIT_SECONDS", 0.5)
    outcome = attempt(partial(client.plan, protocol="range", seconds=LONG), group)
    said = "the client did not join again within 0.5 s"
    assert (outcome.status, outcome.reason) == ("unavailable", said)


@needs_librdkafka
def test_the_limit_is_on_the_sum_of_the_rounds(started, group):
    client = started(sys.executable, str(PROGRAM))
    _, seconds = client.plan(group, "range", seconds=LONG, spent=LONG - 60)
    assert seconds < 60
    with pytest.raises(Late, match=rf"^no answer within {LONG:g} s$"):
        client.plan(group, "range", seconds=LONG, spent=LONG)
