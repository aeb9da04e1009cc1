import pytest

from groups import Refused
from heuristics.shipped.client import joining
from heuristics.shipped.probe import Probe
from heuristics.shipped.probe.wire import Software, user_data, user_data_of
from tests.heuristics.shipped.probe.frames import DEADLINE, connected, join_as
from tests.optimal.small_groups import group_of

READS = {"a": ["t"], "b": ["t"]}
ANEW = group_of({"t": 3}, READS)
HELD = group_of({"t": 3}, READS, {"a": {"t": [0, 1]}}, generation=7)
LIST = "00000001000174000000010000000500000007"


@pytest.mark.parametrize(
    ("software", "client"),
    [
        (Software("shop", "confluent-kafka-python", "2.16.1-rdkafka-2.16.0"), "librdkafka"),
        (Software("shop", "rust", "0.36-rdkafka-2.3"), "librdkafka"),
        (Software("rdkafka"), "librdkafka"),
        (Software("shop", "apache-kafka-java", "4.4.0"), "apache-kafka-java"),
        (Software("shop", "kgo", "v1.22.2"), "kgo"),
        (Software("shop", "sarama", "v1.61.1"), "sarama"),
        (Software("shop", "kafka-python", "3.0.12"), "kafka-python"),
        (Software("shop", "kafka-python", "2.3.3"), "kafka-python before 3"),
        (Software("kafka-python-2.0.3"), "kafka-python before 3"),
        (Software("aiokafka-0.14.0"), "aiokafka"),
        (Software("shop"), ""),
        (Software("shop", "kafka-python", "unknown"), ""),
        (Software("kgo", "a fork of it", "1"), ""),
        (Software(), ""),
    ],
)
def test_a_client_is_known_by_its_software_or_else_by_its_default_client_id(software, client):
    assert software.client == client


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("assignment", LIST),
        ("versioned", "0001" + LIST),
        ("unnumbered", LIST[:-8] + "ffffffff"),
        ("generation", LIST[-8:]),
    ],
)
def test_user_data_is_as_the_releases_of_each_client_write_it(kind, data):
    assert user_data([("t", [5])], 7, kind) == bytes.fromhex(data)
    assert user_data([], -1, kind) is None


def test_kafka_python_writes_the_version_first_since_its_third_release():
    kinds = [
        user_data_of(Software("x", "kafka-python", version), "sticky", joining(HELD))
        for version in ("2.3.3", "3.0.0", "3.0.12")
    ]
    assert kinds == ["assignment", "versioned", "versioned"]


@pytest.mark.parametrize(
    ("software", "assignor", "named"),
    [
        (Software("shop"), "sticky", "shop tell sticky"),
        (Software("shop", "another", "1.0"), "cooperative-sticky", "another 1.0 tell cooperative"),
        (Software("x", "apache-kafka-java", "4.4.0"), "my-sticky", "4.4.0 tell my-sticky"),
        (Software(), "sticky", "it tell sticky"),
    ],
)
def test_where_it_is_not_known_how_members_tell_what_they_held_the_group_is_refused(
    software, assignor, named
):
    with pytest.raises(Refused, match=rf"^the probe does not know how members of .*{named}"):
        user_data_of(software, assignor, joining(HELD))
    assert user_data_of(software, assignor, joining(ANEW)) == "none"
    assert user_data_of(software, "range", joining(HELD)) == "none"


def test_a_client_whose_claims_cannot_be_written_leads_the_next_group_that_has_none():
    with Probe() as probe, connected(probe) as connection:
        refused = probe.offer(HELD)
        connection.sendall(join_as("assay-probe", assignor="sticky"))
        probe.wait(refused, DEADLINE)
        with pytest.raises(Refused, match=r"members of x tell sticky what they held$"):
            refused.result()
        next_ = probe.offer(ANEW)
        assert connection.recv(1 << 16)
        assert (next_.led, next_.error) == (True, None)
