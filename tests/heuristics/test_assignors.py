import json
import re
from pathlib import Path

import pytest

from groups import BadInput, Group
from groups.wording import listed
from heuristics import WRITTEN, assign, assignor_named, assignors, available, matching, plan
from heuristics.shipped import CLIENTS, FETCHED
from heuristics.shipped.consumers.library import FRANZ_GO
from heuristics.shipped.java.java_client import KAFKA_BROKER, RELEASES
from tests.heuristics.conftest import note_jars
from tests.optimal.small_groups import document, group_of
from tests.processes import in_python

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "shipped-assignors.md"


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


def test_written_and_shipped_stand_for_all_of_these_that_can_be_called_here():
    assert matching(["written"]) == tuple(WRITTEN)
    both = matching(["written", "shipped"])
    assert both == tuple(name for name in available() if assignors()[name].kind != "own")


def test_a_pattern_stands_for_all_that_are_listed_and_match():
    newest = matching(["kafka-java/*@4.4.0", "range", "range"])
    assert [name.partition("/")[2] for name in newest] == [
        "range@4.4.0", "roundrobin@4.4.0", "sticky@4.4.0", "cooperative-sticky@4.4.0", "",
    ]  # fmt: skip
    with pytest.raises(BadInput, match=r"^assignor: nothing listed matches 'kafka-jaba/\*'$"):
        matching(["kafka-jaba/*"])


def test_the_name_of_a_client_stands_for_the_newest_of_each_of_its_assignors():
    names = matching(["kafka-broker", "range"])
    assert [name.partition("@")[0] for name in names] == [
        "kafka-broker/uniform", "kafka-broker/range", "range",
    ]  # fmt: skip
    assert len({name.partition("@")[2] for name in names[:2]}) == 1


def test_a_shipped_assignor_of_a_version_that_is_not_listed_can_be_asked_for():
    assert matching(["kafka-java/sticky@3.7.1"]) == ("kafka-java/sticky@3.7.1",)
    for name, said in {
        "kafka-jaba/sticky": (
            "assignor: unknown name 'kafka-jaba/sticky'; nearest: kafka-java/sticky, "
        ),
        "kafka-java/stiky@4.4.0": (
            "assignor: unknown name 'kafka-java/stiky@4.4.0'; nearest: kafka-java/sticky, "
            "kafka-java/cooperative-sticky, kafka-java/range; assay assignors lists all"
        ),
        "kafka-java@": "assignor: unknown name 'kafka-java@'; nearest: kafka-java, ",
        "kafka-java/sticky@": "assignor: 'kafka-java/sticky@' has no version after the @",
        "kafka-streams/sticky@": "assignor: 'kafka-streams/sticky@' has no version after the @",
        "kafka-java/sticky@x": "assignor: 'kafka-java/sticky@x' has no version after the @",
    }.items():
        with pytest.raises(BadInput) as refused:
            matching([name])
        assert str(refused.value).startswith(said)


def test_a_shipped_assignor_that_is_not_here_is_bad_input_with_the_command_for_it():
    with pytest.raises(BadInput, match=r"^kafka-java/sticky@0.0.1: .*4"):
        assign(group_of({"t": 1}, {"a": ["t"]}), "kafka-java/sticky@0.0.1")


UNKNOWN = {
    "rnage": ["range"],
    "cooperative_sticky": ["cooperative-sticky"],
    "Uniform Assignor": ["UniformAssignor"],
    "org.apache.kafka.clients.consumer.CoperativeStickyAssignor": ["CooperativeStickyAssignor"],
    "StickyAsignor": ["StickyAssignor"],
    "xyzzy": [],
    "": [],
    "@": [],
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unknown_name_is_bad_input_with_the_three_nearest_in_one_line(name):
    with pytest.raises(BadInput) as refused:
        assign(group_of({"t": 1}, {"a": ["t"]}), name)
    said = re.fullmatch(
        r"assignor: unknown name '.*'; nearest: (.*); assay assignors lists all",
        str(refused.value),
    )
    near = said[1].split(", ")
    assert (len(near), near[: len(UNKNOWN[name])]) == (3, UNKNOWN[name])
    for one in near:
        assert matching([one])


def test_names_that_are_no_assignors_are_suggested_where_they_may_be_asked_for():
    assert matching(["current", "range"], besides=["current"]) == ("current", "range")
    with pytest.raises(BadInput, match="unknown name 'curent'; nearest: current, "):
        matching(["curent"], besides=["current"])
    with pytest.raises(BadInput, match=r"unknown name 'current'; nearest: (?!current)"):
        matching(["current"])


CONSUMER = "org.apache.kafka.clients.consumer"
COORDINATOR = "org.apache.kafka.coordinator.group.assignor"
AS_PEOPLE_KNOW_THEM = {
    "cooperative-sticky": "kafka-java/cooperative-sticky",
    "CooperativeStickyAssignor": "kafka-java/cooperative-sticky",
    f"{CONSUMER}.CooperativeStickyAssignor": "kafka-java/cooperative-sticky",
    "sticky": "kafka-java/sticky",
    "StickyAssignor": "kafka-java/sticky",
    f"{CONSUMER}.StickyAssignor": "kafka-java/sticky",
    "stickyassignor": "kafka-java/sticky",
    "RangeAssignor": "kafka-java/range",
    f"{CONSUMER}.RangeAssignor": "kafka-java/range",
    "RoundRobinAssignor": "kafka-java/roundrobin",
    f"{CONSUMER}.RoundRobinAssignor": "kafka-java/roundrobin",
    "uniform": "kafka-broker/uniform",
    "UniformAssignor": "kafka-broker/uniform",
    f"{COORDINATOR}.UniformAssignor": "kafka-broker/uniform",
    f"{COORDINATOR}.RangeAssignor": "kafka-broker/range",
}


@pytest.mark.parametrize("name", AS_PEOPLE_KNOW_THEM)
def test_names_of_configurations_mean_the_newest_of_kafkas_that_is_here(name):
    meant = AS_PEOPLE_KNOW_THEM[name]
    here = [one for one in available() if one.partition("@")[0] == meant]
    assert assignor_named(name).name == (here or [f"{meant}@{RELEASES[0]}"])[0]
    assert matching([f"{name}@4.0.2", name]) == (f"{meant}@4.0.2", assignor_named(name).name)


def test_range_and_roundrobin_stay_the_ones_as_written():
    for name in ("range", "roundrobin"):
        assert assignor_named(name).kind == "written"


def test_a_version_that_was_fetched_is_listed_and_the_newest_where_it_is(empty_cache):
    """A program of its own: what is listed is looked up once in a process."""
    note_jars(empty_cache, "3.10.1", "4.12.0", "4.12.0-rc1")
    program = (
        "from heuristics import assignors, assignor_named\n"
        "print(*(n for n in assignors() if n.startswith('kafka-java/sticky@')))\n"
        "print(assignor_named('kafka-java/sticky@9.9').missing())"
    )
    listed, missing = in_python("-c", program).stdout.splitlines()
    assert [name.partition("@")[2] for name in listed.split()] == [
        "4.12.0", "4.12.0-rc1", *RELEASES[:-2], "3.10.1", *RELEASES[-2:],
    ]  # fmt: skip
    assert "installed" in missing or missing == (
        "the jars of kafka-clients 9.9 are not here, those of 4.12.0, 4.12.0-rc1, 3.10.1 are: "
        "assay fetch kafka-java@9.9"
    )


def test_the_page_on_shipped_assignors_has_every_client_and_every_version_that_is_listed():
    page = " ".join(PAGE.read_text("utf-8").split())
    assert [name for name in FETCHED if f"`{name}/" not in page] == []
    kafka, go = listed(RELEASES), listed(FRANZ_GO.listed)
    broker = KAFKA_BROKER.oldest.removesuffix(".0")
    of_others = f"franz-go {go}, and the newest release of each other client"
    assert f"Kafka {kafka} are listed (the broker's from {broker} on), {of_others}." in page


def test_versions_of_go_and_javascript_clients_that_were_fetched_are_listed(empty_cache):
    listed = {name: CLIENTS[name].versions() for name in ("franz-go", "kafkajs")}
    for program in (
        FRANZ_GO.program("1.30.0"),
        empty_cache / "drivers/franz_go/1.29.0-old/x",
    ):
        program.parent.mkdir(parents=True)
        program.touch()
    for version, inside in {"3.0.0": "3.0.0", "1.0.0": "2.0.0"}.items():
        package = empty_cache / "drivers" / "kafkajs" / version / "node_modules" / "kafkajs"
        package.mkdir(parents=True)
        (package / "package.json").write_text(json.dumps({"version": inside}))
    assert CLIENTS["franz-go"].versions() == ("1.30.0", *listed["franz-go"])
    assert CLIENTS["kafkajs"].versions() == ("3.0.0", *listed["kafkajs"])


@pytest.mark.parametrize("name", WRITTEN)
def test_an_unknown_subscription_is_bad_input_until_it_is_assumed(name):
    topics = {"t": {"partitions": 1, "lag": [0]}}
    group = Group.from_dict(document(topics, {"a": {"subscription": None}}))
    with pytest.raises(BadInput, match=r"members\.a\.subscription: unknown; group\.with_equal"):
        plan(group, name)
    assert assign(group.with_equal_subscriptions(), name).to_dict() == {"a": {"t": [0]}}


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize(
    ("topics", "subscriptions"),
    [({}, {}), ({"t": 0}, {"a": ["t"]}), ({"t": 2}, {}), ({}, {"a": ["gone"]}), ({}, {"a": []})],
)
def test_groups_without_members_topics_or_partitions_are_assigned(name, topics, subscriptions):
    made = plan(group_of(topics, subscriptions), name)
    assert made.assignment.is_valid
    assert made.assignment.loads.sum() == 0
    assert (made.rounds, made.revoked, made.ownerless) == (1, 0, 0)


LIBRARIES = {"jpype", "kafka", "aiokafka", "confluent_kafka"}
LOADED = """
import sys
from pathlib import Path
import heuristics
heuristics.assignors, heuristics.assignor_named("range")
maps = Path("/proc/self/maps")
print(maps.is_file() and "rdkafka" in maps.read_text(), *sys.modules)
"""


def test_no_client_is_loaded_before_it_is_asked_for():
    mapped, *modules = in_python("-c", LOADED).stdout.split()
    assert mapped == "False"
    assert "heuristics.shipped" in modules
    assert {name.partition(".")[0] for name in modules} & LIBRARIES == set()


def test_what_is_listed_cannot_be_changed():
    for known in (WRITTEN, assignors()):
        with pytest.raises(TypeError, match="does not support item assignment"):
            known["mine"] = WRITTEN["range"]
