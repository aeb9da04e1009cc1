"""Captures of a real broker: what may be seen, and nothing changed by it."""

import pytest
from confluent_kafka.admin import AdminClient
from kafka.protocol.parser import KafkaProtocol

from broker import Broker, Consumer, Security, settle
from live.capture import capture
from live.capture.cluster import Cluster
from live.capture.offsets import committed_by
from live.connection import Connection
from tests.live.capture.by_hand import Members

pytestmark = pytest.mark.broker
STILL = 0.5
TOPICS = {"cap0": 6, "cap1": 3}
ASKED = {
    "ApiVersionsRequest", "ConsumerGroupDescribeRequest", "DescribeGroupsRequest",
    "ListGroupsRequest", "ListOffsetsRequest", "MetadataRequest", "OffsetFetchRequest",
}  # fmt: skip


@pytest.fixture(scope="module")
def bootstrap(broker):
    for topic, partitions in TOPICS.items():
        broker.create_topic(topic, partitions)
    broker.produce("cap0", {0: 10, 1: 20})
    return broker.bootstrap


def captured(bootstrap, group, **options):
    found = capture(Connection(bootstrap), [group], **options)
    assert not found.failures
    (one,) = found.documents
    return one.document


def test_nothing_but_questions_is_sent_and_no_group_notices(bootstrap, monkeypatch):
    sent = []
    send = KafkaProtocol.send_request
    with Consumer.start("confluent-kip-848", bootstrap, "cap-quiet", ["cap0", "not-there"]) as one:
        settle([one], {"cap0": 6}, STILL)
        before = captured(bootstrap, "cap-quiet", lag=False)
        monkeypatch.setattr(
            KafkaProtocol, "send_request", lambda *told: sent.append(told[1]) or send(*told)
        )
        capture(Connection(bootstrap), ["cap-quiet", "cap-never"])
        capture(Connection(bootstrap), ["*"], patience_seconds=0)
        monkeypatch.undo()
        after = captured(bootstrap, "cap-quiet", lag=False)
    assert {type(request).__name__ for request in sent} == ASKED
    named = [r for r in sent if type(r).__name__ == "MetadataRequest" and r.topics]
    assert named
    assert not any(request.allow_auto_topic_creation for request in named)
    assert before["members"] == after["members"]


class BeforeThree(Cluster):
    """A cluster like those before Kafka 3.0, which describe one group at a time."""

    def tells_commits_of_several(self):
        return False


def test_commits_asked_for_one_group_at_a_time_are_the_same(bootstrap):
    with Members(bootstrap) as members, Connection(bootstrap).admin() as admin:
        for name in ("cap-one", "cap-two"):
            members.join(name, ["cap0"], {"cap0": [0]})
        with Consumer.start("confluent", bootstrap, "cap-three", ["cap0"], commit=False) as one:
            settle([one], {"cap0": 6}, 0.0)
            one.commit({"cap0": {1: 15}})
            groups = dict.fromkeys(["cap-one", "cap-two", "cap-three"], 1)
            found = committed_by(Cluster(admin), groups)
            assert committed_by(BeforeThree(admin), groups) == found
    assert found["cap-three"].offsets == {("cap0", 1): 15}
    assert found["cap-one"].offsets == {}


@pytest.fixture(scope="module")
def guarded():
    security = Security("SASL_PLAINTEXT", {"alice": "one-word"}, acls=True)
    properties = {"auto.create.topics.enable": "true", "broker.rack": "r1"}
    with Broker.start(security=security, properties=properties) as broker:
        yield broker


def as_alice(broker):
    return Connection(
        broker.bootstrap,
        {
            "security_protocol": "SASL_PLAINTEXT",
            "sasl_mechanism": "PLAIN",
            "sasl_plain_username": "alice",
            "sasl_plain_password": "one-word",
        },
    )


def topics_of(broker):
    return set(AdminClient({"bootstrap.servers": broker.inside}).list_topics(timeout=10).topics)


def test_a_capture_makes_no_topic_not_even_that_of_commits(guarded):
    found = capture(Connection(guarded.inside), ["none", "*"])
    assert [one.reason for one in found.failures] == [
        "group 'none' does not exist",
        "no groups: the cluster has none, or none that may be seen",
    ]
    with Members(guarded.inside) as members:
        topics = topics_of(guarded)
        members.join("dreamer", ["never-made"], {"never-made": [0]})
        assert captured(guarded.inside, "dreamer")["topics"] == {}
    assert topics_of(guarded) == topics


def test_what_may_not_be_seen_is_a_failure_with_what_to_allow(guarded):
    guarded.create_topic("open", 2)
    guarded.create_topic("closed", 2)
    guarded.allow("alice", "describe", "topic", "open")
    guarded.allow("alice", "describe", "group", "mine")
    guarded.allow("alice", "describe", "group", "half")
    guarded.allow("alice", "describe", "group", "pattern")
    pattern = Consumer.start("confluent-kip-848", guarded.inside, "pattern", ["^open.*"])
    with Members(guarded.inside) as members, pattern:
        settle([pattern], {"open": 2}, 0.0)
        for group, topic in (("mine", "open"), ("half", "closed"), ("yours", "open")):
            members.join(group, [topic], {topic: [0, 1]})
        found = capture(as_alice(guarded), ["mine", "half", "yours"])
        seen = capture(as_alice(guarded))
    (mine,) = found.documents
    assert [one.document["group"] for one in seen.documents] == ["mine", "pattern"]
    assert mine.document["topics"]["open"]["racks"] == [["r1"], ["r1"]]
    assert {one.group: one.reason for one in found.failures} == {
        "half": "group 'half': topic 'closed' may not be described: allow Describe on it",
        "yours": "group 'yours' may not be described: allow Describe on it",
    }
    assert [one.group for one in seen.failures] == ["half"]
