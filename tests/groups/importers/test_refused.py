from __future__ import annotations

import json
import re
from typing import Any

import pytest

from groups.errors import BadInput
from groups.group import Group
from groups.importers import DIALECTS, import_each, sniff
from tests.groups.importers.imported import (
    OFFSETS,
    capture,
    import_texts,
    only,
    text_of,
)

VIEWS = ["4.3.1/coop-a-members-verbose.txt", "4.3.1/coop-a-describe.txt"]
OLD = "GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS ASSIGNMENT\n"
SHARE = "GROUP TOPIC PARTITION START-OFFSET LAG\ns t0 0 5 1\n"
STREAMS = "GROUP MEMBER PROCESS CLIENT-ID\ns m p c\nACTIVE-TASKS:: 0: [0] \n"


def refused(*texts: str, dialect: str = "auto", captured_at: str | None = None) -> str:
    sources = [(f"text-{i}", text.encode()) for i, text in enumerate(texts)]
    with pytest.raises(BadInput) as caught:
        import_texts(sources, dialect=dialect, captured_at=captured_at)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def described(**changes: Any) -> str:
    found = json.loads(text_of("kafka-python/coop-a-describe.json"))
    found["coop-a"] |= changes
    return json.dumps(found)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("3.9.2/coop-a-members-verbose.txt", r"3: Kafka 3.8 and 3.9 .* use --describe"),
        ("3.9.2/nosuch-describe.txt", r"2: group 'nosuch' does not exist"),
        (
            "4.3.1/nosuch-describe.txt",
            r"2: the tool ended with an error: .*Group nosuch not found",
        ),
        ("4.3.1/rebal-j-describe.err.txt", r"2: group 'rebal-j' is rebalancing: capture it again"),
        ("4.3.1/rebal-j-describe.txt", r"2: group 'rebal-j' may be rebalancing, .* --state"),
        ("4.3.1/list-state-type.txt", r"1: a list of groups, .* use --describe --all-groups"),
        ("4.3.1/coop-a-state.txt", r"3: 4 members, of which 0 are shown: add --describe"),
        ("4.3.1/coop-a-members.txt", r"3: .* holds 4 partitions, of which 0 are shown: add"),
        ("4.3.1/topics-describe.txt", r": no group in it, add kafka-consumer-groups --describe"),
    ],
)
def test_a_capture_that_is_no_group_says_what_to_run_instead(name: str, says: str) -> None:
    with pytest.raises(BadInput, match=rf"^{name}:?{says}"):
        import_texts(capture(name))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty, expected the output of a tool"),
        ("hello", "begins with 'hello', expected what kafka-consumer-groups"),
        (SHARE, "group 's' is a share group"),
        (OLD + "s m /h c 1 t0:0\n", "a share group has no assignment"),
        (STREAMS, "group 's' is a Kafka Streams group: use kafka-streams-groups of Kafka 4.2"),
        ("Share group 's' has no active members.\n", "group 's' is a share group"),
        (
            "Consumer group 'a' has no active members.Consumer group 'b' is rebalancing.\n",
            "1: two messages in one line: put each on its own",
        ),
        (OFFSETS + "g t0 -1 1 2 1 m /h c\n", "PARTITION '-1', expected a number of 0 or more"),
        (OFFSETS + "g t0 0 -1 2 3 m /h c\n", "CURRENT-OFFSET '-1', expected a number"),
        (OFFSETS + "g t0 0 1 2x 1 m /h c\n", "LOG-END-OFFSET '2x', expected a number"),
        (OFFSETS + "g t0 0 1 2 7 m /h c\n", "LAG '7', but its offsets make 1"),
        (OFFSETS + "g t0 4294967296 1 2 1 m /h c\n", "PARTITION '4294967296', expected"),
        (OFFSETS + "g t0 0 1 2 1 m /h c\n" * 2, "'t0' partition 0 a second time"),
        (OFFSETS + "g t0 2000000 1 2 1 m /h c\n", "2,000,001 partitions, of which 1 are shown"),
        (OLD + "g m /h c 2 t0(0)\n", "#PARTITIONS 2, but 1 in the assignment"),
        (OLD + "g m /h c 2 t0(0,0)\n", "a partition of 't0' twice in one assignment"),
        (OLD + "g m /h c 0 -\ng m /h c 0 -\n", "member 'm' a second time in one table"),
        (
            OFFSETS.replace("LAG ", "") + "g t0 0 1 2 m /h c\n",
            "no header of --describe, or not in",
        ),
        (
            "Topic: t\tPartitionCount: 2\n\tTopic: t\tPartition: 0\n",
            "PartitionCount 2, but 1 part",
        ),
        (described(group_state="PreparingRebalance"), "is rebalancing: capture it again"),
        (described(group_state="Dead"), "does not exist, or is a KIP-848 group"),
        (OFFSETS + "g t0! 0 1 2 1 m /h c\n", "2: topic 't0!', expected letters, digits, dot"),
        (OFFSETS + f"g {'t' * 250} 0 1 2 1 m /h c\n", "expected letters, digits, dot"),
        (OLD + "g m /h c 1 t/0(0)\n", "topic 't/0', expected letters"),
        ("Topic: t,0\tPartitionCount: 1\n", "topic 't,0', expected letters"),
        (described(protocol_type="connect"), "is a Kafka Connect group"),
        # A name with a line break does not break the line of its error.
        (described(group_state="Dead").replace('"coop-a"', '"a\\nb"', 1), "a?b"),
        (described(members={"a": 1}), 'members: {"a": 1}, expected a list'),
        (described() + "}", "Extra data"),
        ('{"group_state": 1, "a": 2}', "1, expected an object"),
        (
            OFFSETS + "g t0 0 1,000 2,000 1,000 m /h c\n",
            "2: CURRENT-OFFSET '1,000', expected a num",
        ),
        (OFFSETS + "g t0 0 \u0661 2 1 m /h c\n", "CURRENT-OFFSET '\u0661', expected a number"),
        (OFFSETS + "g t0 0 1 2 1 m\0 /h c\n", "line 2: a zero byte, the file is damaged"),
        (OFFSETS.replace("LAG CONSUMER-ID", "CONSUMER-ID LAG"), "no header of --describe, or"),
        (OFFSETS.replace(" ", ","), "begins with 'GROUP,TOPIC,PARTITION,"),
        (OFFSETS + "g t0 0 1 2 1 m /h\n", "2: the last line is cut off, 8 of 9 columns are there"),
        (
            OFFSETS + "g g t0 0 1 2 1 m /h c\n",
            "2: 10 columns, but the header has 9: a name with blanks, or",
        ),
        (
            "".join(OFFSETS.removeprefix("GROUP ") + f"{t} 0 1 2 1 m /h c\n" for t in "tu"),
            "3: a second table without a group's name: put each into its own file",
        ),
    ],
)
def test_an_unusable_text_is_refused_in_one_line(text: str, says: str) -> None:
    assert says in refused(text)


def test_a_text_of_another_dialect_or_of_none_is_refused_with_what_is_read() -> None:
    assert "it looks like console, not like rpk" in refused(text_of(VIEWS[0]), dialect="rpk")
    assert "'excel', expected one of auto, console, rpk" in refused("x", dialect="excel")
    assert sniff("a", described()) == "kafka-python"
    said = refused("hello").lower().replace(" ", "-")
    assert [one for one in DIALECTS if one not in said] == ["auto", "console", "plan"]


def test_views_that_contradict_each_other_are_refused() -> None:
    members, offsets = map(text_of, VIEWS)
    moved = members.replace("t0:1,5;t1:3,4", "t0:1,5;t1:2,3").replace("t1:0,1,2", "t1:0,1,4")
    assert "t1-2 is with 'coop-2-" in refused(moved, offsets)
    lines = members.split("\n")
    assert "but with nobody in text-0: group 'coop-a'" in refused("\n".join(lines[:4]), offsets)
    plain = text_of("4.3.1/coop-a-members.txt").split("\n")
    fewer = refused("\n".join(plain[:4]), offsets)
    assert re.search("^text-0:2: member 'coop-.*' is not here, but in text-1: group 'co", fewer)
    host = offsets.replace("/127.0.0.1 ", "/127.0.0.2 ")
    assert "host '/127.0.0.2', but '/127.0.0.1' in text-0: group" in refused(members, host)
    short = "Topic: t0\tPartitionCount: 3\n"
    assert "3 partitions, but t0-5 is shown" in refused(members, short)
    _, failures = import_each([*capture(*VIEWS), ("topics", short.encode())])
    assert [(f.source, f.place, f.group) for f in failures] == [("topics", "topics:1", "coop-a")]
    assert "topic 't0' has 4 partitions, but 3 at" in refused(
        members, short, "Topic: t0\tPartitionCount: 4\n"
    )


def test_one_table_of_two_moments_is_refused_with_both_places_and_what_to_do() -> None:
    plan, offsets = map(text_of, VIEWS)
    old, new = "coop-1-e7b027b4-516a-4b52-9da9-97536dd7038d", "coop-9-x"
    row = "0          300             1200            900"
    for first, changed, line, says in (
        (offsets, (old, new), 2, f"t0-0 is with '{new}', but with '{old}'"),
        (plan, (old, new), 2, f"t0-0 is with '{new}', but with '{old}'"),
        (offsets, (row, "0 301 1200 899"), 3, "t0-0 is at 301 of 1200, but at 300 of 1200"),
        (offsets, (row, "0 - 1200 -"), 3, "t0-0 is at - of 1200, but at 300 of 1200"),
    ):
        later = first.replace(*changed)
        then = "put each into a folder of its own, or compare them with assay diff"
        shown = f"group 'coop-a' is shown at two moments, or in two clusters; {then}"
        at_one_time = refused(first, later, captured_at="2026-11-20T10:00:00Z")
        assert at_one_time == f"text-1:{line}: {says} in text-0: {shown}"
        assert "is shown at two moments" in refused(plan, offsets, later)
        below = first.count("\n") + line
        assert refused(first + later) == f"text-0:{below}: {says} in text-0:2: {shown}"
        # Texts that agree are taken as of one moment.
        assert only(first, first)["members"] == only(first)["members"]
    other = plan.replace(old, new)
    assert refused(other, offsets).endswith("two clusters; capture both at the same time")


def test_texts_with_the_same_tables_that_differ_are_captures_of_several_moments() -> None:
    plan, offsets = map(text_of, VIEWS)
    row = "0          300             1200            900"
    both = [plan + offsets, plan + offsets.replace(row, "0 301 1200 899")]
    rebalancing = "\nWarning: Consumer group 'coop-a' is rebalancing.\n" + offsets
    texts = {"mon": both[0], "tue": both[1], "wed": rebalancing, "thu": both[0]}
    sources = [(name, text.encode()) for name, text in texts.items()]
    times = {name: f"2026-11-2{at}T10:00:00Z" for at, name in enumerate(texts)}
    found, failures = import_each(sources, times=times)
    made = [(one.sources, one.document["captured_at"]) for one in found]
    assert made == [((name,), times[name]) for name in ("mon", "tue", "thu")]
    assert len({str(one.document["members"]) for one in found}) == 1
    ((failure,),) = (failures,)
    assert (failure.source, failure.group) == ("wed", None)
    # Of one time they are no captures, and a group that is rebalancing is not made from others.
    found, failures = import_each(sources[:2], captured_at=times["mon"])
    assert not found
    assert "is shown at two moments" in failures[0].reason
    found, failures = import_each([sources[0], sources[2]], times=times)
    assert not found
    assert "is rebalancing" in failures[0].reason


@pytest.mark.parametrize(
    ("topics", "notes"),
    [
        (
            1,
            [
                "t0-0: shown with 2 members, all claim it",
                "t0: 48 partitions, the highest number seen + 1",
                "t0: partition 47 is far beyond the others, up to 0",
            ],
        ),
        (
            300,
            [
                "300 partitions are shown with several members, all claim them: "
                "t0-0, t1-0, t10-0 and 297 more",
                "partition counts of 300 topics: the highest number seen + 1",
                "300 partitions are far beyond the others of their topics: "
                "t0-47, t1-47, t10-47 and 297 more",
            ],
        ),
    ],
)
def test_what_is_assumed_is_a_line_a_kind_and_not_a_line_a_topic(topics, notes) -> None:
    rows = OFFSETS
    for topic in range(topics):
        rows += f"g t{topic} 0 1 2 1 m1 /h c\ng t{topic} 0 1 2 1 m2 /h c\n"
        rows += f"g t{topic} 47 - 2 - m1 /h c\n"
    document = only(rows)
    idle = "members: those that hold partitions, no view lists idle ones"
    assert document["assumed"] == [idle, *notes]
    held = [said["owned"]["t0"] for said in document["members"].values()]
    assert held == [[0, 47], [0]]


def test_a_commit_past_the_end_is_a_negative_lag_and_legal() -> None:
    document = only(OFFSETS + "g t0 0 9 2 -7 m /h c\n")
    assert document["topics"]["t0"]["offsets"] == [{"beginning": None, "end": 2, "committed": 9}]
    assert "lag: 0 where the commit is beyond the end of the log: t0-0" in document["assumed"]
    assert Group.from_dict(document).lag_records.tolist() == [0]
    equal = only(OFFSETS + "g t0 0 2 2 0 m /h c\n")
    assert not any("beyond" in line for line in equal["assumed"])


def test_a_view_of_members_says_nothing_of_the_state_of_a_group_that_has_committed_nothing():
    names = "4.3.1/rebal-j-describe.txt", "4.3.1/rebal-j-members-verbose.txt"
    table, members = map(text_of, names)
    assert "group 'rebal-j' may be rebalancing" in refused(table, members)
    assert "group 'rebal-j' may be rebalancing" in refused(members, table)
    state = text_of("4.3.1/coop-a-state.txt").replace("coop-a ", "rebal-j")
    state = state.replace("Stable               4", "Stable 2")
    assert len(only(table, members, state)["members"]) == 2
    # Members with targets are compared by these.
    targets = re.sub(r"-( +)- +$", r"7\1t1:4", members, flags=re.MULTILINE)
    assert targets.count("t1:4\n") == 2
    assert len(only(table, targets)["members"]) == 2


def test_a_group_that_is_not_to_be_had_is_told_from_a_text_that_is_damaged() -> None:
    good = OFFSETS + "g t0 0 1 2 1 m /h c\n"
    for text in (SHARE, STREAMS, "Consumer group 'r' is rebalancing.\n"):
        imported, failures = import_each([("a", (good + text).encode())])
        assert [found.document["group"] for found in imported] == ["g"]
        assert [failure.not_to_be_had for failure in failures] == [True]
    _, failures = import_each([("a", OFFSETS.encode() + b"g t0 0 1 2 7 m /h c\n")])
    assert [failure.not_to_be_had for failure in failures] == [False]


@pytest.mark.parametrize(
    ("text", "places", "good"),
    [
        (
            [
                {"groupId": "", "state": "STABLE", "partitions": []},
                {"groupId": "g", "state": "EMPTY", "partitions": [{"topic": "t", "partition": 0}]},
                {"state": "STABLE", "partitions": [], "consumerId": 1},
                7,
            ],
            [
                'a: [0].groupId: "", expected a non-empty string',
                "a: [2].groupId: null, expected a non-empty string",
                "a: [3]: 7, expected an object",
            ],
            ["g"],
        ),
        (
            {"group_name": "", "members_details": []},
            ['a: group_name: "", expected a non-empty'],
            [],
        ),
        (
            {"": {"group_state": "Stable"}, "g": json.loads(described())["coop-a"]},
            ['a: group: "", expected a non-empty string'],
            ["g"],
        ),
    ],
)
def test_a_group_without_a_name_is_refused_at_its_place_and_costs_no_other(
    text, places, good
) -> None:
    imported, failures = import_each([("a", json.dumps(text).encode())])
    found = [f"{one.place}: {one.reason}" for one in failures]
    assert len(found) == len(places)
    assert all(map(str.startswith, found, places)), found
    assert [one.document["group"] for one in imported] == good
