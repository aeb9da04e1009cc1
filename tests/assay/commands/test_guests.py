"""``--probe``: a client that joins, in the commands that take assignors."""

import json
import signal
import socket
import subprocess
import sys
from dataclasses import replace

import pytest

from heuristics.shipped.consumers.consumer import LIBRDKAFKA, PROGRAM
from tests.assay.calling import ASSAY, EVEN, write
from tests.heuristics.shipped.probe.frames import DEADLINE, JOIN
from tests.heuristics.shipped.probe.plain_consumers import CONSUMERS

pytestmark = pytest.mark.clients

MISSING = LIBRDKAFKA.missing("range", LIBRDKAFKA.versions()[0])
needs_a_client = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
PLAIN = CONSUMERS[0]
AT_ONCE = '{"initialRetryTime": 1, "maxRetryTime": 1, "retries": 1000000000}'
EVENTS = [{"leave": ["a"]}]
SCENARIO = {"format": "assay-scenario/1", "name": "s", "group": EVEN, "events": EVENTS}


def beside(start, command):
    """Run a command, and a consumer of its address; return exit code, output and error output."""
    pipe = subprocess.PIPE
    with subprocess.Popen([ASSAY, *command], stdout=pipe, stderr=pipe, text=True) as running:
        bootstrap = running.stderr.readline().strip().removeprefix("bootstrap.servers=")
        client = start(bootstrap)
        try:
            out, err = running.communicate(timeout=120)
        finally:
            running.kill()
            client.kill()
            client.communicate()
    return running.returncode, out, err


def beside_a_client(*command):
    program = (sys.executable, str(PROGRAM))
    return beside(
        lambda bootstrap: subprocess.Popen(
            [*program, bootstrap, "g", "range"], stdin=subprocess.PIPE
        ),
        command,
    )


@needs_a_client
def test_a_client_that_joins_is_hunted():
    options = ("--promise", "balanced", "--seconds", "2", "--format", "json")
    code, out, err = beside_a_client("hunt", "--probe", *options)
    assert out, err
    found = json.loads(out)
    assert (found["assignor"], found["promise"]) == ("librdkafka/range", "balanced")
    assert found["command"].startswith("assay hunt range --probe --promise balanced --seed 1 ")
    # The client names itself librdkafka, but not its version.
    assert set(found["environment"]) == {"kafka-assay"}
    assert code == 1
    assert "librdkafka/range has joined\n" in err


@needs_a_client
def test_a_client_that_joins_is_held_to_the_corpus():
    options = ("--groups", "40", "--promise", "valid", "--promise", "balanced", "--format", "json")
    code, out, err = beside_a_client("conformance", "--probe", *options)
    told = json.loads(out)
    assert (code, told["assignor"], told["of"] > told["groups"]) == (
        1,
        "librdkafka/range",
        True,
    ), err
    valid, balanced = told["promises"]
    assert (valid["broken"], len(valid["kept"]) > 20) == ([], True)
    assert balanced["broken"]
    assert f"librdkafka/range: {told['groups']} of {told['of']} groups\n" in err


def kafkajs_hunted(tmp_path, *topics):
    """Hunt a plain KafkaJS consumer for 4 s, as `beside_a_client` does."""
    consumer = replace(CONSUMERS[3], topics=topics, options={"RETRY": AT_ONCE})
    if (reason := consumer.missing()) is not None:
        pytest.skip(reason)
    command = ("hunt", "--probe", "--promise", "valid", "--seconds", "4", "--format", "json")
    return beside(lambda bootstrap: consumer.start(bootstrap, tmp_path), command)


def test_a_client_that_deals_out_what_it_reads_itself_is_hunted_by_spare_topics(tmp_path):
    code, out, err = kafkajs_hunted(tmp_path, r"/^assay-probe-\d+$/")
    assert code == 1, err
    found = json.loads(out)
    assert found["assignor"] == "my-app/RoundRobinAssigner"
    # As with KafkaJS's own assigner, the leader gives all members only what it reads itself.
    assert found["measured"]["first"][0].endswith("with nobody: unassigned")
    assert len(found["group"]["members"]) == 2


@pytest.mark.parametrize(
    ("topic", "said"),
    [
        (
            "assay-probe",
            "the client deals out what it reads itself: it has to read assay-probe-01 to "
            "assay-probe-32, instead of assay-probe",
        ),
        (
            "t",
            "it reads t, which is not asked about: let it read assay-probe, or assay-probe-01 to "
            "assay-probe-32",
        ),
    ],
)
def test_a_client_that_reads_what_no_hunt_has_is_told_what_to_read(tmp_path, topic, said):
    code, out, err = kafkajs_hunted(tmp_path, topic)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1] == f"assay: my-app/RoundRobinAssigner: {said}"


@needs_a_client
def test_a_client_that_joins_is_played_through_a_scenario_beside_others(tmp_path):
    write(tmp_path, {"s.json": SCENARIO})
    options = (str(tmp_path / "s.json"), "--assignor", "range", "--format", "json")
    code, out, err = beside_a_client("scenario", "--probe", *options)
    assert code == 0, err
    optimum, written, joined = json.loads(out)["journeys"]
    assert (optimum["assignor"], written["assignor"]) == ("optimum", "range")
    assert joined["assignor"] == "librdkafka/range"
    assert joined["total"] == written["total"]


@needs_a_client
@pytest.mark.parametrize("command", [("scenario", "s.json"), ("hunt", "--promise", "valid")])
def test_each_plan_of_a_client_has_the_time_limit_that_is_given(tmp_path, command):
    write(tmp_path, {"s.json": SCENARIO})
    options = ("--probe", "--time-limit", "0.2")
    with subprocess.Popen(
        [ASSAY, *command, *options], stderr=subprocess.PIPE, text=True, cwd=tmp_path
    ) as running:
        said = iter(running.stderr.readline, "")
        host, _, port = next(said).strip().removeprefix("bootstrap.servers=").partition(":")
        joined = []
        try:
            for expected in ("x/range has joined", "no answer"):
                # A client that asks to join, and then says nothing.
                joined.append(socket.create_connection((host, int(port)), timeout=DEADLINE))
                joined[-1].sendall(JOIN)
                line = next(line for line in said if expected in line)
            assert "no answer within 0.2 s" in line
        finally:
            running.kill()
            for one in joined:
                one.close()


def ends(command, consumer, folder, *, when):
    """Run a command and a consumer; return both exit codes and the last line of error output.

    Parameters
    ----------
    when : is called with the command once a first row is there
    """
    pipe = subprocess.PIPE
    with subprocess.Popen([ASSAY, *command], stdout=pipe, stderr=pipe, text=True) as running:
        bootstrap = running.stderr.readline().strip().removeprefix("bootstrap.servers=")
        process = consumer.start(bootstrap, folder)
        try:
            next(line for line in running.stdout if f"{consumer.called}/" in line)
            when(running)
            _, err = running.communicate(timeout=DEADLINE)
            return running.returncode, process.wait(DEADLINE), err.splitlines()[-1]
        finally:
            running.kill()
            process.kill()
            process.wait()


@needs_a_client
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_consumer_is_told_to_go_where_the_probe_is_stopped(tmp_path, number, code):
    file = write(tmp_path, {"many.jsonl": [EVEN] * 5000}) / "many.jsonl"
    found = ends(("probe", file), PLAIN, tmp_path, when=lambda one: one.send_signal(number))
    assert found == (code, 0, "assay: interrupted")


@needs_a_client
def test_a_consumer_is_told_to_go_where_a_group_is_refused(tmp_path):
    known = {**EVEN, "topics": {"t": {"partitions": 2, "lag": [1, 2]}}}
    file = write(tmp_path, {"two.jsonl": [known, EVEN]}) / "two.jsonl"
    asked = ("probe", file, "--objective", "peak_lag")
    said = "assay: topics.t.lag[0]: unknown, but tier peak_lag needs it (and 1 more)"
    assert ends(asked, PLAIN, tmp_path, when=lambda _: None) == (2, 0, said)
