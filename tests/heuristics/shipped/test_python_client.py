"""kafka-python and aiokafka, called as they are: what they do wrong is asserted as they do it."""

from dataclasses import replace
from importlib import import_module

import pytest

from groups import BadInput, Group
from heuristics import assignor_named
from heuristics.shipped import client_named, python_client
from heuristics.shipped.client import joining
from heuristics.shipped.python_client import joined_by_class
from tests.clients import called
from tests.optimal.small_groups import group_of
from tests.processes import in_python

NAMES = [
    f"{client}/{assignor}"
    for client in ("kafka-python", "aiokafka")
    for assignor in client_named(client).assignors
]
STICKY = [name for name in NAMES if name.endswith("sticky")]


def here(name):
    return called(name).function


BOTH = {"a": ["t"], "b": ["t"]}


@pytest.mark.parametrize("name", NAMES)
def test_two_topics_of_three_partitions_go_to_two_members_as_documented(name):
    topics = {"t0": 3, "t1": 3}
    group = group_of(topics, {"C0": [*topics], "C1": [*topics]})
    made = here(name)(group)
    assert made.assignment.is_valid
    assert made.seconds > 0
    assert made.assignment.loads.tolist() == ([4, 2] if name.endswith("/range") else [3, 3])


@pytest.mark.parametrize("name", STICKY)
def test_claims_travel_and_are_kept(name):
    group = group_of({"t": 4}, BOTH, {"a": {"t": [1, 3]}}, generation={"a": 7, "b": -1})
    assert here(name)(group).assignment.to_dict() == {"a": {"t": [1, 3]}, "b": {"t": [0, 2]}}


@pytest.mark.parametrize("name", STICKY)
def test_what_a_member_stopped_reading_is_taken_from_it(name):
    reads, generation = {"a": ["t"], "b": ["u"]}, {"a": 1, "b": -1}
    group = group_of({"t": 1, "u": 1}, reads, {"a": {"u": [0]}}, generation=generation)
    made = here(name)(group).assignment
    assert made.to_dict() == {"a": {"t": [0]}, "b": {"u": [0]}}


@pytest.mark.parametrize("name", ["kafka-python/range", "kafka-python/roundrobin"])
def test_kafka_python_3_0_12_forgets_members_listed_before_a_static_one(name):
    # itertools.groupby groups neighbours only: of two runs of dynamic members the last one counts.
    document = group_of({"t": 4}, BOTH | {"c": ["t"]}).to_dict()
    document["members"]["b"]["instance_id"] = "i"
    made = here(name)(Group.from_dict(document)).assignment
    assert made.is_valid
    assert made.loads.tolist() == [0, 2, 2]


def test_cooperative_sticky_of_kafka_python_withholds_what_two_members_claim_from_the_first():
    claim = {"t": [0]}
    group = group_of({"t": 2}, BOTH, {"a": claim, "b": claim}, generation={"a": 2, "b": 1})
    made = here("kafka-python/cooperative-sticky")(group)
    assert made.rounds == 2
    assert made.assignment.loads.tolist() == [1, 1]


def test_the_classes_of_aiokafka_remember_nothing_of_a_group():
    function = here("aiokafka/sticky")
    from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

    group = group_of({"t": 2}, BOTH, {"a": {"t": [0, 1]}}, generation={"a": 3, "b": -1})
    before = dict(vars(StickyPartitionAssignor))
    made = function(group).assignment
    assert made.to_dict() == {"a": {"t": [0]}, "b": {"t": [1]}}
    assert dict(vars(StickyPartitionAssignor)) == before


@pytest.mark.parametrize(("generations", "generation"), [(True, 3), (False, -1)])
def test_a_sticky_class_says_a_generation_only_where_its_client_tells_it_one(
    generations, generation
):
    here("aiokafka/sticky")
    from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
    from aiokafka.coordinator.protocol import ConsumerProtocol

    members = joining(group_of({"t": 1}, {"a": ["t"]}, {"a": {"t": [0]}}, generation=3))
    leader, sent = joined_by_class(
        StickyPartitionAssignor, members, ConsumerProtocol, generations=generations
    )
    heard = leader.parse_member_metadata(sent["a"])
    assert ([tuple(one) for one in heard.partitions], heard.generation) == ([("t", 0)], generation)


CLAIMED_TWICE = """
import sys
from groups import Group
from heuristics import assignor_named
claim = {"subscription": ["t", "gone"], "owned": {"t": [0]}, "generation": 1}
document = {"format": "assay-group/1", "group": "g", "topics": {"t": 1}}
group = Group.from_dict(document | {"members": {"a": claim, "b": claim}})
print(*(assignor_named(name).function(group).assignment.is_valid for name in sys.argv[1:]))
"""


def test_what_the_clients_log_stays_off_the_streams():
    for name in STICKY:
        here(name)
    ran = in_python("-c", CLAIMED_TWICE, *STICKY)
    assert (ran.stdout, ran.stderr) == ("True True True\n", "")


@pytest.mark.parametrize("name", ["kafka-python/sticky", "aiokafka/sticky"])
def test_another_version_than_the_installed_one_is_missing_and_says_what_to_install(name):
    here(name)
    package = name.partition("/")[0]
    installed = python_client.installed(package)
    asked = assignor_named(f"{name}@0.1")
    reason = f"{package} {installed} is installed, not 0.1: pip install {package}==0.1"
    assert asked.missing() == reason
    with pytest.raises(BadInput, match=f"^{reason}$"):
        client_named(package).fetch("0.1")


def test_a_package_that_is_not_there_is_missing_with_the_command_for_it():
    reason = python_client.missing("kafka-assay-absent", "1.0")
    assert reason == (
        "kafka-assay-absent is not installed: in the clone of kafka-assay, "
        "pip install '.[clients]'"
    )


@pytest.mark.parametrize("name", ["aiokafka/sticky", "kafka-python/sticky"])
def test_a_member_that_lists_the_same_topics_in_another_order_costs_a_move(name):
    """In the client that order is one of a Python set, and so another one in each process."""
    here(name)
    topics = {"t0": 2, "t1": 3}
    owned = {"a": {"t0": [1], "t1": [1, 2]}, "b": {"t0": [0], "t1": [0]}}
    generation = {"a": 1, "b": 1, "c": -1}
    group = group_of(topics, {m: [*topics] for m in "abc"}, owned, generation=generation)
    assert len(here(name)(group).assignment.moved) == 1
    client = client_named(name.partition("/")[0])
    module, _, class_ = client.assignors["sticky"].partition(":")
    said = [
        replace(one, subscription=one.subscription[:: -1 if one.member_id == "b" else 1])
        for one in joining(group)
    ]
    leader, told = client.joined(getattr(import_module(module), class_), said)
    made = leader.assign(client.cluster(topics.items()), told)
    given = {member: dict(client.given(one)) for member, one in made.items()}
    assert given == {
        "a": {"t1": [1, 2]},
        "b": {"t0": [1], "t1": [0]},
        "c": {"t0": [0]},
    }
