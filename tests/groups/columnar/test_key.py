"""Keys: of a group's content, and of nothing else."""

import json

import pyarrow as pa
import pytest

from groups import Group
from groups.columnar.key import keys_of
from groups.columnar.layout import LAYOUT
from groups.columnar.rows import batch_of
from tests.groups.columnar.test_rows import EVERYTHING, document, good, odd, shipped


def key_of(row: dict) -> str:
    """The key of one row, lists as lists or arrays."""
    columns = [pa.array([row.get(field.name)], field.type) for field in LAYOUT]
    return keys_of(pa.RecordBatch.from_arrays(columns, schema=LAYOUT))[0]


def test_the_key_of_a_group_stays_what_it_is():
    # Tables hold it: another digest would make every stored row again.
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
    table = pa.Table.from_batches([batch.slice(7), batch.slice(0, 7)]).combine_chunks()
    assert keys_of(table.to_batches()[0]) == keys[7:] + keys[:7]


@pytest.mark.parametrize(
    ("nulls", "lists"),
    [
        ({"assumed": None}, {"assumed": []}),
        ({"subscription_known": None}, {"subscription_known": [True, True]}),
        ({"generation": None}, {"generation": [-1, -1]}),
        ({"lag": None}, {"lag": [-1, -1, -1]}),
        ({"weight": None}, {"weight": [-1, -1, -1]}),
    ],
)
def test_what_says_the_same_has_the_same_key(nulls, lists):
    assert key_of(good() | nulls) == key_of(good() | lists)


@pytest.mark.parametrize(
    "change",
    [
        {"group": "h"},
        {"captured_at": None},
        {"captured_at": "then"},
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


def test_no_rows_have_no_keys():
    assert keys_of(batch_of([])) == []
