"""Real groups, from their consumers to the verdict: captured, and as the console tool has them."""

import json
from contextlib import ExitStack

import pytest

from broker import Broker
from groups import BadInput
from tests.assay.calling import assay
from tests.live.moment import (
    COMMITTED,
    GROUPS,
    NEW,
    OLDER,
    RECORDS,
    TELLING,
    moment,
    read_of,
    written,
)

pytestmark = pytest.mark.broker
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
    file = written(now.captured.values(), tmp_path / "all.jsonl")
    asked = [word for group in GROUPS for word in ("--group", group)]
    verdicts = []
    for given in ((file,), ("--bootstrap-server", now.bootstrap, *asked)):
        said = assay("score", *given, "--assignor", "range", "--format", "json")
        assert (said.returncode, said.stderr) == (0, "")
        rows = map(json.loads, said.stdout.splitlines())
        verdicts.append({row["group"]: row["verdict"] for row in rows})
    assert verdicts[0] == verdicts[1]
    assert verdicts[0].keys() == GROUPS.keys()
