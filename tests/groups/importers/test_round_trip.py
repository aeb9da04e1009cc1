"""A group printed in every dialect comes back as the group that the dialect shows.

The printers follow the formats in the tools' own sources: ConsumerGroupCommand of Kafka 2.0
(no GROUP column), 2.4 to 3.7 (Scala) and 4.x (Java), TopicCommand, rpk's describe.go,
kafka-python's admin output, ConsumerGroupDetails in Kafka UI's OpenAPI contract, AKHQ's classes.
"""

from __future__ import annotations

import json
import random
from functools import partial
from typing import Any, NamedTuple

import pytest

from tests.groups.importers.imported import KIP_848, OFFSETS, import_texts, owners, text_of

Document = dict[str, Any]
Key = tuple[str, int]


def some_group(seed: int) -> Document:
    rng = random.Random(seed)
    topics = {f"{rng.choice('abc')}.t-{i}_x": rng.randint(1, 7) for i in range(rng.randint(1, 4))}
    members = {
        f"app-{i}-{rng.getrandbits(64):016x}": {
            "subscription": sorted(topics),
            "owned": {},
            "client_id": f"app-{i}",
            "host": f"/10.0.0.{i}",
        }
        for i in range(rng.randint(1, 5))
    }
    document: Document = {"group": f"group.{seed}", "topics": {}, "members": members}
    for topic, count in topics.items():
        offsets = []
        for number in range(count):
            end = rng.choice([0, rng.randint(1, 10), rng.randint(1, 10**12)])
            committed = rng.choice([None, end, rng.randint(0, end)])
            offsets.append({"beginning": None, "end": end, "committed": committed})
            if rng.random() < 0.8:
                owned = members[rng.choice(sorted(members))]["owned"]
                owned.setdefault(topic, []).append(number)
        document["topics"][topic] = {"partitions": count, "offsets": offsets}
    if not owners(document):
        topic = min(topics)
        members[min(members)]["owned"][topic] = [0]
    if seed % 2:
        # As of KIP-848, members have an epoch and partitions that they are to hold.
        for said in members.values():
            said |= {"epoch": rng.randint(0, 5), "target": {}}
        for topic, number in sorted(owners(document)):
            members[rng.choice(sorted(members))]["target"].setdefault(topic, []).append(number)
    return document


def offsets(document: Document) -> dict[Key, tuple[int | None, int | None]]:
    return {
        (topic, number): (told["end"], told["committed"])
        for topic, said in document["topics"].items()
        for number, told in enumerate([] if isinstance(said, int) else said["offsets"])
    }


def shown_offsets(document: Document) -> dict[Key, tuple[int | None, int | None]]:
    owned = owners(document)
    return {
        key: told for key, told in offsets(document).items() if key in owned or told[1] is not None
    }


class Row(NamedTuple):
    """A partition's row in a view of offsets."""

    topic: str
    partition: int
    committed: int | None
    end: int
    lag: int | None
    member: str | None
    host: str | None
    client: str | None


def offset_rows(document: Document) -> list[Row]:
    owned, rows = owners(document), []
    for (topic, number), (end, committed) in shown_offsets(document).items():
        member = owned.get((topic, number))
        said = document["members"].get(member, {})
        lag = None if committed is None else end - committed
        who = member, said.get("host"), said.get("client_id")
        rows.append(Row(topic, number, committed, end, lag, *who))
    return rows


def cells(header: str, rows: list[list[object]]) -> list[list[str]]:
    shown = [["-" if cell is None else str(cell) for cell in row] for row in rows]
    return [header.split(), *shown]


def aligned(rows: list[list[str]], widths: list[int]) -> str:
    lines = (" ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return "".join(f"{line}\n" for line in lines)


def table(header: str, rows: list[list[object]]) -> str:
    """Return a table of Kafka's tools: 15 letters or more a cell, and 10 for a partition."""
    found = cells(header, rows)
    widths = [max(15, *map(len, column)) for column in zip(*found, strict=True)]
    if "PARTITION" in found[0]:
        widths[found[0].index("PARTITION")] = 10
    return aligned(found, widths)


def offsets_view(document: Document, *, group: bool, epoch: bool = False) -> str:
    rows = [[document["group"], *row] for row in offset_rows(document)]
    header = OFFSETS
    if epoch:
        header = OFFSETS.replace("PARTITION", "PARTITION LEADER-EPOCH")
        rows = [[*row[:3], 0, *row[3:]] for row in rows]
    if not group:
        header, rows = header.removeprefix("GROUP "), [row[1:] for row in rows]
    return "\n" + table(header, rows)


kafka_2_0_describe = partial(offsets_view, group=False)
kafka_2_4_describe = partial(offsets_view, group=True)
kafka_4_verbose_offsets = partial(offsets_view, group=True, epoch=True)


def assignment(owned: dict[str, list[int]], between: str, opening: str, closing: str) -> str:
    parts = (
        f"{topic}{opening}{','.join(map(str, numbers))}{closing}"
        for topic, numbers in sorted(owned.items())
    )
    return between.join(parts) or "-"


def members_view(document: Document, *, group: bool = True, verbose: bool = True) -> str:
    header = f"{'GROUP ' * group}CONSUMER-ID HOST CLIENT-ID #PARTITIONS{' ASSIGNMENT' * verbose}"
    rows = [
        [document["group"]] * group
        + [member, said["host"], said["client_id"], len(pairs(said["owned"]))]
        + [assignment(said["owned"], ", ", "(", ")")] * verbose
        for member, said in document["members"].items()
    ]
    return "\n" + table(header, rows)


kafka_2_0_members = partial(members_view, group=False)
kafka_3_members = members_view
kafka_4_plain_members = partial(members_view, verbose=False)


def kafka_4_members(document: Document) -> str:
    rows = []
    for member, said in document["members"].items():
        held, target = assignment(said["owned"], ";", ":", ""), [None, None]
        if "target" in said:
            target = [5, assignment(said["target"], ";", ":", "")]
        count, epoch = len(pairs(said["owned"])), said.get("epoch")
        who = document["group"], member, said["host"], said["client_id"]
        rows.append([*who, count, epoch, held, *target])
    return "\n" + table(KIP_848, rows)


def topics(document: Document, colon: str = ": ") -> str:
    lines = []
    for topic, said in document["topics"].items():
        count = said["partitions"]
        lines.append(
            f"Topic{colon}{topic}\tPartitionCount{colon}{count}\tReplicationFactor{colon}1"
        )
        lines += [f"\tTopic: {topic}\tPartition: {n}\tLeader: 1" for n in range(count)]
    return "\n".join(lines) + "\n"


def state(document: Document) -> str:
    return (
        f"\nGROUP           COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE    #MEMBERS\n"
        f"{document['group']}  127.0.0.1:9092  (1)  range  Stable  {len(document['members'])}\n"
    )


def rpk_text(document: Document) -> str:
    summary = [
        ("GROUP", document["group"]),
        ("COORDINATOR-NODE", 0),
        ("COORDINATOR-PARTITION", "__consumer_offsets/3"),
        ("STATE", "Stable"),
        ("BALANCER", "cooperative-sticky"),
        ("MEMBERS", len(document["members"])),
        ("TOTAL-LAG", 12),
    ]
    header = (
        "TOPIC PARTITION CURRENT-OFFSET LOG-START-OFFSET LOG-END-OFFSET LAG MEMBER-ID CLIENT-ID "
        "HOST"
    )
    rows = []
    for row in offset_rows(document):
        lag = row.end if row.lag is None else row.lag
        told = [row.committed, 0, row.end, lag if row.end else None]
        who = [row.member or "", row.client or "", row.host or ""]
        rows.append([row.topic, row.partition, *told, *who])
    found = cells(header, rows)
    widths = [max(map(len, column)) + 1 for column in zip(*found, strict=True)]
    return "".join(f"{k:<22}{v}\n" for k, v in summary) + "\n" + aligned(found, widths)


def rpk_json(document: Document) -> str:
    partitions = [
        {
            "topic": row.topic,
            "partition": row.partition,
            "current_offset": -1 if row.committed is None else row.committed,
            "log_start_offset": 0,
            "log_end_offset": row.end,
            "lag": row.end if row.lag is None else row.lag,
            "member_id": row.member or "",
            "client_id": row.client or "",
            "host": row.host or "",
        }
        for row in offset_rows(document)
    ]
    details = [
        {"member_id": m, "client_id": s["client_id"], "host": s["host"], "topic_partitions": []}
        for m, s in document["members"].items()
    ]
    found = {"group_name": document["group"], "coordinator_partition": "__consumer_offsets/1"}
    found |= {"state": "Stable", "balancer": "range", "members": len(details)}
    found |= {"coordinator_node": 0, "total_lag": 7, "partitions": partitions}
    return json.dumps([found | {"members_details": details}])


def pairs(owned: dict[str, list[int]]) -> list[tuple[str, int]]:
    return [(topic, number) for topic, numbers in owned.items() for number in numbers]


def kafka_python(document: Document) -> str:
    members = [
        {
            "member_id": member,
            "group_instance_id": None,
            "client_id": said["client_id"],
            "client_host": said["host"],
            "member_metadata": {
                "topics": said["subscription"],
                "owned_partitions": [],
                "generation_id": 3,
                "rack_id": "",
            },
            "member_assignment": {
                "assigned_partitions": [
                    {"topic": t, "partitions": ns[::-1]} for t, ns in said["owned"].items()
                ]
            },
        }
        for member, said in document["members"].items()
    ]
    described = {"group_id": document["group"], "group_state": "Stable", "members": members}
    described |= {"protocol_type": "consumer", "protocol_data": "range", "error": None}
    return json.dumps({document["group"]: described})


def kafka_ui(document: Document) -> str:
    partitions = [
        {
            "topic": row.topic,
            "partition": row.partition,
            "currentOffset": row.committed,
            "endOffset": row.end,
            "consumerLag": row.lag,
            "consumerId": row.member,
            "host": row.host,
        }
        for row in offset_rows(document)
    ]
    found = {"inherit": "details", "groupId": document["group"], "state": "STABLE"}
    found |= {"partitionAssignor": "range", "members": len(document["members"])}
    return json.dumps(found | {"topics": len(document["topics"]), "partitions": partitions})


def akhq(document: Document) -> str:
    members = [
        {
            "id": member,
            "clientId": said["client_id"],
            "host": said["host"],
            "assignments": [{"topic": t, "partition": n} for t, n in pairs(said["owned"])],
            "groupedAssignments": [],
        }
        for member, said in document["members"].items()
    ]
    told = [
        {
            "topic": row.topic,
            "partition": row.partition,
            "offset": row.committed,
            "firstOffset": None if row.committed is None else 0,
            "lastOffset": None if row.committed is None else row.end,
        }
        for row in offset_rows(document)
    ]
    found = {"id": document["group"], "simpleConsumerGroup": False, "state": "STABLE"}
    return json.dumps(found | {"members": members, "offsets": told})


def holding(document: Document) -> set[str]:
    return {member for member, said in document["members"].items() if said["owned"]}


def back(document: Document, *texts: str) -> Document:
    sources = [(f"{document['group']}.txt", text.encode()) for text in texts]
    (found,) = import_texts(sources)
    assert found["group"] == document["group"].removesuffix(".txt")
    return found


SEEDS = range(40)
# Views with the offsets of partitions; of these, two count idle members and name none of them.
WITH_OFFSETS = [
    kafka_2_0_describe, kafka_2_4_describe, kafka_4_verbose_offsets, rpk_text, rpk_json, kafka_ui,
]  # fmt: skip
WITH_IDLE = [
    kafka_2_0_members, kafka_3_members, kafka_4_members, kafka_4_plain_members, kafka_python,
    akhq, rpk_json,
]  # fmt: skip


def topics_of_old(document: Document) -> str:
    return topics(document, colon=":")


@pytest.mark.parametrize(
    "views",
    [
        (kafka_2_0_describe,),
        (kafka_2_4_describe,),
        (kafka_4_verbose_offsets,),
        (rpk_text,),
        (kafka_ui,),
        (kafka_2_0_members,),
        (kafka_3_members,),
        (kafka_4_members,),
        (kafka_python,),
        (akhq,),
        (kafka_2_0_describe, kafka_2_0_members, topics),
        (kafka_2_4_describe, kafka_3_members, topics),
        (kafka_4_members, topics, kafka_4_verbose_offsets, state),
        (kafka_4_plain_members, kafka_2_4_describe, topics),
        (kafka_python, kafka_2_4_describe, topics),
        (rpk_json, topics),
        (topics_of_old, rpk_json, kafka_python),
    ],
)
def test_views_come_back_as_the_group_that_they_show(views) -> None:
    has_idle, has_offsets = (
        any(view in some for view in views) for some in (WITH_IDLE, WITH_OFFSETS)
    )
    knows_sizes = {topics, topics_of_old} & {*views}
    for document in map(some_group, SEEDS):
        shown, told = shown_offsets(document), views
        if has_offsets and all(committed is None for _, committed in shown.values()):
            # A group that has committed nothing needs its state.
            told = (*views, state)
        if not has_idle:
            document["members"] = {m: document["members"][m] for m in holding(document)}
        found = back(document, *(view(document) for view in told))
        assert owners(found) == owners(document)
        assert found["members"].keys() == document["members"].keys()
        for member, said in found["members"].items():
            if views != (kafka_ui,):
                assert said["client_id"] == document["members"][member]["client_id"]
            assert said["host"] == document["members"][member]["host"]
            known = document["members"][member]["subscription"] if kafka_python in views else None
            assert said["subscription"] == known
            for key in ("epoch", "target") if kafka_4_members in views else ():
                assert said.get(key) == document["members"][member].get(key)
        if has_offsets:
            assert {k: v for k, v in offsets(found).items() if v != (None, None)} == shown
        sizes = {
            topic: said if isinstance(said, int) else said["partitions"]
            for topic, said in found["topics"].items()
        }
        if knows_sizes:
            expected = {topic: said["partitions"] for topic, said in document["topics"].items()}
            assert sizes.items() <= expected.items()
            assert kafka_python not in views or sizes == expected
        elif has_offsets:
            assert sizes == {t: 1 + max(n for of, n in shown if of == t) for t, _ in shown}
            what = f"{len(sizes)} topics" if len(sizes) > 1 else f"{next(iter(sizes))}: "
            assert any("highest number seen + 1" in n and what in n for n in found["assumed"])


WRITERS = {
    "kafka-2.0-describe.txt": kafka_2_0_describe,
    "kafka-2.0-members-verbose.txt": kafka_2_0_members,
    "kafka-2.4-describe.txt": kafka_2_4_describe,
    "kafka-2.4-members-verbose.txt": kafka_3_members,
    "kafka-2.0-topics.txt": topics_of_old,
    "rpk-describe.txt": rpk_text,
    "rpk-describe.json": rpk_json,
    "kafka-ui.json": kafka_ui,
    "akhq.json": akhq,
}


@pytest.mark.parametrize("name", WRITERS)
def test_the_texts_that_were_written_rather_than_captured_are_of_this_file(name: str) -> None:
    """No such tool was run; these follow the sources named at the top."""
    assert text_of(f"written/{name}") == WRITERS[name](some_group(9))
