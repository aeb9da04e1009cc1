import subprocess
import sys

import pytest

from groups import BadInput, Group
from heuristics import WRITTEN, assign, assignors, available, matching, plan


def test_assignors_are_listed_under_their_own_names_with_source_and_version():
    assert list(assignors()) == [assignor.name for assignor in assignors().values()]
    for name, assignor in WRITTEN.items():
        assert assignor.kind == "written"
        assert assignor.source
        assert (assignor.version or name).lower() in (name, "-".join(name.split("-")[:2]))
        assert assignor.missing() is None
    for name in list(assignors())[len(WRITTEN) :]:
        shipped = assignors()[name]
        assert (shipped.kind, shipped.version) == ("shipped", name.partition("@")[2])
        assert name.count("/") == name.count("@") == 1


def test_available_are_those_written_and_the_newest_of_each_shipped_that_can_be_called():
    names = available()
    assert names[: len(WRITTEN)] == tuple(WRITTEN)
    assert len({name.partition("@")[0] for name in names}) == len(names)
    assert all(assignors()[name].missing() is None for name in names)


def test_a_pattern_stands_for_all_that_are_listed_and_match():
    newest = matching(["kafka-java/*@4.4.0", "range", "range"])
    assert [name.partition("/")[2] for name in newest] == [
        "range@4.4.0", "roundrobin@4.4.0", "sticky@4.4.0", "cooperative-sticky@4.4.0", "",
    ]  # fmt: skip
    with pytest.raises(BadInput, match=r"^assignor: nothing listed matches 'kafka-jaba/\*'$"):
        matching(["kafka-jaba/*"])


def test_a_shipped_assignor_of_a_version_that_is_not_listed_can_be_asked_for():
    assert matching(["kafka-java/sticky@3.7.1"]) == ("kafka-java/sticky@3.7.1",)
    for name, said in {
        "kafka-jaba/sticky": "client: unknown name 'kafka-jaba', expected one of kafka-java, ",
        "kafka-java/stiky": "assignor: unknown name 'kafka-java/stiky', expected one of kafka-",
        "kafka-java/sticky@x": "assignor: 'kafka-java/sticky@x' has no version after the @",
    }.items():
        with pytest.raises(BadInput) as refused:
            matching([name])
        assert str(refused.value).startswith(said)


def test_a_shipped_assignor_that_is_not_here_is_bad_input_with_the_command_for_it(group_of):
    with pytest.raises(BadInput, match=r"^kafka-java/sticky@0.0.1: .*4"):
        assign(group_of({"t": 1}, {"a": ["t"]}), "kafka-java/sticky@0.0.1")


def test_an_unknown_name_is_bad_input_that_lists_the_known_ones(group_of):
    with pytest.raises(
        BadInput, match=r"^assignor: unknown name 'sticky', expected one of range,"
    ):
        assign(group_of({"t": 1}, {"a": ["t"]}), "sticky")


@pytest.mark.parametrize("name", WRITTEN)
def test_an_unknown_subscription_is_bad_input_until_it_is_assumed(name):
    members = {"a": {"subscription": None}}
    document = {"format": "assay-group/1", "group": "g", "members": members}
    group = Group.from_dict(document | {"topics": {"t": {"partitions": 1, "lag": [0]}}})
    with pytest.raises(BadInput, match=r"members\.a\.subscription: unknown; pass --reads"):
        plan(group, name)
    assert assign(group.with_equal_subscriptions(), name).to_dict() == {"a": {"t": [0]}}


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize(
    ("topics", "subscriptions"),
    [({}, {}), ({"t": 0}, {"a": ["t"]}), ({"t": 2}, {}), ({}, {"a": ["gone"]}), ({}, {"a": []})],
)
def test_groups_without_members_topics_or_partitions_are_assigned(
    group_of, name, topics, subscriptions
):
    made = plan(group_of(topics, subscriptions), name)
    assert made.assignment.is_valid
    assert made.assignment.loads.sum() == 0
    assert (made.rounds, made.revoked, made.ownerless) == (1, 0, 0)


CLIENTS = {"jpype", "kafka", "aiokafka", "confluent_kafka"}
LOADED = """
import sys
from pathlib import Path
{statement}
maps = Path("/proc/self/maps")
print(maps.is_file() and "rdkafka" in maps.read_text(), *sys.modules)
"""


@pytest.mark.parametrize(
    "statement", ["import heuristics", "import heuristics; heuristics.assignor_named('range')"]
)
def test_no_client_is_loaded_before_it_is_asked_for(statement):
    command = [sys.executable, "-c", LOADED.format(statement=statement)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    mapped, *modules = done.stdout.split()
    assert mapped == "False"
    assert "heuristics.shipped" in modules
    assert {name.partition(".")[0] for name in modules} & CLIENTS == set()


def test_what_is_listed_cannot_be_changed():
    for listed in (WRITTEN, assignors()):
        with pytest.raises(TypeError, match="does not support item assignment"):
            listed["mine"] = WRITTEN["range"]
