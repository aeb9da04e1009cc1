import logging

import pytest

from live.connection import Connection, Secret
from live.connection.kafka_client import kafka_python_silent, without_secrets

PASSWORD = "hunter2-and-more"


def test_a_secret_shows_stars_however_it_is_printed():
    secret = Secret(PASSWORD)
    shown = [str(secret), repr(secret), f"{secret}", f"{secret:>40}", repr([secret])]
    shown += [logging.LogRecord("kafka", 10, "", 0, "%s %r", (secret, secret), None).getMessage()]
    shown += [str({"password": secret})]
    assert PASSWORD not in "".join(shown)


def test_a_client_can_still_send_a_secret():
    secret = Secret(PASSWORD)
    assert secret.encode() == PASSWORD.encode()
    assert "\0".join(["user", secret]) == f"user\0{PASSWORD}"
    assert secret == PASSWORD


def test_a_secret_of_a_secret_is_the_same_secret():
    twice = Connection("localhost:9092", {"sasl_plain_password": Secret(Secret(PASSWORD))})
    assert twice.settings["sasl_plain_password"] == PASSWORD


def test_a_connection_shows_no_settings():
    connection = Connection("localhost:9092", {"sasl_plain_password": PASSWORD})
    assert PASSWORD not in f"{connection} {connection!r} {connection.settings}"


def test_stars_stand_for_secrets_in_what_others_say():
    said = f"no such user: alice/{PASSWORD}"
    assert without_secrets(said, [Secret(PASSWORD), 5, "alice"]) == "no such user: alice/***"


@pytest.mark.parametrize("name", ["kafka.net.connection", "kafka.protocol.parser"])
def test_kafka_python_logs_nothing_while_it_is_kept_silent(caplog, name):
    logger = logging.getLogger(name)
    caplog.set_level(logging.DEBUG, logger=name)
    with kafka_python_silent():
        logger.debug("Send: %r", b"\0alice\0" + PASSWORD.encode())
        logger.error("sent %s", PASSWORD)
    assert caplog.text == ""
    logger.debug("again")
    assert "again" in caplog.text


def test_kafka_python_stays_silent_until_the_last_of_overlapping_uses_leaves(caplog):
    logger = logging.getLogger("kafka.net.connection")
    caplog.set_level(logging.DEBUG, logger=logger.name)
    first, second = kafka_python_silent(), kafka_python_silent()
    first.__enter__()
    with second:
        first.__exit__(None, None, None)
        logger.debug("Send: %r", PASSWORD)
    assert caplog.text == ""
    logger.debug("again")
    assert "again" in caplog.text
