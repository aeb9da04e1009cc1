import os

import pytest

from groups.errors import BadInput
from live.connection import Connection, load_kafka_python
from tests.assay.calling import one_line, started
from tests.live.connection.listening import answering, closed_port, only_versions
from tests.processes import in_python

PASSWORD = "hunter2-and-more"
LOGIN = ("sasl.mechanism=PLAIN", "sasl.username=alice", f"sasl.password={PASSWORD}")
HTTP = b"HTTP/1.1 400 Bad Request\r\n\r\n"


def why(address, *config, timeout=60.0) -> str:
    with (
        pytest.raises(BadInput) as missed,
        Connection.told(address, config=config, timeout=timeout).admin(),
    ):
        pass
    said = str(missed.value)
    assert said.startswith(f"{address}: ")
    assert PASSWORD not in said
    return said.removeprefix(f"{address}: ")


@pytest.mark.parametrize(
    ("answer", "protocol", "said"),
    [
        (HTTP, "PLAINTEXT", "an HTTP server answers there, not Kafka"),
        (b"SSH-2.0-OpenSSH\r\n", "PLAINTEXT", "what answers there is not Kafka"),
        (b"\x15\x03\x03\x00\x02\x02\x50", "PLAINTEXT", "TLS is spoken there: give security.proto"),
        (only_versions, "PLAINTEXT", "what answers there does not tell about its cluster: a con"),
        (b"", "PLAINTEXT", "it closed the connection: it is no Kafka broker, or one older than 0"),
        (HTTP, "SSL", "no TLS is spoken there: is it a Kafka broker?"),
        (b"", "SSL", "it closed the connection instead of speaking TLS: is it a Kafka broker?"),
        (HTTP, "SASL_PLAINTEXT", "an HTTP server answers there, not Kafka"),
        (b"", "SASL_SSL", "it closed the connection instead of speaking TLS: is it a Kafka brok"),
    ],
)
def test_what_is_no_kafka_is_said(answer, protocol, said):
    login = LOGIN if protocol.startswith("SASL") else ()
    with answering(answer) as address:
        assert why(address, f"security.protocol={protocol}", *login).startswith(said)


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SSL"])
def test_who_never_answers_is_not_waited_for_beyond_the_timeout(protocol):
    with answering(None) as address:
        said = why(address, f"security.protocol={protocol}", timeout=0.5)
    assert said == "no answer within 0.5 s: is it a Kafka broker, and is it well?"


def test_every_address_is_tried_and_each_says_why():
    first = closed_port()
    with (
        answering(HTTP) as second,
        pytest.raises(BadInput) as missed,
        Connection.told(f"{first},{second}").admin(),
    ):
        pass
    one, other = str(missed.value).split("; ")
    said = "connection refused: is a broker running there, at that host and port?"
    assert one == f"{first}: {said}"
    assert other == f"{second}: an HTTP server answers there, not Kafka"


def test_a_command_says_in_one_line_why_no_broker_was_reached(tmp_path):
    properties = tmp_path / "client.properties"
    properties.write_text(f"security.protocol=SASL_PLAINTEXT\nsasl.password={PASSWORD}\n")
    given = ("--command-config", properties, *(x for c in LOGIN[:2] for x in ("--config", c)))
    address = closed_port()
    # A debugging log that a user's site may set up shows no secret either.
    path = filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")])
    loud = {"PYTHONPATH": os.pathsep.join(path)}
    (tmp_path / "sitecustomize.py").write_text("import logging\nlogging.basicConfig(level=1)\n")
    run = started("capture", "--bootstrap-server", address, *given, cwd=tmp_path, **loud)
    assert run.returncode == 2
    assert "connection refused" in run.stderr
    assert PASSWORD not in run.stdout + run.stderr


def test_a_name_that_has_no_address_is_said_to_have_none():
    said = "nosuch.invalid:9092: the name has no address: is it spelled right, and known here?"
    assert one_line(started("capture", "--bootstrap-server", "nosuch.invalid:9092"), 2) == said


@pytest.mark.broker
def test_a_client_that_fails_after_a_broker_was_reached_leaves_nothing_open(broker, monkeypatch):
    load_kafka_python()
    from kafka.net.selector import NetworkSelector

    def no_thread(_):
        raise RuntimeError("can't start new thread")

    why(closed_port())
    before = set(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(NetworkSelector, "start", no_thread)
    assert why(broker.bootstrap) == "RuntimeError: can't start new thread"
    assert set(os.listdir("/proc/self/fd")) == before


CAPTURE = """
import sys
from groups import BadInput
from live.capture import capture
from live.connection import Connection

try:
    capture(Connection(sys.argv[1]))
except BadInput as reason:
    print(reason)
"""


def test_a_capture_brings_no_warning_of_its_client_to_whoever_makes_errors_of_them():
    run = in_python("-W", "error", "-c", CAPTURE, closed_port())
    assert run.stderr == ""
    assert "connection refused" in run.stdout
