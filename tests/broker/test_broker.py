import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer

import pytest

from broker import BROKER_RELEASE, Broker, BrokerDied, Consumer, distribution, settle
from broker.server_properties import HOST, listens
from groups import BadInput
from live.capture import capture
from live.connection import Connection
from tests.processes import in_python

ROOT = Path(__file__).parents[2]
ADDRESS = f"{HOST}:"


def test_a_broker_whose_jars_are_not_here_says_how_to_fetch_them_and_fetches_nothing():
    with pytest.raises(BadInput, match=r"^the jars of a Kafka 9\.9\.9 broker are not here") as no:
        Broker.start("9.9.9")
    assert str(no.value).endswith("python -m broker --fetch 9.9.9")


@pytest.mark.broker
def test_what_is_produced_is_there(broker):
    broker.create_topic("counted", 3)
    broker.produce("counted", {0: 100, 2: 5})
    said = broker.tool("topics", "--describe", "--topic", "counted")
    assert "PartitionCount: 3" in said.stdout
    offsets = broker.tool("get-offsets", "--topic", "counted")
    assert offsets.stdout.split() == ["counted:0:100", "counted:1:0", "counted:2:5"]


@pytest.mark.broker
def test_a_tool_that_there_is_not_is_refused_with_those_that_there_are(broker):
    with pytest.raises(BadInput, match=r"^consumer-group: not a tool; there are acls, configs, "):
        broker.tool("consumer-group", "--list")


@pytest.mark.broker
@pytest.mark.parametrize(
    ("key", "reason", "said"),
    [
        ("offsets.topic.num.partitions", "its folder cannot be formatted", "at least 1"),
        ("authorizer.class.name", "it ended while it started", "ClassNotFoundException: -1"),
    ],
)
def test_a_broker_that_does_not_come_up_ends_with_its_log_and_leaves_nothing(
    tmp_path, monkeypatch, key, reason, said
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(BrokerDied, match=f"{reason}; the end of its log:(?s:.)*{said}"):
        Broker.start(properties={key: "-1"})
    assert [*tmp_path.iterdir()] == []


@pytest.mark.broker
def test_a_broker_that_was_killed_leaves_no_process_and_no_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    broker = Broker.start()
    assert listens(broker.bootstrap)
    broker.kill()
    assert not listens(broker.bootstrap)
    assert [*tmp_path.iterdir()] == []
    broker.stop()


def test_what_asks_a_broker_that_was_ended_is_told_so():
    folder = TemporaryDirectory()
    broker = Broker("4.3.1", folder, heap_mb=64)
    (Path(folder.name) / "log").write_text("its last words\n")
    broker.kill()
    assert broker.log() == "its last words\n"
    with pytest.raises(BrokerDied, match="it is not running; the end of its log:\nits last words"):
        broker.pause()
    with pytest.raises(BrokerDied, match="it has ended"):
        broker.wait()
    with pytest.raises(BrokerDied, match="it was ended, and its folder removed"):
        broker.restart()


@pytest.mark.broker
def test_a_tool_that_does_not_end_is_given_up(broker, monkeypatch):
    monkeypatch.setattr("broker.broker.TOOL_SECONDS", 0.01)
    with pytest.raises(BrokerDied, match=r"TopicCommand has not ended after 0\.01 s"):
        broker.tool("topics", "--list")


@pytest.mark.broker
def test_a_java_has_the_classes_that_are_kept_and_does_without_those_of_no_use(
    broker, tmp_path, monkeypatch
):
    kept = distribution.archive(broker.version)
    if not kept.is_file():
        pytest.skip("the classes are not kept here: python -m broker --keep-classes")
    java, classes = distribution.java(broker.version)
    options = (*distribution.kept_classes(broker.version), "-Xlog:class+load")
    said = subprocess.run(
        distribution.command(java, 64, *options, "kafka.Kafka"), capture_output=True, text=True,
        env=os.environ | {"CLASSPATH": classes}, check=False,
    ).stdout  # fmt: skip
    assert "kafka.Kafka$ source: shared objects file (top)" in said
    useless = tmp_path / "useless.jsa"
    useless.write_bytes(kept.read_bytes()[4096:8192])
    monkeypatch.setattr(distribution, "archive", lambda _: useless)
    broker.create_topic("with-useless-classes", 1)
    listed = broker.tool("topics", "--list")
    assert "with-useless-classes" in listed.stdout.split()
    assert "archive" not in (listed.stdout + listed.stderr)


STARTS_ONE = """
import sys, time
from broker import Broker
print(Broker.start().bootstrap, flush=True)
time.sleep(60)
"""


@pytest.mark.broker
def test_a_broker_ends_with_the_process_that_started_it_however_that_ends(tmp_path):
    # A killed process cannot remove its temporary files: this folder keeps them.
    there = os.environ | {"TMPDIR": str(tmp_path)}
    parent = subprocess.Popen(
        [sys.executable, "-c", STARTS_ONE], stdout=subprocess.PIPE, text=True, env=there
    )
    with parent:
        bootstrap = parent.stdout.readline().strip()
        assert listens(bootstrap)
        parent.kill()
    end = time.monotonic() + 10
    while listens(bootstrap) and time.monotonic() < end:
        time.sleep(0.05)
    assert not listens(bootstrap)


@pytest.mark.broker
def test_a_broker_in_the_foreground_prints_its_address_and_ends_at_ctrl_c():
    command = [sys.executable, "-m", "broker"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ}
    )
    with process:
        bootstrap = process.stdout.readline().strip()
        assert bootstrap.startswith(ADDRESS)
        assert listens(bootstrap)
        process.send_signal(2)
        try:
            assert process.wait(30) == 0
        finally:
            process.kill()
        assert "Traceback" not in process.stderr.read()
    assert not listens(bootstrap)


@pytest.mark.broker
def test_one_that_waits_for_a_broker_is_told_when_that_has_ended():
    with Broker.start() as broker:
        crash = Timer(0.2, os.killpg, [broker.pid, signal.SIGKILL])
        crash.start()
        with pytest.raises(BrokerDied, match="it has ended"):
            broker.wait()
        crash.join()


@pytest.mark.broker
def test_the_program_of_the_documentation_runs():
    page = (ROOT / "docs/how-to/try-on-a-broker.md").read_text("utf-8")
    (program,) = re.findall(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    said = in_python("-W", "error", "-c", program)
    assert (said.returncode, said.stderr) == (0, "")
    row = next(line.split() for line in said.stdout.splitlines() if line.startswith("billing"))
    assert row[:6] == ["billing", "orders", "0", "60", "100", "40"]


def test_the_releases_that_are_fetched_are_those_that_the_page_names():
    page = (ROOT / "docs/how-to/try-on-a-broker.md").read_text("utf-8")
    listed = re.search(r"^BROKERS := (.+)$", (ROOT / "Makefile").read_text("utf-8"), re.M)[1]
    assert BROKER_RELEASE in listed.split()
    assert f"the jars of Apache Kafka {BROKER_RELEASE} to your cache" in page
    fetched = re.search(r"`make test-broker` fetches Kafka ([\d., and]+) and runs", page)[1]
    assert {*re.findall(r"[\d.]+", fetched)} == {*listed.split()}


def test_the_foreground_refuses_a_version_whose_jars_are_not_here_in_one_line():
    said = in_python("-m", "broker", "9.9.9")
    assert (said.returncode, said.stdout) == (2, "")
    assert len(said.stderr.splitlines()) == 1
    assert "--fetch 9.9.9" in said.stderr


@pytest.mark.broker
def test_a_broker_beside_another_is_of_its_cluster_with_a_rack_and_partitions_of_its_own():
    with (
        Broker.start(properties={"broker.rack": "a"}) as first,
        Broker.start(properties={"broker.rack": "b"}, beside=first) as second,
    ):
        second.create_topic("apart", 2, nodes=[[1], [2]])
        second.create_topic("both", 1, nodes=[[2, 1]])
        first.produce("apart", {0: 1, 1: 2})
        first.produce("both", {0: 3})
        counts = {"apart": 2, "both": 1}
        with Consumer.start("kafka-python", first.bootstrap, "racked", [*counts]) as one:
            settle([one], counts, 0.0)
            (captured,) = capture(Connection(second.bootstrap), ["racked"]).documents
    topics = captured.document["topics"]
    assert topics["apart"]["racks"] == [["a"], ["b"]]
    assert topics["both"]["racks"] == [["a", "b"]]
