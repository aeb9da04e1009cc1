import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from groups import Assignment, Group, values
from heuristics.shipped.java.java_client import KAFKA_BROKER, KAFKA_JAVA
from heuristics.time_limit import TimeLimit

TESTS = Path(__file__).parents[3]
CASES = [json.loads(line) for line in (TESTS / "known_cases.jsonl").read_text().splitlines()]
MISSING = [
    reason
    for client in (KAFKA_JAVA, KAFKA_BROKER)
    for version in client.listed
    if (reason := client.missing("range", version)) is not None
]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING[0] if MISSING else "")


@pytest.fixture(scope="module")
def known() -> dict[str, Group]:
    lines = (TESTS.parent / "corpus" / "known.jsonl").read_text().splitlines()
    return {document["group"]: Group.from_dict(document) for document in map(json.loads, lines)}


@pytest.fixture(scope="module")
def limit():
    with TimeLimit(60) as shared:
        yield shared


def group_of(topics, members, **more) -> Group:
    document = {"format": "assay-group/1", "group": "g", "topics": topics, "members": members}
    return Group.from_dict(document | more)


def group_that_sticky_never_returns_from() -> Group:
    """A fifth member joins, and all claims are valid and of one generation."""
    return group_of(
        {"t0": 15, "t1": 8, "t2": 19},
        {
            "a": {"subscription": ["t0", "t1"], "owned": {"t1": [*range(8)]}, "generation": 1},
            "b": {"subscription": ["t0"], "owned": {"t0": [*range(0, 15, 2)]}, "generation": 1},
            "c": {"subscription": ["t0", "t2"], "owned": {"t2": [*range(19)]}, "generation": 1},
            "d": {"subscription": ["t0"], "owned": {"t0": [*range(1, 15, 2)]}, "generation": 1},
            "e": {"subscription": ["t0", "t1", "t2"]},
        },
    )


def owners(assignment: Assignment, topic: str) -> list[str]:
    group = assignment.group
    t = group.topics.index(topic)
    return [group.members[m] for m in assignment.owner[group.first[t] : group.first[t + 1]]]


def planned(limit: TimeLimit, group: Group, name: str) -> Assignment:
    outcome = limit.plan(group, name)
    assert outcome.status == "planned", outcome.reason
    return outcome.plan.assignment


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_every_fact_of_the_release_is_what_its_classes_answer(limit, known, case):
    group = known[case["group"]]
    for name, fact in case["shipped"].items():
        if name == "kafka-java/cooperative-sticky@4.4.0":
            # The facts tell of its first round.
            once = partial(KAFKA_JAVA.one_round, assignor="cooperative-sticky", version="4.4.0")
            limit.plan(group, name)
            assignment = limit.call(once, group).plan.assignment
        else:
            assignment = planned(limit, group, name)
        read = group.readers[group.topic] > 0
        found = {
            "loads": sorted(assignment.loads.tolist()),
            "moves": values(assignment, ("stickiness",))[0],
            "unassigned": int((read & (assignment.owner < 0)).sum()),
        }
        assert found == {"unassigned": 0} | fact, name
        assert not assignment.strays


def test_cooperative_rounds_end_where_nobody_must_revoke(limit, known):
    outcome = limit.plan(known["add-two-consumers"], "kafka-java/cooperative-sticky@4.4.0")
    plan = outcome.plan
    assert (plan.rounds, plan.revoked, plan.ownerless) == (2, 3, 3)
    assert sorted(plan.assignment.loads.tolist()) == [1, 2, 2, 2]
    assert plan.assignment.is_valid


def test_a_partition_claimed_twice_in_one_generation_is_lost_to_both(limit):
    for more, less in (("a", "b"), ("b", "a")):
        group = group_of(
            {"t": 4},
            {
                more: {"subscription": ["t"], "owned": {"t": [0, 1, 2, 3]}, "generation": 1},
                less: {"subscription": ["t"], "owned": {"t": [0, 1]}, "generation": 1},
            },
        )
        for name in ("sticky", "cooperative-sticky"):
            assignment = planned(limit, group, f"kafka-java/{name}@4.4.0")
            assert owners(assignment, "t") == [less, less, more, more], name


def test_of_two_generations_the_higher_keeps_the_partition(limit):
    for old, new in (("a", "b"), ("b", "a")):
        group = group_of(
            {"t": 4},
            {
                old: {"subscription": ["t"], "owned": {"t": [0, 1]}, "generation": 1},
                new: {"subscription": ["t"], "owned": {"t": [0, 1]}, "generation": 2},
            },
        )
        for name in ("sticky", "cooperative-sticky"):
            assignment = planned(limit, group, f"kafka-java/{name}@4.4.0")
            assert owners(assignment, "t") == [new, new, old, old], name


def test_an_older_claim_without_conflict_is_kept(limit):
    group = group_of(
        {"t": 4},
        {
            "a": {"subscription": ["t"], "owned": {"t": [0, 3]}, "generation": 1},
            "b": {"subscription": ["t"], "owned": {"t": [1, 2]}, "generation": 5},
        },
    )
    for name in ("sticky", "cooperative-sticky"):
        assignment = planned(limit, group, f"kafka-java/{name}@4.4.0")
        assert owners(assignment, "t") == ["a", "b", "b", "a"], name


def test_static_members_come_first_in_range_by_their_instance_ids(limit):
    group = group_of(
        {"t": 4},
        {
            "a": {"subscription": ["t"]},
            "b": {"subscription": ["t"], "instance_id": "z"},
            "c": {"subscription": ["t"], "instance_id": "y"},
        },
    )
    for version in KAFKA_JAVA.listed:
        assignment = planned(limit, group, f"kafka-java/range@{version}")
        assert owners(assignment, "t") == ["c", "c", "b", "a"], version


def test_racks_count_in_the_releases_that_read_them(limit, known):
    group = known["rack-aware-sticky-misaligned-owners"]
    moves = {
        version: values(planned(limit, group, f"kafka-java/sticky@{version}"), ("stickiness",))[0]
        for version in KAFKA_JAVA.listed
    }
    assert moves == {"4.4.0": 10, "4.0.2": 10, "3.9.2": 10, "2.8.2": 0}


def test_topics_that_do_not_exist_are_subscribed_to_in_vain(limit):
    group = group_of(
        {"t": 2}, {"a": {"subscription": ["gone", "t"]}, "b": {"subscription": ["t"]}}
    )
    for name in KAFKA_JAVA.assignors:
        assignment = planned(limit, group, f"kafka-java/{name}@4.4.0")
        assert sorted(owners(assignment, "t")) == ["a", "b"]
        assert not assignment.strays


def test_a_group_without_members_has_no_leader_to_ask(limit):
    group = group_of({"t": 2}, {})
    for name in KAFKA_JAVA.assignors:
        assert planned(limit, group, f"kafka-java/{name}@4.4.0").owner.tolist() == [-1, -1]


def test_an_exception_is_one_line(limit):
    # The topic was made anew with fewer partitions than its owner remembers.
    group = group_of(
        {"t": 1},
        {
            "a": {"subscription": ["t"], "generation": 1},
            "b": {"subscription": ["t"], "owned": {"t": [1]}, "generation": 1},
        },
    )
    outcome = limit.plan(group, "kafka-java/sticky@4.4.0")
    assert outcome.status == "failed"
    assert (
        outcome.reason
        == "java.lang.IllegalStateException: No more unfilled consumers to be assigned."
    )


def test_what_is_handed_out_that_does_not_exist_stays_in_the_assignment(limit):
    group = group_of(
        {"t": 2},
        {
            "a": {"subscription": ["t"], "generation": 1},
            "b": {"subscription": ["t"], "owned": {"t": [2]}, "generation": 1},
        },
    )
    assignment = planned(limit, group, "kafka-java/sticky@4.4.0")
    assert assignment.strays == ((1, "t", 2),)
    assert [str(violation) for violation in assignment.violations] == [
        "t-2 with b: no-such-partition"
    ]


def test_a_number_past_32_bits_is_refused(limit):
    group = group_of(
        {"t": 1}, {"a": {"subscription": ["t"], "owned": {"t": [0]}, "generation": 2**31}}
    )
    outcome = limit.plan(group, "kafka-java/sticky@4.4.0")
    assert outcome.status == "refused"
    assert outcome.reason == "generation of 2147483648: Kafka has 32 bits for it"


@pytest.mark.kills
def test_a_call_that_never_returns_is_ended_and_the_next_group_goes_on():
    group = group_that_sticky_never_returns_from()
    with TimeLimit(4) as limit:
        for name in ("sticky@4.4.0", "cooperative-sticky@4.4.0", "sticky@2.8.2"):
            hung = limit.plan(group, f"kafka-java/{name}")
            assert (hung.status, hung.reason) == ("timed-out", "no answer within 4 s"), name
            after = limit.plan(group, "kafka-java/range@4.4.0")
            assert after.status == "planned"


@pytest.mark.kills
def test_of_many_groups_one_that_never_returns_is_timed_out_and_the_others_are_planned():
    hangs = group_that_sticky_never_returns_from()
    fine = group_of({"t": 4}, {"a": {"subscription": ["t"]}, "b": {"subscription": ["t"]}})
    with TimeLimit(4) as limit:
        outcomes = limit.plan_many([fine, hangs, fine], "kafka-java/cooperative-sticky@4.4.0")
    assert [outcome.status for outcome in outcomes] == ["planned", "timed-out", "planned"]
    assert outcomes[1].seconds == 4


SIDE_BY_SIDE = """
import jpype
from heuristics.shipped.client import tiny
from heuristics.shipped.java.java_client import KAFKA_BROKER, KAFKA_JAVA
from heuristics.shipped.java.jvm import loader

NAMES = {
    "kafka-java": "org.apache.kafka.clients.consumer.StickyAssignor",
    "kafka-broker": "org.apache.kafka.coordinator.group.assignor.UniformAssignor",
}
for client in (KAFKA_JAVA, KAFKA_BROKER):
    for version in client.listed:
        client.plan(tiny(), "range", version)
for client in (KAFKA_JAVA, KAFKA_BROKER):
    for version in client.listed:
        classes = loader(client.artifact, version, client.caller)
        kafka = jpype.JClass(NAMES[client.name], loader=classes).class_
        print(str(kafka.getProtectionDomain().getCodeSource().getLocation()).rpartition("/")[2])
"""


def test_releases_live_side_by_side_in_one_process_and_say_nothing():
    done = subprocess.run(
        [sys.executable, "-c", SIDE_BY_SIDE], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout.split() == [
        *(f"kafka-clients-{version}.jar" for version in KAFKA_JAVA.listed),
        *(f"kafka-group-coordinator-{version}.jar" for version in KAFKA_BROKER.listed),
    ]


TIMED = """
from groups import Group
from heuristics.shipped.java.java_client import KAFKA_JAVA
from heuristics.shipped.client import tiny

for name in KAFKA_JAVA.assignors:
    seconds = KAFKA_JAVA.held(tiny(), name, "4.4.0").timed(5)
    print(len(seconds), all(0 < s < 5 for s in seconds))
"""


def test_warm_calls_are_timed_one_by_one():
    done = subprocess.run(
        [sys.executable, "-c", TIMED], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["5 True"] * 4
