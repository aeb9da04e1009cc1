import os
import signal
import sys
import threading
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import psutil
import pytest

from compare.promises.findings import read_findings
from compare.samples.drawn import drawn
from groups import Failed
from heuristics import assign, assignor_named
from heuristics.assignor import Unavailable, attempt
from heuristics.shipped.consumers import driver_process
from heuristics.shipped.consumers.consumer import LIBRDKAFKA, PROGRAM
from heuristics.shipped.consumers.driver_process import DriverProcess
from heuristics.shipped.probe import Late
from heuristics.time_limit import TimeLimit
from tests.optimal.small_groups import group_of
from tests.processes import LONG, below, gone, halt, until

VERSION = LIBRDKAFKA.versions()[0]
MISSING = LIBRDKAFKA.missing("range", VERSION)
pytestmark = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))

FINDINGS = Path(__file__).parents[4] / "corpus" / "findings.jsonl"
COMMAND = LIBRDKAFKA.command


def drivers(besides=()):
    """Return the ids of the client processes below this process, besides some."""
    words = {pid: Path(f"/proc/{pid}/cmdline").read_text() for pid in below(os.getpid())}
    return [pid for pid, said in words.items() if str(PROGRAM) in said and pid not in besides]


def test_the_version_that_is_listed_is_the_one_that_runs():
    import confluent_kafka

    assert confluent_kafka.libversion()[0] == VERSION


@pytest.mark.parametrize("name", ["range", "roundrobin"])
def test_plans_are_those_of_the_documented_assignor_by_validity_and_loads(planned, name):
    for group in islice(drawn(21), 120):
        found, expected = planned(group, f"librdkafka/{name}").assignment, assign(group, name)
        assert found.is_valid
        np.testing.assert_array_equal(found.loads, expected.loads)


def test_cooperative_sticky_is_valid_and_balanced_where_subscriptions_are_equal(planned):
    equal = (g for g in drawn(22) if (g.reads == len(g.topics)).all())
    for group in islice(equal, 50):
        found = planned(group, "librdkafka/cooperative-sticky").assignment
        assert found.is_valid
        assert np.ptp(found.loads) <= 1


def test_claims_of_an_older_generation_yield_and_others_stay(planned):
    for claimed, rounds in (([0, 1], (2, 1)), ([3], (1, 0))):
        owned = {"a": {"t": claimed}, "b": {"t": [0, 2]}}
        group = group_of({"t": 4}, {"a": ["t"], "b": ["t"]}, owned, generation={"a": 2, "b": 3})
        made = planned(group, "librdkafka/cooperative-sticky")
        assert made.assignment.to_dict() == {"a": {"t": [1, 3]}, "b": {"t": [0, 2]}}
        assert (made.rounds, made.revoked) == rounds


def test_two_claims_of_one_generation_leave_both_members_what_nobody_disputes(planned):
    owned = {"a": {"t": [0, 1]}, "b": {"t": [0, 2]}}
    group = group_of({"t": 4}, {"a": ["t"], "b": ["t"]}, owned, generation=3)
    found = planned(group, "librdkafka/cooperative-sticky").assignment
    assert found.is_valid
    assert (found.owner[1], found.owner[2]) == (0, 1)


def test_a_crash_is_a_failed_row_and_the_next_group_is_planned_as_others_plan_the_same_one(
    limit, planned, group
):
    named = {finding.id: finding for finding in read_findings(FINDINGS)}
    crashing = named["librdkafka-cooperative-sticky-answers"].group
    outcome = limit.plan(crashing, "librdkafka/cooperative-sticky@2.16.0")
    if VERSION == "2.16.0":
        assert outcome.status == "failed"
        assert outcome.reason.startswith("the client died: exit code -")
    assert planned(group, "librdkafka/cooperative-sticky").assignment.is_valid
    for name in ("range", "roundrobin"):
        assert planned(crashing, f"librdkafka/{name}").assignment.is_valid, name


def test_a_client_killed_in_a_round_is_said_to_have_died_and_is_started_again(started, group):
    others, driver = drivers(), started(*COMMAND)
    driver.plan(group, "range")
    (client,) = drivers(others)
    halt(client)
    # After 3 s the round has begun, even on a busy machine.
    threading.Timer(3.0, os.kill, (client, signal.SIGKILL)).start()
    with pytest.raises(Failed, match=r"^the client died: exit code -9 \(SIGKILL\)$"):
        driver.plan(group, "range")
    assert driver.plan(group, "range")[0]


def test_a_program_that_does_not_start_gives_its_own_reason(started, group):
    driver = started(sys.executable, "-c", "import nowhere")
    with pytest.raises(Failed, match=r"^the client died: exit code 1: ModuleNotFoundError: "):
        driver.plan(group, "range")


def test_a_client_that_hangs_is_killed_when_its_time_is_up_and_started_again(
    started, group, monkeypatch
):
    others, driver = drivers(), started(*COMMAND)
    driver.plan(group, "range")
    (client,) = drivers(others)
    halt(client)
    with monkeypatch.context() as brief:
        brief.setattr(driver_process, "WAIT_SECONDS", 1.0)
        # The client is halted before or after it joins again.
        with pytest.raises(
            (Late, Unavailable), match=r"^(no answer|the client did .*) within 1 s$"
        ):
            driver.plan(group, "range", seconds=1)
    gone(client)
    assert driver.plan(group, "range")[0]


def test_a_client_ends_with_the_time_limit_that_it_ran_in(group):
    others = drivers()
    with TimeLimit(LONG) as limit:
        assert limit.plan(group, "librdkafka/range").status == "planned"
        (client,) = drivers(others)
    gone(client)


def test_another_version_than_the_installed_one_is_unavailable():
    reason = LIBRDKAFKA.missing("range", "1.0.0")
    assert reason.endswith("for another: in the clone of kafka-assay, pip install '.[clients]'")
    with TimeLimit(1) as limit:
        assert limit.plan(next(drawn(1)), "librdkafka/range@1.0.0").status == "unavailable"


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


@pytest.fixture
def started():
    processes = []

    def start(*command):
        processes.append(DriverProcess(command, "range"))
        return processes[-1]

    yield start
    for process in processes:
        process.close()


@pytest.mark.parametrize("name", LIBRDKAFKA.assignors)
def test_a_driver_is_started_once_for_all_groups(name):
    process = driver_process.driver_process(LIBRDKAFKA.command, name)
    before, pids = drivers(), set()
    try:
        for group in islice(drawn(71), 40):
            plan = partial(assignor_named(f"librdkafka/{name}").function, seconds=LONG)
            assert attempt(plan, group).status in ("planned", "refused")
            pids.update(drivers(before))
        assert len(pids) <= 1
    finally:
        process.close()


def test_joining_takes_no_part_of_the_limit(started, group):
    slow = started(sys.executable, "-c", SLOWLY)
    _, seconds = slow.plan(group, "range", seconds=0.9)
    assert seconds < 0.9


def test_a_second_look_at_a_plan_takes_no_part_of_the_limit(group):
    with TimeLimit(0.3) as limit:
        outcomes = [limit.plan(group, "librdkafka/range") for _ in range(5)]
    assert [(one.status, one.reason) for one in outcomes] == [("planned", None)] * 5


def test_a_client_that_never_joins_is_unavailable_and_not_late(started, group, monkeypatch):
    monkeypatch.setattr(driver_process, "WAIT_SECONDS", 0.5)
    never = started(sys.executable, "-c", "import time; time.sleep(600)")
    outcome = attempt(partial(never.plan, protocol="range", seconds=LONG), group)
    said = "the client did not join within 0.5 s"
    assert (outcome.status, outcome.reason) == ("unavailable", said)


def test_a_client_that_does_not_join_again_is_unavailable_and_not_late(
    started, group, monkeypatch, tmp_path
):
    client = started(sys.executable, "-c", LEAVES, str(tmp_path))
    client.plan(group, "range")
    (tmp_path / "leave").touch()
    until(lambda: (tmp_path / "left").exists() and not _closes())
    monkeypatch.setattr(driver_process, "WAIT_SECONDS", 0.5)
    outcome = attempt(partial(client.plan, protocol="range", seconds=LONG), group)
    said = "the client did not join again within 0.5 s"
    assert (outcome.status, outcome.reason) == ("unavailable", said)


def _closes():
    """Whether this process's coordinator thread has not yet noticed a closed connection."""
    return any(one.status == "CLOSE_WAIT" for one in psutil.Process().net_connections("tcp"))


def test_the_limit_is_on_the_sum_of_the_rounds(started, group):
    client = started(*COMMAND)
    _, seconds = client.plan(group, "range", seconds=LONG, spent=LONG - 60)
    assert seconds < 60
    with pytest.raises(Late, match=rf"^no answer within {LONG:g} s$"):
        client.plan(group, "range", seconds=LONG, spent=LONG)
