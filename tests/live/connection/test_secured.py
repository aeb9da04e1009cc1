"""Brokers that ask who one is, speak TLS, or send clients elsewhere."""

import base64
import logging

import pytest
from kafka.errors import KafkaError

from broker import Broker, Consumer, Security, settle
from broker.server_properties import free_ports
from groups import BadInput
from groups.documents.texts import read_bytes
from live.connection import Connection
from tests.assay.calling import one_line, started

pytestmark = pytest.mark.broker
PASSWORD = "hunter2-and-more"
WRONG = "a-wrong-one-77"
MECHANISM = "SCRAM-SHA-256"
TOPICS = {"secured-t": 2}


@pytest.fixture(scope="module")
def secured():
    security = Security("SASL_SSL", {"alice": PASSWORD}, MECHANISM)
    with Broker.start(security=security) as broker:
        yield broker


@pytest.fixture
def told(secured):
    """Give a function that returns valid settings with changes; None leaves a setting out."""

    def settings_of(**instead) -> list[str]:
        good = {
            "security_protocol": "SASL_SSL",
            "ssl_cafile": str(secured.certificate),
            "sasl_mechanism": MECHANISM,
            "sasl_plain_username": "alice",
            "sasl_plain_password": PASSWORD,
        } | instead
        return [f"{key}={value}" for key, value in good.items() if value is not None]

    return settings_of


def reached(address: str, config: list[str]) -> str | None:
    """Return the reason why an address cannot be reached, or None if it can."""
    try:
        with Connection.told(address, config=config, timeout=10).admin() as admin:
            admin.list_groups()
    except BadInput as missed:
        return str(missed).removeprefix(f"{address}: ")
    return None


NO_LOGIN = dict.fromkeys(("sasl_mechanism", "sasl_plain_username", "sasl_plain_password"))
TLS_SPOKEN = "TLS is spoken there: give security.protocol=SSL, or SASL_SSL with a login"


@pytest.mark.parametrize(
    ("instead", "said"),
    [
        ({}, None),
        ({"sasl_plain_password": WRONG}, "login refused by SCRAM-SHA-256: check the user and"),
        ({"sasl_plain_username": "bob"}, "login refused by SCRAM-SHA-256: check the user and"),
        (
            {"sasl_mechanism": "PLAIN"},
            "sasl.mechanism=PLAIN is not enabled there: the broker offers SCRAM-SHA-256",
        ),
        ({"ssl_cafile": None}, "its certificate is not trusted (self-signed certificate): give"),
        (
            NO_LOGIN | {"security_protocol": "SSL"},
            "it wants a login: give security.protocol=SASL",
        ),
        ({"security_protocol": "SASL_PLAINTEXT"}, TLS_SPOKEN),
        ({"security_protocol": "PLAINTEXT"}, TLS_SPOKEN),
    ],
)
def test_a_login_over_tls_leads_in_and_what_is_wrong_with_it_is_said(
    secured, told, caplog, instead, said
):
    caplog.set_level(logging.DEBUG)
    found = reached(secured.bootstrap, told(**instead))
    assert found is said is None or found.startswith(said)
    for secret in (PASSWORD, WRONG):
        shown = f"{found} {caplog.text}"
        assert secret not in shown
        assert base64.b64encode(secret.encode()).decode() not in shown


def test_nobody_is_advised_to_send_a_login_without_tls(told):
    clear = "is this the right port? (without TLS the login would go in the clear)"
    security = Security("SASL_PLAINTEXT", {"alice": PASSWORD}, MECHANISM)
    with Broker.start(security=security) as broker:
        assert reached(broker.bootstrap, told()) == f"no TLS is spoken there: {clear}"
        bare = told(**NO_LOGIN, security_protocol="SSL")
        assert reached(broker.bootstrap, bare) == (
            f"no TLS is spoken there, and a login is asked for: {clear}"
        )
        plain = told(security_protocol="SASL_PLAINTEXT", sasl_mechanism="PLAIN")
        assert reached(broker.bootstrap, plain) == (
            "sasl.mechanism=PLAIN is not enabled there: the broker offers SCRAM-SHA-256"
        )


def test_a_token_is_shown_as_stars_in_what_the_client_says(broker):
    token = ("sasl.mechanism=OAUTHBEARER", f"sasl_oauth_token={PASSWORD}")
    connection = Connection.told(
        broker.bootstrap, config=("security.protocol=PLAINTEXT", *token), timeout=10
    )
    with pytest.raises(BadInput, match=r"refused: Bearer \*\*\*$"), connection.admin():
        raise KafkaError(f"refused: Bearer {PASSWORD}")


def test_a_certificate_of_another_host_is_said(secured, told):
    port = secured.bootstrap.rpartition(":")[2]
    said = reached(f"localhost:{port}", told())
    assert said.startswith("its certificate is of another host (Hostname mismatch")
    assert reached(f"localhost:{port}", told(ssl_check_hostname="false")) is None


def test_a_plain_listener_is_told_from_one_with_tls_or_a_login(secured, told):
    port = "is this the right port? (if so: security.protocol=PLAINTEXT)"
    assert reached(secured.inside, told()) == (
        f"no TLS is spoken there, and no login is asked for: {port}"
    )
    bare = told(**NO_LOGIN, security_protocol="SSL")
    assert reached(secured.inside, bare) == f"no TLS is spoken there: {port}"
    assert reached(secured.inside, told(security_protocol="SASL_PLAINTEXT")) == (
        "no login is asked for there: give security.protocol=PLAINTEXT"
    )


def test_no_password_is_in_anything_that_comes_out(secured, tmp_path):
    secured.create_topic(*TOPICS, 2)
    properties = tmp_path / "client.properties"
    properties.write_text(
        "security.protocol=SASL_SSL\n"
        f"sasl.mechanism={MECHANISM}\n"
        "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\\n"
        f'  username="alice" password="${{file:{tmp_path / "password"}}}";\n'
        f"ssl.truststore.type=PEM\nssl.truststore.location={secured.certificate}\n"
    )
    inside = Consumer.start("kafka-python", secured.inside, "secured", [*TOPICS])
    with inside:
        settle([inside], TOPICS)
        for password, code in ((PASSWORD, 0), (WRONG, 2)):
            (tmp_path / "password").write_text(f"{password}\n")
            out = tmp_path / password[:3]
            out.mkdir()
            at = ("--bootstrap-server", secured.bootstrap, "--command-config", properties)
            told = ("--config", f"sasl_plain_password={password}")
            calls = {
                "file": ("capture", *at, "-o", out / "groups.jsonl"),
                "option": ("capture", *at, *told, "-o", out / "groups.parquet"),
                "score": ("score", *at, *told, "--format", "json"),
                "watch": ("watch", *at, "--times", "2", "--every", "1s", "-o", out / "series"),
            }
            # kafka-python leaves a socket that was refused to the garbage collection.
            for name, arguments in calls.items():
                run = started(*arguments, cwd=tmp_path)
                assert run.returncode == code, (name, run.stderr)
                assert password not in run.stdout + run.stderr
                assert ("login refused" in run.stderr) == (code == 2)
            files = [path for path in out.rglob("*") if path.is_file()]
            assert len(files) == (0 if code else 4)
            for file in files:
                assert password.encode() not in read_bytes(file)


def test_a_broker_that_sends_clients_where_nobody_is_is_named(monkeypatch):
    *ports, odd = free_ports(3)
    names = ("CONTROLLER", "INSIDE")
    at = dict(zip(names, (f"127.0.0.1:{port}" for port in ports), strict=True))
    monkeypatch.setattr("broker.broker.free_ports", lambda count: ports[:count])
    nowhere = "127.0.0.1:1"
    properties = {
        "listeners": f"CONTROLLER://{at['CONTROLLER']},INSIDE://{at['INSIDE']},"
        f"ODD://127.0.0.1:{odd}",
        "advertised.listeners": f"INSIDE://{at['INSIDE']},ODD://{nowhere}",
        "listener.security.protocol.map": ",".join(f"{n}:PLAINTEXT" for n in (*names, "ODD")),
    }
    with Broker.start(properties=properties):
        run = started("capture", "--bootstrap-server", f"127.0.0.1:{odd}")
        assert one_line(run, 2) == (
            f"127.0.0.1:{odd}: it names broker 1 at {nowhere} (advertised.listeners): "
            "connection refused: is a broker running there, at that host and port?"
        )
