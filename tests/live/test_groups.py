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
# What a capture has and no view of the console tool.
ONLY_CAPTURED = ("subscription", "rack", "generation", "subscription_regex")


@pytest.fixture(scope="module")
def now(broker):
    with ExitStack() as running:
        yield moment(broker, running)


@pytest.fixture(scope="module")
def before():
    """The same on the last release without KIP-848 groups."""
    try:
        started = Broker.start("3.9.2")
    except BadInput as reason:
        pytest.skip(str(reason))
    with started, ExitStack() as running:
        yield moment(started, running)


@pytest.fixture(scope="module")
def rows(now, tmp_path_factory):
    """The answer of ``assay score`` to each captured group."""
    file = written(now.captured.values(), tmp_path_factory.mktemp("moment") / "all.jsonl")
    said = assay("score", file, "--assignor", "range", "--format", "json")
    assert said.returncode == 0, said.stderr
    assert len(said.stdout.splitlines()) == len(GROUPS)
    return {row["group"]: row for row in map(json.loads, said.stdout.splitlines())}


def without_what_only_a_capture_has(document):
    """A captured document as the console tool could have shown it."""
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


def test_a_group_of_both_protocols_is_captured_whole(now):
    members = now.captured["mixed"]["members"].values()
    assert sorted(len(told["owned"]["orders"]) for told in members) == [2, 2]
    assert all(told["target"] == told["owned"] for told in members)
    assert len({told["epoch"] for told in members}) == 1


def test_score_says_of_the_cluster_itself_what_it_says_of_the_captures(now, rows):
    asked = [word for group in GROUPS for word in ("--group", group)]
    told = ("--assignor", "range", "--format", "json")
    said = assay("score", "--bootstrap-server", now.bootstrap, *asked, *told)
    assert (said.returncode, said.stderr) == (0, "")
    answers = {row["group"]: row for row in map(json.loads, said.stdout.splitlines())}
    assert {name: row["verdict"] for name, row in answers.items()} == {
        name: row["verdict"] for name, row in rows.items()
    }


def test_the_verdict_on_groups_that_are_shared_evenly_is_sure(rows):
    for group in GROUPS.keys() - {"uneven"}:
        verdict = rows[group]["verdict"]
        told = (verdict["says"], verdict["sure"], verdict["if"])
        assert told == ("as good as can be", True, None), group


def test_the_verdict_on_range_over_two_topics_is_what_one_move_gains(now, rows):
    assert sorted(sum(map(len, has.values())) for has in now.held["uneven"]) == [2, 4]
    verdict = rows["uneven"]["verdict"]
    assert (verdict["says"], verdict["sure"], verdict["moves"]) == ("improvable", True, 1)
    current, ranged = rows["uneven"]["scores"][:2]
    assert [term["value"] for term in current["terms"]] == [
        term["value"] for term in ranged["terms"]
    ]
    assert (verdict["at_least"], verdict["at_most"]) == (current["terms"][0]["excess"],) * 2


def test_no_captured_verdict_depends_on_who_reads_what_and_of_the_view_one_does(
    now, tmp_path, rows
):
    shown = written(now.imported(TELLING).values(), tmp_path / "shown.jsonl")
    said = assay("score", shown, "--format", "json")
    verdicts = {row["group"]: row["verdict"] for row in map(json.loads, said.stdout.splitlines())}
    assert verdicts["differing"]["says"] == "depends on who reads what"
    assert "depends on who reads what" not in {row["verdict"]["says"] for row in rows.values()}


def test_the_lag_of_the_busiest_member_is_what_was_written_and_not_committed(now, tmp_path):
    file = written([now.captured["static"]], tmp_path / "static.json")
    said = assay(
        "score", file, "--objective", "peak_lag", "--assignor", "range", "--format", "json"
    )
    answer = json.loads(said.stdout)
    # 40 records of orders-0 and 30 of orders-2 can be with two members, and are.
    lag = {0: 40, 1: 0, 2: 30, 3: 0}
    loads = [sum(lag[n] for n in has["orders"]) for has in now.held["static"]]
    assert answer["scores"][0]["terms"][0]["value"] == max(loads)
    assert [term["value"] for term in answer["optimum"]["terms"]] == [40]


def test_what_the_tool_prints_of_older_releases_verbosely_is_refused_with_the_reason(before):
    from groups.importers import import_each

    imported, failures = import_each([("verbose", before.views["verbose"].encode())])
    assert imported == []
    assert {failure.reason.partition(" leave ")[0] for failure in failures} == {
        "Kafka 3.8 and 3.9"
    }
    assert len(failures) == len([name for name in GROUPS if name not in NEW])
