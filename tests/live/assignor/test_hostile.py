"""Whatever members send and the cluster says: a valid assignment for each of them."""

import logging
import zlib

import pytest
from aiokafka.coordinator.protocol import ConsumerProtocol
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment

from heuristics.shipped.java.java_client import KAFKA_JAVA
from live.assignor.rebalance import FORMAT, LAST_GENERATION, Claim, packed, unpacked
from live.kafka_python import OptimalAssignor
from tests.live.assignor.playing import AsyncMember, JavaMember, Member

TOPICS = st.sampled_from(["t0", "t1", "t2", "", "ü", "a b", "__consumer_offsets"])
NUMBERS = st.integers(0, 9) | st.integers(0, 2**31 - 1)
GENERATIONS = st.sampled_from([-1, 0, 5, 6, LAST_GENERATION]) | st.integers(-1, LAST_GENERATION)
IDS = st.sampled_from(["a", "b", "c", "consumer-1"])
CLAIMS = st.builds(
    Claim,
    owned=st.dictionaries(TOPICS, st.lists(NUMBERS, max_size=8), max_size=4),
    generation=GENERATIONS,
    member=IDS,
    unfinished=st.booleans(),
    holds=st.booleans(),
)
USER_DATA = (
    CLAIMS.map(packed)
    | st.binary(max_size=20)
    | st.binary(max_size=20).map(lambda sent: FORMAT + sent)
    | st.recursive(st.none() | st.integers() | st.text(), st.lists)
    .map(repr)
    .map(lambda text: FORMAT + zlib.compress(text.encode()))
    | st.sampled_from(["[", '{"a":']).map(
        lambda opened: FORMAT + zlib.compress(b'{"later": ' + opened.encode() * 10_000)
    )
)
MEMBERS = st.dictionaries(
    IDS | st.text(min_size=1, max_size=5),
    st.tuples(st.lists(TOPICS, max_size=5), USER_DATA),
    min_size=1,
    max_size=5,
)
CLUSTER = st.dictionaries(TOPICS.filter(bool), st.integers(0, 12), max_size=5)


class SaysAnything(OptimalAssignor):
    """An assignor that joins with the user data `said`."""

    said = b""

    def metadata(self, topics):
        made = super().metadata(topics)
        made.user_data = self.said
        return made


def joined(members):
    return {
        member: Member(topics, type("Says", (SaysAnything,), {"said": user_data})).join()
        for member, (topics, user_data) in members.items()
    }


def require_valid(made, members, cluster):
    """Require that assigned partitions exist, are given once, and to readers; return them."""
    assert made.keys() == members.keys()
    seen = [(t, n) for topics in made.values() for t, numbers in topics for n in numbers]
    assert len(seen) == len(set(seen))
    for member, given_to_it in made.items():
        for topic, numbers in given_to_it:
            assert topic in members[member][0]
            assert topic not in cluster or cluster[topic] == 0 or max(numbers) < cluster[topic]
    return {*seen}


def held(claims):
    """Return what may have to wait for a round: all that members claim to hold still."""
    return {
        (t, n) for one in claims if one.holds for t, numbers in one.owned.items() for n in numbers
    }


@pytest.fixture(autouse=True)
def no_fallback(caplog):
    """Require that nothing is logged as a warning: the solver must cope with wrong claims."""
    yield
    assert [line for line in caplog.records if line.levelno >= logging.WARNING] == []


IN_JAVA = KAFKA_JAVA.missing("sticky", JavaMember.release) is None
LEADERS = (Member, AsyncMember, JavaMember) if IN_JAVA else (Member, AsyncMember)
FUNCTION_SCOPED = [HealthCheck.function_scoped_fixture]


def wanted_of(members, cluster):
    return {
        (topic, number)
        for topic, count in cluster.items()
        for number in range(count)
        if any(topic in topics for topics, _ in members.values())
    }


@settings(max_examples=40, deadline=None, suppress_health_check=FUNCTION_SCOPED)
@given(MEMBERS, CLUSTER)
def test_a_leader_gives_everything_to_somebody_whatever_it_is_told_and_both_clients_the_same(
    members, cluster
):
    wanted = wanted_of(members, cluster)
    said = [unpacked(user_data, Claim) or Claim() for _, user_data in members.values()]
    plans = []
    for kind in LEADERS:
        sent = kind(["t0"]).lead(cluster, joined(members))
        plans.append({m: decoded(kind, given_to_it) for m, given_to_it in sent.items()})
        assert wanted - require_valid(plans[-1], members, cluster) <= held(said)
    assert plans[0] == plans[1]


LISTED = st.lists(st.sets(st.tuples(TOPICS, NUMBERS), max_size=6), min_size=5, max_size=5)


@settings(max_examples=40, deadline=None, suppress_health_check=FUNCTION_SCOPED)
@given(MEMBERS, LISTED, CLUSTER)
def test_a_java_leader_does_so_whatever_java_members_say_and_list(members, listed, cluster):
    sent = {
        member: JavaMember(topics, held=owned).join(user_data)
        for (member, (topics, user_data)), owned in zip(members.items(), listed, strict=False)
    }
    made = JavaMember(["t0"]).lead(cluster, sent)
    seen = require_valid({m: decoded(JavaMember, made[m]) for m in made}, members, cluster)
    said = [unpacked(user_data, Claim) or Claim() for _, user_data in members.values()]
    assert wanted_of(members, cluster) - seen <= held(said).union(*listed)


def decoded(kind, sent):
    if kind is AsyncMember:
        return [*ConsumerProtocol.ASSIGNMENT.decode(sent).assignment]
    made = ConsumerProtocolAssignment.decode(sent)
    return [(one.topic, one.partitions) for one in made.assigned_partitions]
