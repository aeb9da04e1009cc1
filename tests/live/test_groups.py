"""Real groups, from their consumers to the verdict: captured, and as the console tool has them."""

import json
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from broker import Broker, Consumer, NotSettled, settle
from broker.distribution import release_of
from groups import BadInput
from groups.importers import import_each
from live.capture import capture
from live.connection import Connection
from tests.assay.calling import assay, write
from tests.processes import until

pytestmark = pytest.mark.broker
TOPICS = {"orders": 4, "refunds": 3, "payments": 3, "narrow": 1}
RECORDS = {
    "orders": {0: 100, 1: 20, 2: 30, 3: 0},
    "refunds": {0: 7},
    "payments": {0: 5, 1: 5, 2: 5},
}
COMMITTED = {"orders": {0: 60, 1: 20, 2: 0}, "refunds": {0: 7, 1: 0, 2: 0}, "payments": {0: 1}}
BOTH = ("refunds", "payments")
# The consumers of each group: kind, topics, and other arguments of `Consumer.start`.
GROUPS = {
    "uneven": [("kafka-python", BOTH, {"assignor": "range"})] * 2,
    "static": [
        ("confluent", ["orders"], {"assignor": "cooperative-sticky", "instance_id": f"i-{n}"})
        for n in range(2)
    ],
    "async": [("aiokafka", ["orders"], {"assignor": "sticky"})] * 2,
    "java": [("java", ["orders"], {"assignor": "cooperative-sticky"})] * 2,
    "idle": [("confluent", ["narrow"], {})] * 2,
    "differing": [
        ("kafka-python", topics, {"assignor": "sticky"})
        for topics in (["narrow"], ["narrow", "orders"])
    ],
    "next": [("confluent-kip-848", ["orders", "refunds"], {})] * 2,
    "mixed": [
        ("confluent", ["orders"], {"assignor": "range"}),
        ("confluent-kip-848", ["orders"], {}),
    ],
}
NEW = ("next", "mixed")
VIEWS = {
    "describe": ("consumer-groups", "--describe"),
    "members": ("consumer-groups", "--describe", "--members"),
    "verbose": ("consumer-groups", "--describe", "--members", "--verbose"),
    "state": ("consumer-groups", "--describe", "--state"),
    "offsets": ("consumer-groups", "--describe", "--offsets", "--verbose"),
    "topics": ("topics", "--describe"),
}
# The views that together tell everything; in 3.8 and 3.9 the verbose one leaves topics out.
TELLING = ("describe", "verbose", "state", "topics")
OLDER = ("describe", "members", "state", "topics")
CONSUMER_GROUPS = (4, 0)
ATTEMPTS = 3


@dataclass(frozen=True)
class Moment:
    version: str
    bootstrap: str
    held: dict
    captured: dict
    failures: tuple
    views: dict

    def imported(self, names):
        """Return the documents, by group, that are imported from some views together."""
        texts = [(name, self.views[name].encode()) for name in names]
        imported, failures = import_each(texts)
        assert failures == []
        return {one.document["group"]: one.document for one in imported}


def with_consumer_groups(broker):
    return release_of(broker.version) >= CONSUMER_GROUPS


def started(broker, running: ExitStack, name, *, in_turn=False):
    """Start all consumers of a group at once, or each after the one before has joined."""
    consumers = []
    for number, (kind, topics, more) in enumerate(GROUPS[name]):
        client_id = f"{name}-{number}"
        start = Consumer.start(
            kind, broker.bootstrap, name, topics, client_id=client_id, commit=False, **more
        )
        consumers.append(running.enter_context(start))
        if name == "mixed" or in_turn:
            # The member of the classic protocol must join first.
            until(lambda: consumers[-1].held() is not None)
    return consumers


def read_of(name):
    return {topic: TOPICS[topic] for _, topics, _ in GROUPS[name] for topic in topics}


def moment(broker, running: ExitStack) -> Moment:
    for topic, partitions in TOPICS.items():
        broker.create_topic(topic, partitions)
        broker.produce(topic, RECORDS.get(topic, {}))
    names = [name for name in GROUPS if name not in NEW or with_consumer_groups(broker)]
    groups = {name: started(broker, running, name) for name in names}
    for name, consumers in groups.items():
        try:
            settle(consumers, read_of(name), 0.5, timeout=60)
        except NotSettled:
            # Of two members of kafka-python that join at once, one may miss a rebalance for good.
            for consumer in consumers:
                consumer.kill()
            groups[name] = started(broker, running, name, in_turn=True)
    for _ in range(ATTEMPTS):
        found = at_once(broker, groups)
        now = {name: [each.assigned() for each in members] for name, members in groups.items()}
        # A client that learned late of a topic, or that had to wait too long, may rebalance again.
        if now == found.held:
            assert found.failures == ()
            assert [view for view in found.views.values() if "Error" in view] == []
            return found
    raise AssertionError(f"the groups went on changing: {found.held}, then {now}")


def at_once(broker, groups) -> Moment:
    held = {name: settle(groups[name], read_of(name), 0.5) for name in groups}
    for name, consumers in groups.items():
        for consumer, has in zip(consumers, held[name], strict=True):
            offsets = {
                topic: {n: at for n, at in COMMITTED[topic].items() if n in has[topic]}
                for topic in has.keys() & COMMITTED.keys()
            }
            if any(offsets.values()):
                consumer.commit(offsets)
    asked = [word for name in groups for word in ("--group", name)]
    views = {}
    for view in {*TELLING, "offsets"} if with_consumer_groups(broker) else {*OLDER, "verbose"}:
        tool, *arguments = VIEWS[view]
        run = broker.tool(tool, *arguments, *(asked if tool == "consumer-groups" else ()))
        views[view] = run.stdout
    captured = capture(Connection(broker.bootstrap), [*groups])
    documents = {one.document["group"]: one.document for one in captured.documents}
    return Moment(broker.version, broker.bootstrap, held, documents, captured.failures, views)


# The fields that a capture has, but no view of the console tool.
ONLY_CAPTURED = ("subscription", "rack", "generation", "subscription_regex")


@pytest.fixture(scope="module")
def now(broker):
    with ExitStack() as running:
        yield moment(broker, running)


@pytest.fixture(scope="module")
def before():
    """A moment of a broker of the last release without KIP-848 groups."""
    try:
        started = Broker.start("3.9.2")
    except BadInput as reason:
        pytest.skip(str(reason))
    with started, ExitStack() as running:
        yield moment(started, running)


def without_what_only_a_capture_has(document):
    """Return a captured document without the fields that the console tool cannot show."""
    topics = {
        name: {"partitions": topic["partitions"]}
        | {"offsets": [each | {"beginning": None} for each in topic["offsets"]]}
        for name, topic in document["topics"].items()
    }
    members = {
        member: {key: value for key, value in told.items() if key not in ONLY_CAPTURED}
        for member, told in document["members"].items()
    }
    return {"group": document["group"], "topics": topics, "members": members}


def what_a_view_shows(document):
    members = {
        member: {key: value for key, value in told.items() if key != "subscription"}
        for member, told in document["members"].items()
    }
    return {"group": document["group"], "topics": document["topics"], "members": members}


@pytest.mark.parametrize("group", GROUPS)
def test_a_capture_and_the_console_tool_agree_on_members_partitions_and_offsets(now, group):
    shown = now.imported(TELLING)[group]
    assert what_a_view_shows(shown) == without_what_only_a_capture_has(now.captured[group])
    assert all(told["subscription"] is None for told in shown["members"].values())


@pytest.mark.parametrize("group", [name for name in GROUPS if name not in NEW])
def test_they_agree_on_the_last_release_that_has_classic_groups_alone(before, group):
    shown = before.imported(OLDER)[group]
    assert what_a_view_shows(shown) == without_what_only_a_capture_has(before.captured[group])


@pytest.mark.parametrize("view", ["describe", "offsets"])
def test_every_view_of_offsets_reads_as_the_same_lag(now, view):
    for group, shown in now.imported((view, "verbose", "state")).items():
        for topic, told in shown["topics"].items():
            captured = now.captured[group]["topics"][topic]["offsets"]
            ends = [(each["end"], each["committed"]) for each in captured]
            assert [(each["end"], each["committed"]) for each in told["offsets"]] == ends


def test_a_capture_has_the_offsets_that_were_written_and_committed(now):
    for group, document in now.captured.items():
        for topic, partitions in read_of(group).items():
            assert document["topics"][topic]["offsets"] == [
                {
                    "beginning": 0,
                    "end": RECORDS.get(topic, {}).get(number, 0),
                    "committed": COMMITTED.get(topic, {}).get(number),
                }
                for number in range(partitions)
            ]


def test_a_capture_has_what_each_consumer_says_that_it_holds_and_what_it_reads(now):
    for group, document in now.captured.items():
        owned = {told["client_id"]: told["owned"] for told in document["members"].values()}
        reads = {told["client_id"]: told["subscription"] for told in document["members"].values()}
        each = [f"{group}-{number}" for number in range(len(GROUPS[group]))]
        assert [owned[client] for client in each] == now.held[group]
        assert [reads[client] for client in each] == [sorted(t) for _, t, _ in GROUPS[group]]


def test_score_says_of_the_cluster_itself_what_it_says_of_the_captures(now, tmp_path):
    file = write(tmp_path, {"all.jsonl": [*now.captured.values()]}) / "all.jsonl"
    asked = [word for group in GROUPS for word in ("--group", group)]
    verdicts = []
    for given in ((file,), ("--bootstrap-server", now.bootstrap, *asked)):
        said = assay("score", *given, "--assignor", "range", "--format", "json")
        assert (said.returncode, said.stderr) == (0, "")
        rows = map(json.loads, said.stdout.splitlines())
        verdicts.append({row["group"]: row["verdict"] for row in rows})
    assert verdicts[0] == verdicts[1]
    assert verdicts[0].keys() == GROUPS.keys()
