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


def offset_cells(document: Document) -> list[list[str]]:
    rows = offset_rows(document)
    return [["-" if cell is None else str(cell) for cell in row] for row in rows]


def padded(rows: list[list[str]], widths: list[int]) -> str:
    wide = [max(w, *(len(row[i]) for row in rows)) if w > 12 else w for i, w in enumerate(widths)]
    return "".join(
        " ".join(c.ljust(w) for c, w in zip(row, wide, strict=True)).rstrip() + "\n"
        for row in rows
    )


def offsets_view(document: Document, *, group: bool, epoch: bool = False) -> str:
    names = [document["group"]] * group
    rows = [OFFSETS.split()[not group :]]
    rows += [[*names, *row] for row in offset_cells(document)]
    widths = [15] * group + [15, 10, 15, 15, 15, 15, 15, 1]
    if epoch:
        rows = [
            [*row[:3], "LEADER-EPOCH" if n == 0 else "0", *row[3:]] for n, row in enumerate(rows)
        ]
        widths.insert(3, 15)
    return "\n" + padded(rows, widths)


kafka_2_0_describe = partial(offsets_view, group=False)
kafka_2_4_describe = partial(offsets_view, group=True)
kafka_4_verbose_offsets = partial(offsets_view, group=True, epoch=True)


def assignment(owned: dict[str, list[int]], between: str, opening: str, closing: str) -> str:
    parts = (
        f"{topic}{opening}{','.join(map(str, numbers))}{closing}"
        for topic, numbers in sorted(owned.items())
    )
    return between.join(parts) or "-"


def member_cells(document: Document, group: list[str]) -> list[list[str]]:
    return [
        [
            *group,
            member,
            said["host"],
            said["client_id"],
            str(sum(map(len, said["owned"].values()))),
        ]
        for member, said in document["members"].items()
    ]


def members_view(document: Document, *, group: bool, verbose: bool = True) -> str:
    rows = member_cells(document, [document["group"]] * group)
    header = ["GROUP"] * group + ["CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS"]
    if verbose:
        header.append("ASSIGNMENT")
        for row, said in zip(rows, document["members"].values(), strict=True):
            row.append(assignment(said["owned"], ", ", "(", ")"))
    return "\n" + padded([header, *rows], [15] * (group + 4) + [1] * verbose)


kafka_2_0_members = partial(members_view, group=False)
kafka_3_members = partial(members_view, group=True)
kafka_4_plain_members = partial(members_view, group=True, verbose=False)


def kafka_4_members(document: Document) -> str:
    rows = member_cells(document, [document["group"]])
    for row, said in zip(rows, document["members"].values(), strict=True):
        held = assignment(said["owned"], ";", ":", "")
        if "target" in said:
            row += [str(said["epoch"]), held, "5", assignment(said["target"], ";", ":", "")]
        else:
            row += ["-", held, "-", "-"]
    return "\n" + padded([KIP_848.split(), *rows], [15, 15, 15, 15, 15, 15, 20, 15, 20])


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
        "TOPIC PARTITION CURRENT-OFFSET LOG-START-OFFSET LOG-END-OFFSET LAG MEMBER-ID CLIENT-ID"
    )
    rows = [[*header.split(), "HOST"]]
    for row in offset_rows(document):
        committed = "-" if row.committed is None else row.committed
        lag = row.end if row.lag is None else row.lag
        told = [committed, 0, row.end, lag if row.end else "-"]
        who = [row.member or "", row.client or "", row.host or ""]
        rows.append([*map(str, (row.topic, row.partition, *told, *who))])
    widths = [max(len(row[i]) for row in rows) + 1 for i in range(9)]
    return "".join(f"{k:<22}{v}\n" for k, v in summary) + "\n" + padded(rows, widths)


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


def has_committed(document: Document) -> bool:
    return any(committed is not None for _, committed in shown_offsets(document).values())


def back(document: Document, *texts: str) -> Document:
    sources = [(f"{document['group']}.txt", text.encode()) for text in texts]
    (found,) = import_texts(sources)
    assert found["group"] == document["group"].removesuffix(".txt")
    return found


SEEDS = range(40)
OFFSETS_VIEWS = [kafka_2_0_describe, kafka_2_4_describe, kafka_4_verbose_offsets]
MEMBERS = [kafka_2_0_members, kafka_3_members, kafka_4_members, kafka_python, akhq]


@pytest.mark.parametrize("printer", [*OFFSETS_VIEWS, rpk_text, kafka_ui])
def test_an_offsets_view_comes_back_with_its_owners_and_offsets(printer) -> None:
    for document in map(some_group, SEEDS):
        if printer in OFFSETS_VIEWS and not has_committed(document):
            continue
        if printer not in OFFSETS_VIEWS:  # they count idle members, and name none of them
            document["members"] = {m: document["members"][m] for m in holding(document)}
        found = back(document, printer(document))
        assert owners(found) == owners(document)
        assert found["members"].keys() == holding(document)
        shown = shown_offsets(document)
        for key, told in offsets(found).items():
            assert told == shown.get(key, (None, None))
        for topic, said in found["topics"].items():
            assert said["partitions"] == 1 + max(n for t, n in shown if t == topic)
        guessed = found["topics"]
        what = f"{len(guessed)} topics" if len(guessed) > 1 else f"{next(iter(guessed))}: "
        assert any("highest number seen + 1" in n and what in n for n in found["assumed"])


@pytest.mark.parametrize("printer", MEMBERS)
def test_a_members_view_comes_back_with_its_idle_members_too(printer) -> None:
    for document in map(some_group, SEEDS):
        found = back(document, printer(document))
        assert owners(found) == owners(document)
        assert found["members"].keys() == document["members"].keys()
        for member, said in found["members"].items():
            assert said["client_id"] == document["members"][member]["client_id"]
            assert said["host"] == document["members"][member]["host"]
            known = (
                document["members"][member]["subscription"] if printer is kafka_python else None
            )
            assert said["subscription"] == known


def test_a_kip_848_group_comes_back_with_what_each_member_is_to_hold() -> None:
    for seed, document in enumerate(map(some_group, SEEDS)):
        rng = random.Random(seed)
        members = list(document["members"].values())
        for said in members:
            said |= {"epoch": rng.randint(0, 5), "target": {}}
        for topic, number in sorted(owners(document)):
            rng.choice(members)["target"].setdefault(topic, []).append(number)
        found = back(document, kafka_4_members(document))
        assert owners(found) == owners(document)
        for member, said in document["members"].items():
            assert found["members"][member]["epoch"] == said["epoch"]
            assert found["members"][member]["target"] == said["target"]


@pytest.mark.parametrize(
    "views",
    [
        (kafka_2_0_describe, kafka_2_0_members, topics),
        (kafka_2_4_describe, kafka_3_members, topics),
        (kafka_4_members, topics, kafka_4_verbose_offsets, state),
        (kafka_4_plain_members, kafka_2_4_describe, topics),
        (kafka_python, kafka_2_4_describe, topics),
        (rpk_json, topics),
        (lambda d: topics(d, colon=":"), rpk_json, kafka_python),
    ],
)
def test_the_views_together_are_the_whole_group(views) -> None:
    for document in map(some_group, SEEDS):
        told = views if has_committed(document) else (*views, state)
        found = back(document, *(view(document) for view in told))
        assert owners(found) == owners(document)
        assert found["members"].keys() == document["members"].keys()
        knows = kafka_python in views
        for topic, said in document["topics"].items():
            if topic in found["topics"] or knows:
                told = found["topics"][topic]
                assert said["partitions"] == (
                    told if isinstance(told, int) else told["partitions"]
                )
        shown = shown_offsets(document)
        assert {k: v for k, v in offsets(found).items() if v != (None, None)} == shown
        assert {m["subscription"] is not None for m in found["members"].values()} == {knows}


WRITERS = {
    "kafka-2.0-describe.txt": kafka_2_0_describe,
    "kafka-2.0-members-verbose.txt": kafka_2_0_members,
    "kafka-2.4-describe.txt": kafka_2_4_describe,
    "kafka-2.4-members-verbose.txt": kafka_3_members,
    "kafka-2.0-topics.txt": lambda document: topics(document, colon=":"),
    "rpk-describe.txt": rpk_text,
    "rpk-describe.json": rpk_json,
    "kafka-ui.json": kafka_ui,
    "akhq.json": akhq,
}


@pytest.mark.parametrize("name", WRITERS)
def test_the_texts_that_were_written_rather_than_captured_are_of_this_file(name: str) -> None:
    """No such tool was run; these follow the sources named at the top."""
    assert text_of(f"written/{name}") == WRITERS[name](some_group(9))
