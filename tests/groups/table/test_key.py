"""Keys of a group's content and of nothing else; whoever wrote a row, its canonical one is one."""

import json
import random
from itertools import pairwise

import pyarrow as pa
import pytest

from groups import Group
from groups.table.key import canonical, keys_of
from groups.table.layout import LAYOUT
from groups.table.rows import batch_of
from tests.groups.examples import EVERYTHING, odd, shipped
from tests.groups.table.test_batch import some_groups
from tests.groups.table.test_rows import good
from tests.optimal.small_groups import document


def key_of(row: dict) -> str:
    """Return the key of one row, whose columns may be lists or arrays."""
    columns = [pa.array([row.get(field.name)], field.type) for field in LAYOUT]
    return keys_of(pa.RecordBatch.from_arrays(columns, schema=LAYOUT))[0]


def test_the_key_of_a_group_stays_what_it_is():
    # Stored tables hold keys: with another digest all their rows would be computed again.
    plain = document(
        {"t0": 2, "t1": {"partitions": 1, "lag": [4]}},
        {
            "a": {"subscription": ["t0", "t1"], "owned": {"t0": [0]}},
            "b": {"subscription": ["t0"]},
        },
    )
    assert keys_of(batch_of([Group.from_dict(one) for one in (plain, EVERYTHING)])) == [
        "31baa29fb54630813b1718574f7ec2e2",
        "a785f598a24b4a46e865cea46e9406dd",
    ]


def test_keys_are_of_the_content_alone():
    groups = shipped() + odd()
    batch = batch_of(groups)
    keys = keys_of(batch)
    documents = [json.dumps(group.to_dict(), sort_keys=True) for group in groups]
    assert len(set(keys)) == len(set(documents))
    assert all(len(key) == 32 for key in keys)
    assert keys == [keys_of(batch.slice(i, 1))[0] for i in range(len(batch))]
    assert keys[5:40] == keys_of(batch.slice(5, 35))
    assert keys == [key_of(batch_of([group]).to_pylist()[0]) for group in groups]
    assert keys_of(batch_of([])) == []
    table = pa.Table.from_batches([batch.slice(7), batch.slice(0, 7)]).combine_chunks()
    assert keys_of(table.to_batches()[0]) == keys[7:] + keys[:7]


def test_what_says_the_same_has_the_same_key():
    nothing = {"assumed": [], "subscription_known": [True] * 2, "generation": [-1] * 2}
    nothing |= {"lag": [-1] * 3, "weight": [-1] * 3}
    for name, says in nothing.items():
        assert key_of(good() | {name: None}) == key_of(good() | {name: says})


@pytest.mark.parametrize(
    "change",
    [
        {"group": "h"},
        {"captured_at": None},
        {"captured_at": "2026-11-21T10:00:00Z"},
        {"auto_offset_reset": None},
        {"assumed": ["a", "b"]},
        {"assumed": ["b"]},
        {"topics": ["t0t", "1"]},
        {"partitions": [1, 2]},
        {"members": ["a", "bb"]},
        {"subscription_topics": [0, 1, 0]},
        {"subscription_indptr": [0, 1, 3]},
        {"subscription_known": [False, True]},
        {"owner": [0, 0, 1]},
        {"generation": [-1, 3]},
        {"lag": [5, 0, 0]},
        {"lag": None},
        {"weight": [1, 2, 4]},
        {"absent_topics": ["gone"]},
        {"replicas": [["a"], None, None]},
    ],
)
def test_what_differs_in_one_value_has_another_key(change):
    assert key_of(good() | change) != key_of(good())


def test_what_lies_under_a_null_does_not_count():
    made = pa.array([[1, 2], [5, -1, 0]], pa.list_(pa.int64()))
    hidden = pa.ListArray.from_arrays(made.offsets, made.values, mask=pa.array([True, False]))
    batch = pa.RecordBatch.from_pylist([good() | {"lag": None}, good()], LAYOUT)
    columns = [hidden if name == "lag" else batch.column(name) for name in LAYOUT.names]
    assert keys_of(pa.RecordBatch.from_arrays(columns, schema=LAYOUT)) == keys_of(batch)


def rewritten(rng: random.Random, row: dict) -> dict:
    """Return the row in another form that a program may write for the same group."""
    members, row = len(row["members"]), dict(row)
    ends, listed, read = (row[f"subscription_{name}"] for name in ("indptr", "topics", "row"))
    lists = [listed[a:b] for a, b in pairwise(ends)]
    way = rng.randrange(3)
    if way == 0:
        # A list for each member.
        lists, read = [lists[r] for r in read], list(range(members))
    elif way == 1:
        order = rng.sample(range(len(lists)), len(lists))
        lists, read = [lists[at] for at in order], [order.index(r) for r in read]
    ends = [0]
    for one in lists:
        ends.append(ends[-1] + len(one))
    row |= {"subscription_indptr": ends, "subscription_row": read}
    row |= {"subscription_topics": [topic for one in lists for topic in one]}
    nothing = {"subscription_known": [True] * members, "generation": [-1] * members}
    nothing |= {name: [-1] * len(row["owner"]) for name in ("lag", "weight")}
    for name, says in nothing.items():
        if row[name] is None and rng.random() < 0.5:
            row[name] = says
    if row["assumed"] == []:
        row["assumed"] = None
    keys = LAYOUT.field("details").type.value_type
    silent = dict.fromkeys(field.name for field in keys)
    nothing = {"absent_topics": [], "absent_subscriptions": [], "details": [silent] * members}
    nothing |= {"replicas": [None] * len(row["owner"])}
    nothing |= {"claims": as_claims(row)}
    for name, says in nothing.items():
        if row[name] is None and rng.random() < 0.5:
            row[name] = says
    if row["replicas"] is not None:
        row["replicas"] = [None if one is None else one[::-1] for one in row["replicas"]]
    for one in row["details"] or ():
        if one["target"] is not None:
            one["target"] = one["target"][::-1]
    return row


def as_claims(row: dict) -> dict:
    """Return the valid owners of a row as claims."""
    pairs = [(t, n) for t, count in enumerate(row["partitions"]) for n in range(count)]
    held = sorted((m, *at) for m, at in zip(row["owner"], pairs, strict=True) if m >= 0)
    return {
        name: [one[i] for one in held] for i, name in enumerate(("member", "topic", "partition"))
    }


def test_a_row_that_another_program_wrote_becomes_the_one_that_assay_writes_which_stays():
    rng = random.Random("written")
    rows = batch_of([*shipped(), *odd(), *some_groups(rng, 100)])
    others = [rewritten(rng, row) for row in rows.to_pylist()]
    for written in (rows, pa.RecordBatch.from_pylist(others, LAYOUT)):
        found, place, failures = canonical(written)
        assert failures == []
        assert place.tolist() == list(range(len(rows)))
        assert found.equals(rows)
        assert keys_of(found) == keys_of(rows)


def test_bad_rows_fall_out_of_canonical_ones():
    rows = [good(), good() | {"lag": [0]}, good() | {"group": "h", "generation": [-1, -1]}]
    found, place, failures = canonical(pa.RecordBatch.from_pylist(rows, LAYOUT))
    assert [one.row for one in failures] == [1]
    assert (found.column("group").to_pylist(), place.tolist()) == (["g", "h"], [0, 2])
    assert found.column("generation").to_pylist() == [[3, -1], None]
