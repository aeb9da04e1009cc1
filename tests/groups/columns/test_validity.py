"""A group that exists is valid, whoever constructs it, and nobody else can change its arrays."""

import copy
import pickle
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest

from groups import Assignment, BadInput, Claims, Group, MemberDetails, Racks
from groups.columns.claims import BY_CLAIMS
from groups.columns.offsets import Offsets

DOCUMENT = {
    "format": "assay-group/1",
    "group": "g",
    "topics": {
        "t": {"partitions": 2, "racks": [["a"], ["b"]], "weight": [1, 2]},
        "u": {"partitions": 1, "offsets": [{"beginning": 0, "end": 9, "committed": 4}]},
    },
    "members": {
        "c0": {
            "subscription": ["t", "gone"],
            "owned": {"t": [0, 5]},
            "generation": 2,
            "rack": "a",
        },
        "c1": {"subscription": ["t", "u"], "owned": {"u": [0], "lost": [1]}, "epoch": 1},
        "c2": {"owned": {}},
    },
}
GROUP = Group.from_dict(DOCUMENT)
RACKS, OFFSETS, CLAIMS = GROUP.racks, GROUP.offsets, GROUP.raw_claims


def ints(*values) -> np.ndarray:
    return np.array(values, np.int64)


BROKEN = [
    ({"name": ""}, "group: '', expected a non-empty string"),
    ({"name": "\ud800"}, r"group: '\\ud800' is not valid Unicode"),
    ({"topics": ("t", "t")}, "topics: 't' appears twice"),
    ({"topics": ("t", 7)}, "topics: 7, expected a non-empty string"),
    ({"members": ("c0", "", "c2")}, "members: '', expected a non-empty string"),
    ({"members": ("c0", "c1", "c0")}, "members: 'c0' appears twice"),
    ({"partitions": np.array([2.0, 1.0])}, "partitions: expected a one-dim"),
    ({"partitions": np.array([True, True])}, "partitions: expected a one-dim"),
    ({"partitions": np.zeros((2, 1), int)}, "partitions: expected a one-dimens"),
    ({"partitions": [[1], [2, 3]]}, "partitions: expected a one-dimens"),
    ({"partitions": ints(2, -1)}, r"partitions\[1\]: -1, expected 0 or more"),
    ({"partitions": ints(2**62, 2**62)}, r"topics: \d+ partitions, more"),
    ({"partitions": ints(*[2**62] * 4)}, "partitions: 4 values"),
    ({"partitions": ints(2, 2)}, "racks.replicas: 3 values, expected 4"),
    *(
        ({"subscription_indptr": ints(*ends)}, "subscription_indptr: expected to rise from 0 to 3")
        for ends in ((0, 1), (), (1, 1, 3, 3), (0, 3, 1, 3), (0, 1, 3, 4))
    ),
    (
        {"subscription_topics": ints(0, 0, 2)},
        r"subscription_topics: 2 in the row of members\[1\], but there are 2 topics",
    ),
    (
        {"subscription_topics": ints(0, 0, 2**32 - 1)},
        r"subscription_topics: 4294967295 in the row of members\[1\], but there are 2 topics",
    ),
    (
        {"subscription_topics": ints(0, 1, 0)},
        r"subscription_topics: the row of members\[1\] is not ascending without repeats",
    ),
    ({"subscription_indptr": np.zeros(4)}, "subscription_indptr: expected a one-dimensional"),
    ({"subscription_topics": np.zeros(3)}, "subscription_topics: expected a one-dimensional"),
    ({"subscription_row": ints(0, 1, 3)}, r"subscription_row\[2\]: 3, but there are 3 rows"),
    ({"subscription_row": ints(0, 1)}, "subscription_row: 2 values, expected 3"),
    ({"subscription_row": ints(0, 0, 2)}, "subscription_row: no member reads row 1"),
    (
        {"subscription_known": ints(1, 1, 0)},
        "subscription_known: expected a one-dimensional array of booleans",
    ),
    ({"subscription_known": np.array([True])}, "subscription_known: 1 value, expected 3"),
    (
        {"subscription_known": np.array([True, False, False])},
        r"subscription_known\[1\]: unknown, but its row is not empty",
    ),
    ({"owner": ints(0, -1)}, "owner: 2 values, expected 3"),
    ({"owner": ints(0, 3, 1)}, r"owner\[1\]: 3, but there are 3 members"),
    ({"owner": ints(0, 2**32, 1)}, r"owner\[1\]: 4294967296, but there are 3 members"),
    ({"owner": ints(0, -2, 1)}, r"owner\[1\]: -2, expected -1 or more"),
    ({"owner": ints(0, -1, 0)}, r"owner\[2\]: c0 owns a partition of u but does not subscribe"),
    ({"owner": BY_CLAIMS, "raw_claims": None}, "owner: 0 values, expected 3"),
    ({"generation": ints(2, -1, -2)}, r"generation\[2\]: -2, expected -1 or more"),
    ({"generation": ints(2)}, "generation: 1 value, expected 3"),
    ({"lag_records": ints(0, 0)}, "lag: 2 values, expected 3"),
    ({"lag_records": ints(0, 0, -2)}, r"lag\[2\]: -2, expected -1 or more"),
    (
        {"weight": np.array([0, 0, 2**63], np.uint64)},
        r"weight\[2\]: 9223372036854775808, expected -1 or more, within 64 bits",
    ),
    ({"racks": replace(RACKS, member=ints(0))}, "racks.member: 1 value, expected 3"),
    ({"racks": replace(RACKS, replicas=ints(0, 1))}, "racks.replicas: 2 values, expected 3"),
    ({"copies": Racks.of(["A", "B", "A"], [None])}, "copies.replicas: 1 value, expected 3"),
    (
        {"offsets": Offsets(ints(), ints(), ints(), np.array([False, True]))},
        "offsets: 0 values, expected 3",
    ),
    ({"offsets": replace(OFFSETS, given=np.array([True]))}, "offsets.given: 1 value, expected 2"),
    (
        {"raw_claims": replace(CLAIMS, member=CLAIMS.member + 2)},
        "claims.member: 3, but there are 3 members",
    ),
    (
        {"raw_claims": replace(CLAIMS, topic=CLAIMS.topic + 1)},
        "claims.topic: 4, but 4 topics are named",
    ),
    ({"absent_topics": ("gone", "t")}, "absent_topics: one of them is among the topics"),
    (
        {"absent_subscriptions": ((0, 2),)},
        r"absent_subscriptions\[0\]: no such member, or no such topic",
    ),
    (
        {"absent_subscriptions": ((2, 0),)},
        r"absent_subscriptions\[0\]: of a member whose others are unknown",
    ),
    ({"details": (MemberDetails(),)}, "details: 1 value, expected 3"),
    ({"captured_at": ""}, "captured_at: '', expected a time as in 2026-11-20T10:00:00Z"),
]


@pytest.mark.parametrize(("change", "message"), BROKEN, ids=[message for _, message in BROKEN])
def test_a_rule_is_established_by_the_constructor_and_by_a_copy_with_changes(change, message):
    columns = {field.name: getattr(GROUP, field.name) for field in fields(GROUP)}
    assert Group(**columns).to_dict() == GROUP.to_dict()
    with pytest.raises(BadInput, match=message):
        Group(**columns | change)
    with pytest.raises(BadInput, match=message):
        replace(GROUP, **change)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Claims(ints(0, 0), ints(0, 0), ints(1, 1)), r"claims\[1\]: does not come after"),
        (lambda: Claims(ints(0, 0), ints(1, 0), ints(0, 1)), r"claims\[1\]: does not come after"),
        (lambda: Claims(ints(0, 0), ints(0), ints(0, 1)), "claims.topic: 1 value, expected 2"),
        (lambda: Claims(ints(-1), ints(0), ints(0)), r"claims.member\[0\]: -1, expected 0 or m"),
        (lambda: Claims(ints(0), ints(0), ints(-1)), r"claims.partition\[0\]: -1, expected 0"),
        (lambda: Racks(("a", "a"), ints(), ints(), ints()), "racks.names: 'a' appears twice"),
        (lambda: Racks(("a",), ints(1), ints(), ints()), r"racks.member\[0\]: 1, but there are 1"),
        (lambda: Racks(("a",), ints(0), ints(0), ints(0, 0)), "racks.holds: not ascending"),
        (lambda: Racks(("a",), ints(0), ints(0), ints(1)), "racks.holds: 1, but there are 1 sets"),
        (
            lambda: Offsets(ints(0), ints(-2), ints(0), np.array([True])),
            r"offsets.end\[0\]: -2, expected -1 or more",
        ),
        (
            lambda: Offsets(ints(0), ints(0), ints(0, 0), np.array([True])),
            "offsets.committed: 2 values, expected 1",
        ),
        (
            lambda: Offsets(ints(0), ints(0), ints(0), ints(1)),
            "offsets.given: expected a one-dimensional array of booleans",
        ),
    ],
)
def test_a_part_that_is_not_good_is_refused_before_it_is_of_a_group(make, message):
    with pytest.raises(BadInput, match=message):
        make()


def arrays_of(part) -> dict[str, np.ndarray]:
    """Return all arrays of a group and its parts, by name."""
    found = {}
    for name, value in vars(part).items():
        if isinstance(value, np.ndarray):
            found[name] = value
        elif isinstance(value, (Racks, Offsets, Claims)):
            found |= {f"{name}.{key}": array for key, array in arrays_of(value).items()}
    return found


@pytest.mark.parametrize("hidden", ["array", "read-only view", "read-only view of a slice"])
def test_what_somebody_can_still_change_is_copied(hidden):
    own = np.array([0, 1, 1, 9], np.int32)
    seen = own[:3]
    if hidden != "array":
        seen = seen.view() if hidden == "read-only view" else own[:4][:3]
        seen.flags.writeable = False
    group = replace(GROUP, owner=np.array([0, 1, 1], np.int32))
    parts = [replace(GROUP, owner=seen).owner, Assignment(group, seen).owner]
    parts += [Claims(seen[:1], seen[:1], ints(0)).member]
    own[...] = 0
    own[1] = 2
    assert [part.tolist() for part in parts] == [[0, 1, 1], [0, 1, 1], [0]]
    assert own.flags.writeable
    assert not any(part.flags.writeable for part in parts)


def test_an_array_that_nobody_can_change_is_shared():
    assert replace(GROUP, name="other").owner is GROUP.owner
    raw = np.frombuffer(np.array([0, 1, 1], np.int32).tobytes(), np.int32)
    assert replace(GROUP, owner=raw).owner is raw


@pytest.mark.parametrize(
    "again",
    [copy.copy, copy.deepcopy, lambda group: pickle.loads(pickle.dumps(group))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_nothing_of_a_group_can_be_changed_and_a_copy_is_checked_and_read_only_too(again):
    GROUP.subscription_pairs  # noqa: B018 - derived things are not copied
    made = again(GROUP)
    assert made.to_dict() == GROUP.to_dict()
    for group in (made, GROUP):
        arrays = [*arrays_of(group).values(), group.first, group.topic, group.number, group.reads]
        arrays += [
            group.readers,
            *group.subscription_pairs,
            group.subscriptions.size,
            group.subscriptions.first,
        ]
        assert len(arrays) >= 20
        for array in arrays:
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
        for part in (group, group.racks, group.offsets, group.raw_claims, MemberDetails()):
            with pytest.raises(FrozenInstanceError, match="cannot assign to field"):
                setattr(part, next(iter(vars(part))), None)


def test_new_claims_make_the_owners():
    made = GROUP.with_claims([1, 0, 0, 1, 1], [2, 1, 0, 1, 2], generation=7)
    assert made.generation.tolist() == [7, 7, 7]
    # Both claim the second partition of t in one generation; the third claim is said twice.
    assert made.owner.tolist() == [0, -1, 1]
    again = Group.from_dict(made.to_dict())
    assert again.owner.tolist() == made.owner.tolist()
    assert again.to_dict() == made.to_dict()
    assert GROUP.with_claims([0], [1]).generation.tolist() == GROUP.generation.tolist()
    assert GROUP.with_claims([], []).owner.tolist() == [-1, -1, -1]
    with pytest.raises(BadInput, match=r"claims.member\[0\]: 3, but there are 3 members"):
        GROUP.with_claims([3], [0])
    with pytest.raises(BadInput, match=r"claims.partition\[0\]: 3, but there are 3 partitions"):
        GROUP.with_claims([0], [3])


@pytest.mark.parametrize("kept", [[], [0], [1], [2], [0, 2], [1, 2], [0, 1, 2]])
def test_some_of_the_members_are_those_of_the_document_without_the_others(kept):
    rival = copy.deepcopy(DOCUMENT)
    rival["members"]["c1"] |= {"owned": {"t": [0, 1]}, "generation": 2}
    for document in (DOCUMENT, rival):
        some = copy.deepcopy(document)
        some["members"] = {f"c{m}": document["members"][f"c{m}"] for m in kept}
        found, expected = Group.from_dict(document).only(kept), Group.from_dict(some)
        assert found.to_dict() == expected.to_dict()
        assert found.owner.tolist() == expected.owner.tolist()
        assert found.subscription_row.tolist() == expected.subscription_row.tolist()


def test_some_of_the_members_keep_what_they_were_given():
    group = replace(GROUP, raw_claims=None, owner=np.array([0, 1, 1], np.int32))
    assert group.only([1, 2]).owner.tolist() == [-1, 0, 0]
    with pytest.raises(BadInput, match="members: not ascending without repeats"):
        group.only([1, 0])
    with pytest.raises(BadInput, match=r"members\[0\]: 3, but there are 3 members"):
        group.only([3])
