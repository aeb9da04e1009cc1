from __future__ import annotations

import copy
import json
import random
from dataclasses import fields
from typing import Any

import numpy as np

from groups.documents.assay_group import Member
from groups.documents.pseudonyms import anonymise_all
from groups.group import Group
from groups.importers import import_each
from tests.groups.importers.imported import CAPTURES
from tests.optimal.random_groups import random_group

NAMED: dict[str, Any] = {
    "format": "assay-group/1",
    "group": "acme-billing",
    "captured_at": "2026-11-20T10:00:00Z",
    "auto_offset_reset": "earliest",
    "assumed": [
        "acme.t2: 1,000 partitions, the highest number seen + 1",
        "read from /home/acme/notes.txt",
        "members: those that hold partitions, no view lists idle ones",
    ],
    "topics": {
        "acme.t10": 2,
        "acme.t2": {
            "partitions": 1,
            "offsets": [{"beginning": 0, "end": 9, "committed": None}],
            "racks": [["acme-b", "acme-a"]],
        },
        "acme.t3": {"partitions": 3, "lag": [10, 0, None], "weight": [7, 7, 1]},
    },
    "members": {
        "acme-m2": {
            "subscription": ["acme.t3", "acme.t10", "acme.soon"],
            "owned": {"acme.t3": [0, 2], "acme.gone": [4]},
            "generation": 5,
            "rack": "acme-b",
            "instance_id": "acme-i0",
            "client_id": "acme-app",
            "host": "/acme.example",
            "assignors": ["cooperative-sticky", "acme-assignor"],
            "capacity": 2,
        },
        "acme-m10": {
            "subscription": None,
            "owned": {},
            "target": {"acme.t2": [0]},
            "epoch": 5,
            "subscription_regex": "acme\\..*",
            "host": None,
        },
    },
}


def columns(document: dict[str, Any]) -> dict[str, Any]:
    group = Group.from_dict(document)
    named = {"name", "topics", "members", "absent_topics", "assumed", "details", "captured_at"}
    found = {f.name: getattr(group, f.name) for f in fields(Group) if f.name not in named}
    for part in ("racks", "offsets", "raw_claims"):
        found[part] = {**vars(found[part])} if found[part] else {}
        found[part].pop("names", None)
    return found | {"details": [(one.capacity, one.epoch) for one in group.details]}


def anonymise(document: dict[str, Any]) -> dict[str, Any]:
    (found,) = anonymise_all([Group.from_dict(document)])
    return found


def imported() -> list[dict[str, Any]]:
    sources = [
        (path.name, path.read_bytes())
        for path in sorted(CAPTURES.glob("*/*"))
        if path.parent.name[0].isdigit() or path.parent.name == "kafka-python"
    ]
    return [found.group().to_dict() for of in sources for found in import_each([of])[0]]


def test_every_column_that_a_solver_reads_is_as_before() -> None:
    rng = random.Random("anonymous")
    drawn = [random_group(rng, members=5, partitions=12).to_dict() for _ in range(40)]
    for document in (NAMED, *imported(), *drawn):
        np.testing.assert_equal(columns(anonymise(document)), columns(document))


def test_nothing_of_the_names_is_left_and_all_else_is() -> None:
    named: set[str] = set().union(*NAMED["members"].values())
    assert named == {*Member.__struct_fields__}, "a key without a name that begins with acme"
    found = anonymise(NAMED)
    assert "acme" not in json.dumps(found)
    assert found["assumed"] == [
        "topic-4: 1,000 partitions, the highest number seen + 1",
        "a note was left out, it may hold names",
        "members: those that hold partitions, no view lists idle ones",
        "subscriptions by regular expression: 1, left out",
    ]
    assert found["captured_at"] == NAMED["captured_at"]
    assert found["auto_offset_reset"] == "earliest"
    member = found["members"]["member-2"]
    assert member["assignors"] == ["cooperative-sticky", "assignor-1"]
    assert (member["capacity"], member["generation"]) == (2, 5)
    assert anonymise(found) == found


def test_notes_of_the_importers_survive() -> None:
    for document in imported():
        notes = anonymise(document).get("assumed", [])
        assert len(notes) == len(document.get("assumed", []))
        assert not any("left out" in note for note in notes)


def test_notes_on_several_topics_survive_without_their_names() -> None:
    shared = "2 partitions are shown with several members, all claim them"
    far = "2 partitions are far beyond the others of their topics"
    kept = [
        "auto.offset.reset: latest, so 1 partition without a commit has lag 0",
        "captured_at: the time of the file",
        "captured_at: the time of the latest file",
        "captured_at: when standard input was read",
    ]
    beyond = "lag: 0 where the commit is beyond the end of the log"
    named = {shared: "acme-0, acme-1", far: "acme-47, b-47", beyond: "acme-3"}
    assumed = [*(f"{note}: {of}" for note, of in named.items()), *kept]
    document = NAMED | {"assumed": assumed, "auto_offset_reset": None}
    assert anonymise(document)["assumed"][:-1] == [*named, *kept]


def test_the_order_of_keys_carries_no_meaning() -> None:
    rng = random.Random(7)
    shuffled = copy.deepcopy(NAMED)
    for key in ("topics", "members"):
        items = list(shuffled[key].items())
        rng.shuffle(items)
        shuffled[key] = dict(items)
    assert json.dumps(anonymise(shuffled)) == json.dumps(anonymise(NAMED))


def test_a_topic_of_two_groups_has_one_pseudonym() -> None:
    other = {**NAMED, "group": "acme-orders", "topics": {"acme.t3": 1}, "members": {}}
    first, second = anonymise_all([*map(Group.from_dict, (NAMED, other))])
    assert second["topics"].keys() < first["topics"].keys()
    assert (first["group"], second["group"]) == ("group-1", "group-2")
