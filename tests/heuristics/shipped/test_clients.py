"""What the assignors of several clients make of one group: each answer as its client gives it."""

import pytest

from groups import Group
from heuristics.shipped.java.java_client import KAFKA_BROKER, KAFKA_JAVA
from tests.optimal.small_groups import group_of

BOTH = {"a": ["t"], "b": ["t"]}
PYTHON = (
    *(f"kafka-python/{name}" for name in ("range", "roundrobin", "sticky", "cooperative-sticky")),
    *(f"aiokafka/{name}" for name in ("range", "roundrobin", "sticky")),
)
FRANZ_GO = ("franz-go/sticky", "franz-go/cooperative-sticky")
SARAMA = ("sarama/sticky", "sarama/cooperative-sticky")
KAFKA = (
    *(f"kafka-java/{name}@4.4.0" for name in KAFKA_JAVA.assignors),
    *(
        f"kafka-broker/{name}@{version}"
        for name in KAFKA_BROKER.assignors
        for version in KAFKA_BROKER.listed
    ),
)


@pytest.mark.parametrize("name", [*PYTHON, "franz-go/range", *FRANZ_GO, *KAFKA])
def test_topics_that_do_not_exist_or_that_nobody_reads_are_passed_over(planned, name):
    owned = {"a": {"t": [0, 5], "gone": [0]}}
    if name.startswith("kafka-java/") and name.endswith("sticky@4.4.0"):
        # How it handles a claim of a missing partition is a finding, so this claim is left out.
        owned = {}
    topics, reads = {"t": 2, "none": 0, "unread": 3}, BOTH | {"a": ["t", "gone", "none"]}
    group = group_of(topics, reads, owned, generation=1)
    made = planned(group, name).assignment
    assert made.to_dict() == {"a": {"t": [0]}, "b": {"t": [1]}}


@pytest.mark.parametrize("name", [*FRANZ_GO, *SARAMA, *KAFKA])
def test_a_group_without_members_has_no_leader_to_ask(planned, name):
    assert planned(group_of({"t": 2}, {}), name).assignment.owner.tolist() == [-1, -1]


@pytest.mark.parametrize(
    ("clients", "loads"),
    [(("franz-go", "kafka-python"), [1, 2]), (("sarama", "aiokafka"), [2, 1])],
)
def test_static_members_come_first_or_count_for_nothing(planned, clients, loads):
    document = group_of({"t": 3}, BOTH).to_dict()
    document["members"]["b"]["instance_id"] = "i"
    group = Group.from_dict(document)
    for client in clients:
        for name in ("range", "roundrobin"):
            assert planned(group, f"{client}/{name}").assignment.loads.tolist() == loads, client


@pytest.mark.parametrize(
    ("name", "stands"),
    [
        *((name, "newer") for name in (*FRANZ_GO, *SARAMA, "kafka-python/sticky")),
        *((f"kafka-java/{name}", "newer") for name in ("sticky", "cooperative-sticky")),
        # aiokafka sends no generation.
        ("aiokafka/sticky", "first"),
    ],
)
def test_of_two_claims_of_two_generations_the_newer_stands_where_it_is_told(planned, name, stands):
    claim = {"t": [0]}
    for newer, generation in (("b", {"a": 1, "b": 2}), ("a", {"a": 2, "b": 1})):
        group = group_of({"t": 2}, BOTH, {"a": claim, "b": claim}, generation=generation)
        keeps = newer if stands == "newer" else "a"
        assert planned(group, name).assignment.to_dict()[keeps] == claim


@pytest.mark.parametrize("client", ["franz-go", "sarama", "kafka-python", "kafka-java"])
def test_who_must_revoke_does_so_in_a_round_of_its_own(planned, client):
    group = group_of({"t": 4}, BOTH, {"a": {"t": [0, 1, 2, 3]}}, generation=1)
    made = planned(group, f"{client}/cooperative-sticky")
    assert (made.rounds, made.revoked, made.ownerless) == (2, 2, 2)
    assert made.assignment.loads.tolist() == [2, 2]
    eager = planned(group, f"{client}/sticky")
    assert (eager.rounds, eager.revoked, eager.ownerless) == (1, 0, 0)


NEAR, PLAIN = (
    {"a": {"t": [1, 3]}, "b": {"t": [0, 2]}},
    {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}},
)


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("librdkafka/range", NEAR),
        # One release uses the racks of leaders, and a later one does not.
        ("franz-go/range@1.21.7", NEAR),
        ("franz-go/range@1.22.2", PLAIN),
    ],
)
def test_racks_of_members_and_replicas_reach_the_clients_that_look_at_them(planned, name, made):
    racks = [["east"], ["west"], ["east"], ["west"]]
    document = group_of({"t": {"partitions": 4, "racks": racks}}, BOTH).to_dict()
    document["members"]["a"]["rack"], document["members"]["b"]["rack"] = "west", "east"
    assert planned(Group.from_dict(document), name).assignment.to_dict() == made
