"""A group that uses every field, odd groups, and a comparison that is exact in types."""

from dataclasses import fields
from pathlib import Path

import numpy as np

from groups import Group, MemberDetails
from groups.files import read_groups
from tests.optimal.small_groups import document, group_of
from tests.schemas import validator_of

CORPUS = Path(__file__).parents[2] / "corpus"
SCHEMA = CORPUS.parent / "groups/documents/assay-group-1.schema.json"
EVERYTHING = {
    "format": "assay-group/1",
    "group": "orders",
    "captured_at": "2026-11-20T10:00:00Z",
    "auto_offset_reset": "earliest",
    "assumed": ["something"],
    "topics": {
        "t0": 2,
        "t1": {
            "partitions": 3,
            "lag": [10, 0, None],
            "weight": [7, 7, 1],
            "racks": [["a"], ["a"], ["a"]],
        },
        "t2": {"partitions": 1, "offsets": [{"beginning": 0, "end": 100, "committed": None}]},
        "none": 0,
    },
    "members": {
        "c0": {
            "subscription": ["gone", "t0", "t1"],
            "owned": {"t0": [0, 1], "gone": [3], "t1": [7]},
            "generation": 5,
            "rack": "a",
            "instance_id": "i-0",
            "client_id": "app-0",
            "host": "/127.0.0.1",
            "assignors": ["cooperative-sticky", "range"],
        },
        "c1": {
            "subscription": None,
            "owned": {"t0": [0]},
            "target": {"t1": [0]},
            "epoch": 5,
            "subscription_regex": "t.*",
            "capacity": 2,
        },
        "c2": {"subscription": ["gone", "new"], "owned": {"t2": [0]}},
    },
}


def in_schema(document: object) -> bool:
    return validator_of(SCHEMA).is_valid(document)


def shipped() -> list[Group]:
    return [*read_groups(CORPUS)]


def odd() -> list[Group]:
    hostile = ['a"b', "ключ", "\n", "\0", " ", "{}", "\U0001d518"]
    return [
        Group.from_dict(EVERYTHING),
        group_of({}, {}),
        group_of({"t": 3}, {}),
        group_of({"t": {"partitions": 1, "racks": [[]]}}, {"c": ["t"]}),
        Group.from_dict(document({"t": 0}, {"c": {}})),
        Group.from_dict(document({"t": {"partitions": 0, "lag": [], "weight": []}}, {})),
        Group.from_dict(
            document(
                {name: 2 for name in hostile},
                {
                    name: {"subscription": hostile, "client_id": name, "owned": {name: [1]}}
                    for name in hostile
                },
                captured_at="2026-11-20T10:00:00Z",
            )
        ),
        group_of({"t": 1}, {"a": None, "b": None}, {"a": {"t": [0]}, "b": {"t": [0]}}),
        group_of({"t": 1}, {"a": ["t"], "b": None}).with_equal_subscriptions(),
        Group.from_arrays(
            group="unsorted",
            topics=["t1", "t0"],
            partitions=[1, 2],
            members=["b", "a"],
            subscription_indptr=[0, 2, 3],
            subscription_topics=[0, 1, 1],
            owner=[0, 1, -1],
            lag=[3, -1, 5],
        ),
    ]


def same(one: object, other: object) -> bool:
    """Whether two values are equal, also in types; arrays of the first must be read-only."""
    if isinstance(one, np.ndarray):
        return (
            isinstance(other, np.ndarray)
            and one.dtype == other.dtype
            and one.tolist() == other.tolist()
            and not one.flags.writeable
        )
    if hasattr(one, "__dataclass_fields__"):
        return type(one) is type(other) and all(
            same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one)
        )
    if isinstance(one, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


def differing(one: Group, other: Group) -> list[str]:
    """Return the fields in which two groups differ; missing details equal empty ones."""
    nothing = (MemberDetails(),) * len(one.members)
    pairs = {f.name: (getattr(one, f.name), getattr(other, f.name)) for f in fields(Group)}
    pairs["raw_claims"] = tuple(claims is None for claims in pairs["raw_claims"])
    pairs["details"] = tuple(details or nothing for details in pairs["details"])
    pairs["document"] = (one.to_dict(), other.to_dict())
    return [name for name, pair in pairs.items() if not same(*pair)]
