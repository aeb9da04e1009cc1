import ssl

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from broker import Broker, Consumer, Security, settle
from groups import BadInput

ALICE, EVE = "it's \"quoted\\", "of-eve"


def client(broker, security, user, password):
    return {
        "security.protocol": security.protocol,
        "sasl.mechanism": security.mechanism,
        "sasl.username": user,
        "sasl.password": password,
    } | ({} if broker.certificate is None else {"ssl.ca.location": str(broker.certificate)})


def ask(broker, settings, seconds=10):
    """Return the topics that the broker lists for a client with these settings."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0} | settings)
    return set(admin.list_topics(timeout=seconds).topics)


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        ({"protocol": "SASL"}, "SASL: not one of PLAINTEXT, SASL_PLAINTEXT, SSL, SASL_SSL"),
        ({"mechanism": "SCRAM"}, "SCRAM: not one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512"),
        ({"protocol": "SSL", "acls": True}, "SSL: only SASL tells users apart"),
    ],
)
def test_a_security_that_there_is_not_is_refused(wanted, reason):
    with pytest.raises(BadInput, match=f"^{reason}$"):
        Security(**wanted)


def test_security_shows_no_password():
    assert EVE not in repr(Security("SASL_SSL", {"eve": EVE}))


@pytest.mark.broker
def test_who_is_known_by_name_and_password_may_do_what_it_was_allowed_and_no_more():
    security = Security("SASL_PLAINTEXT", {"alice": ALICE, "eve": EVE}, acls=True)
    with Broker.start(security=security) as broker:
        broker.create_topic("t0", 2)
        broker.create_topic("t1", 2)
        alice, eve = client(broker, security, "alice", ALICE), client(broker, security, "eve", EVE)
        assert ask(broker, alice) == set()
        broker.allow("alice", "read", "topic", "t0")
        broker.allow("alice", "read", "group", "orders")
        assert (ask(broker, alice), ask(broker, eve)) == ({"t0"}, set())
        with pytest.raises(KafkaException):
            ask(broker, alice | {"sasl.password": EVE}, 1)
        for kind in ("confluent", "confluent-kip-848"):
            with Consumer.start(kind, broker.bootstrap, "orders", ["t0"], config=alice) as one:
                assert settle([one], {"t0": 2}, 0.0) == [{"t0": [0, 1]}]
                one.stop()


@pytest.mark.broker
def test_scram_over_tls_is_spoken_with_a_certificate_for_the_hosts_that_are_named():
    security = Security("SASL_SSL", {"eve": EVE}, mechanism="SCRAM-SHA-512")
    with Broker.start(security=security) as broker:
        eve = client(broker, security, "eve", EVE)
        assert ask(broker, eve) == set()
        with pytest.raises(KafkaException):
            ask(broker, eve | {"sasl.password": ALICE}, 1)
        with pytest.raises(KafkaException):
            ask(broker, {key: value for key, value in eve.items() if "ssl" not in key}, 1)
        host, _, port = broker.bootstrap.partition(":")
        ssl.get_server_certificate((host, int(port)), ca_certs=broker.certificate, timeout=5)
        context = ssl.create_default_context(cafile=broker.certificate)
        with (
            pytest.raises(ssl.SSLCertVerificationError, match="localhost"),
            context.wrap_socket(_connected(host, int(port)), server_hostname="localhost"),
        ):
            pass


def _connected(host, port):
    import socket

    return socket.create_connection((host, port), 5)
