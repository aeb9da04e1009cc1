from functools import partial
from pathlib import Path

import pytest

from groups import Assignment, Group, values
from heuristics.shipped.java.java_client import KAFKA_BROKER, KAFKA_JAVA
from heuristics.time_limit import TimeLimit
from tests.known import CASES, KNOWN
from tests.optimal.small_groups import group_of
from tests.processes import in_python

ROOT = Path(__file__).parents[4]
MISSING = [
    reason
    for client in (KAFKA_JAVA, KAFKA_BROKER)
    for version in client.listed
    if (reason := client.missing("range", version)) is not None
]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING[0] if MISSING else "")


PAIR = {"a": ["t"], "b": ["t"]}


def owners(assignment: Assignment, topic: str) -> list[str]:
    group = assignment.group
    t = group.topics.index(topic)
    return [group.members[m] for m in assignment.owner[group.first[t] : group.first[t + 1]]]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_every_fact_of_the_release_is_what_its_classes_answer(planned, limit, case):
    group = Group.from_dict(KNOWN[case["group"]])
    for name, fact in case["shipped"].items():
        if name == "kafka-java/cooperative-sticky@4.4.0":
            # The documented facts are of its first round.
            once = partial(KAFKA_JAVA.one_round, assignor="cooperative-sticky", version="4.4.0")
            limit.plan(group, name)
            assignment = limit.call(once, group).plan.assignment
        else:
            assignment = planned(group, name).assignment
        read = group.readers[group.topic] > 0
        found = {
            "loads": sorted(assignment.loads.tolist()),
            "moves": values(assignment, ("stickiness",))[0],
            "unassigned": int((read & (assignment.owner < 0)).sum()),
        }
        assert found == {"unassigned": 0} | fact, name
        assert not assignment.strays


@pytest.mark.parametrize(
    ("owned", "generation", "keeps"),
    [
        # Claimed twice in one generation, a partition is lost to both.
        ({"a": [0, 1, 2, 3], "b": [0, 1]}, 1, "bbaa"),
        ({"a": [0, 1], "b": [0, 1, 2, 3]}, 1, "aabb"),
        # An older claim without conflict is kept.
        ({"a": [0, 3], "b": [1, 2]}, {"a": 1, "b": 5}, "abba"),
    ],
)
def test_who_keeps_what_was_claimed(planned, owned, generation, keeps):
    claims = {member: {"t": numbers} for member, numbers in owned.items()}
    group = group_of({"t": 4}, PAIR, claims, generation=generation)
    for name in ("sticky", "cooperative-sticky"):
        assignment = planned(group, f"kafka-java/{name}@4.4.0").assignment
        assert owners(assignment, "t") == [*keeps], name


def test_static_members_come_first_in_range_by_their_instance_ids(planned):
    document = group_of({"t": 4}, PAIR | {"c": ["t"]}).to_dict()
    for member, instance in (("b", "z"), ("c", "y")):
        document["members"][member]["instance_id"] = instance
    group = Group.from_dict(document)
    for version in KAFKA_JAVA.listed:
        assignment = planned(group, f"kafka-java/range@{version}").assignment
        assert owners(assignment, "t") == ["c", "c", "b", "a"], version


def test_racks_count_in_the_releases_that_read_them(planned):
    group = Group.from_dict(KNOWN["rack-aware-sticky-misaligned-owners"])
    moves = {
        version: values(
            planned(group, f"kafka-java/sticky@{version}").assignment, ("stickiness",)
        )[0]
        for version in KAFKA_JAVA.listed
    }
    assert moves == {"4.4.0": 10, "4.0.2": 10, "3.9.2": 10, "2.8.2": 0}


def test_a_number_past_32_bits_is_refused(limit):
    group = group_of({"t": 1}, {"a": ["t"]}, {"a": {"t": [0]}}, generation=2**31)
    outcome = limit.plan(group, "kafka-java/sticky@4.4.0")
    assert (outcome.status, outcome.reason) == (
        "refused",
        "generation of 2147483648: Kafka has 32 bits for it",
    )


def test_the_broker_s_uniform_moved_more_than_needed_in_3_9(planned):
    # One of the two gets three partitions: in 3.9 it was the first, whoever owned them.
    group = group_of({"t": 5}, PAIR, {"a": {"t": [0, 1]}, "b": {"t": [2, 3, 4]}}, generation=1)
    moves = {
        version: values(
            planned(group, f"kafka-broker/uniform@{version}").assignment, ("stickiness",)
        )
        for version in KAFKA_BROKER.listed
    }
    assert moves == {"4.4.0": (0,), "4.0.2": (0,), "3.9.2": (1,)}


def test_the_target_before_that_the_broker_knows_is_the_valid_owner(planned):
    # If two members claim a partition, the broker sees the claim of the higher generation.
    twice = {"a": {"t": [0, 1]}, "b": {"t": [0, 1]}}
    group = group_of({"t": 4}, PAIR, twice, generation={"a": 1, "b": 2})
    for version in KAFKA_BROKER.listed:
        assignment = planned(group, f"kafka-broker/uniform@{version}").assignment
        assert assignment.owner.tolist() == [1, 1, 0, 0], version


@pytest.mark.kills
def test_of_many_groups_one_that_never_returns_is_timed_out_and_the_others_are_planned():
    hangs = Group.read(ROOT / "docs/findings/never-returns.json")
    fine = group_of({"t": 4}, PAIR)
    with TimeLimit(4) as limit:
        outcomes = limit.plan_many([fine, hangs, fine], "kafka-java/cooperative-sticky@4.4.0")
    assert [outcome.status for outcome in outcomes] == ["planned", "timed-out", "planned"]
    assert outcomes[1].seconds == 4


IN_ONE_PROCESS = """
import jpype
from compare.samples.drawn import drawn
from heuristics.shipped.java.java_client import KAFKA_BROKER, KAFKA_JAVA
from heuristics.shipped.java.jvm import loader

NAMES = {
    "kafka-java": "org.apache.kafka.clients.consumer.StickyAssignor",
    "kafka-broker": "org.apache.kafka.coordinator.group.assignor.UniformAssignor",
}
group = next(group for group in drawn(1) if group.n_partitions > 9 and (group.owner >= 0).any())
for client in (KAFKA_JAVA, KAFKA_BROKER):
    for version in client.listed:
        for name in client.assignors:
            held = client.held(group, name, version)
            first = held.plan().assignment.to_dict()
            seconds = held.timed(5)
            assert len(seconds) == 5 and all(0 < s < 5 for s in seconds)
            assert held.plan().assignment.to_dict() == first
for client in (KAFKA_JAVA, KAFKA_BROKER):
    for version in client.listed:
        classes = loader(client.artifact, version, client.caller)
        kafka = jpype.JClass(NAMES[client.name], loader=classes).class_
        print(str(kafka.getProtectionDomain().getCodeSource().getLocation()).rpartition("/")[2])
"""


def test_releases_live_side_by_side_in_one_process_say_nothing_and_find_a_group_as_it_was():
    done = in_python("-c", IN_ONE_PROCESS)
    assert done.stderr == ""
    assert done.stdout.split() == [
        *(f"kafka-clients-{version}.jar" for version in KAFKA_JAVA.listed),
        *(f"kafka-group-coordinator-{version}.jar" for version in KAFKA_BROKER.listed),
    ]
