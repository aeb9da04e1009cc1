"""Rows of the layout: nothing of a group is lost in one, and a row that is bad says why."""

import json
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from groups import BadInput, Group
from groups.columnar.layout import LAYOUT, BadRow, in_layout
from groups.columnar.rows import batch_of, groups_of, of_row, row_of
from groups.files import read_groups
from tests.optimal.random_groups import random_group

CORPUS = Path(__file__).parents[3] / "corpus"
EVERYTHING = {
    "format": "assay-group/1",
    "group": "orders",
    "captured_at": "2026-11-20T10:00:00Z",
    "auto_offset_reset": "earliest",
    "assumed": ["something"],
    "topics": {
        "t0": 2,
        "t1": {"partitions": 3, "lag": [10, 0, None], "weight": [7, 7, 1], "racks": [["a"]] * 3},
        "t2": {"partitions": 1, "offsets": [{"beginning": 0, "end": 100, "committed": None}]},
        "none": 0,
    },
    "members": {
        "c0": {
            "subscription": ["t0", "t1", "gone"],
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


def document(topics, members, **more) -> dict:
    return {"format": "assay-group/1", "group": "g", "topics": topics, "members": members} | more


def shipped() -> list[Group]:
    return [*read_groups(CORPUS)]


def odd() -> list[Group]:
    hostile = ['a"b', "ключ", "\n", "\0", " ", "{}", "\U0001d518"]
    return [
        Group.from_dict(EVERYTHING),
        Group.from_dict(document({}, {})),
        Group.from_dict(document({"t": 3}, {})),
        Group.from_dict(document({"t": 0}, {"c": {}})),
        Group.from_dict(document({"t": {"partitions": 0, "lag": [], "weight": []}}, {})),
        Group.from_dict(
            document(
                {name: 2 for name in hostile},
                {
                    name: {"subscription": hostile, "client_id": name, "owned": {name: [1]}}
                    for name in hostile
                },
                captured_at="\t",
            )
        ),
        Group.from_dict(
            document({"t": 1}, {"a": {"owned": {"t": [0]}}, "b": {"owned": {"t": [0]}}})
        ),
        Group.from_dict(
            document({"t": 1}, {"a": {"subscription": ["t"]}, "b": {}})
        ).with_equal_subscriptions(),
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


@pytest.mark.parametrize("groups", [shipped, odd], ids=["shipped", "odd"])
def test_a_group_comes_back_from_its_row_as_it_was(groups):
    made = groups()
    assert len(made) > 5
    for group, back in zip(made, groups_of(batch_of(made)), strict=True):
        assert isinstance(back, Group), back
        assert back.to_dict() == group.to_dict()
        assert of_row(row_of(group)).to_dict() == group.to_dict()


@pytest.mark.parametrize("seed", range(60))
def test_a_random_group_comes_back_from_its_row_with_every_column(seed):
    rng = random.Random(seed)
    group = random_group(rng, members=rng.randint(0, 8), partitions=rng.randint(0, 30))
    back = of_row(row_of(group))
    assert back.to_dict() == group.to_dict()
    for name in ("owner", "generation", "lag_records", "weight", "capacity", "subscription_row"):
        np.testing.assert_array_equal(getattr(back, name), getattr(group, name))


def test_a_group_has_one_row_whatever_way_it_was_made():
    first = Group.from_dict(EVERYTHING)
    turned = json.loads(json.dumps(EVERYTHING, sort_keys=True))
    turned["members"] = dict(reversed(EVERYTHING["members"].items()))
    turned["topics"] = dict(reversed(EVERYTHING["topics"].items()))
    for other in (
        Group.from_dict(turned),
        Group.from_dict(first.to_dict()),
        of_row(row_of(first)),
    ):
        assert batch_of([other]).equals(batch_of([first]))


def test_what_nothing_is_known_of_is_null():
    row = row_of(Group.from_dict(document({"t": 2}, {"a": {"subscription": ["t"]}})))
    nulls = {name for name in LAYOUT.names if row[name] is None}
    assert nulls == {
        "captured_at", "auto_offset_reset", "subscription_known", "generation", "lag",
        "weight", "rest",
    }  # fmt: skip


def good() -> dict:
    """A row with a value in every column but `rest`."""
    return {
        "group": "g",
        "captured_at": "now",
        "auto_offset_reset": "latest",
        "assumed": ["a"],
        "topics": ["t0", "t1"],
        "partitions": [2, 1],
        "members": ["a", "b"],
        "subscription_indptr": [0, 2, 3],
        "subscription_topics": [0, 1, 1],
        "subscription_row": [0, 1],
        "subscription_known": [True, True],
        "owner": [0, -1, 1],
        "generation": [3, -1],
        "lag": [5, -1, 0],
        "weight": [1, 2, 3],
        "rest": None,
    }


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"group": ""}, "group: '', expected a non-empty string"),
        ({"topics": None}, "topics: null"),
        ({"topics": ["t1", "t0"]}, r"topics\[1\]: 't0' does not come after 't1'"),
        ({"members": ["a", "a"]}, r"members\[1\]: 'a' does not come after 'a'"),
        ({"members": ["a", None]}, r"members\[1\]: null"),
        ({"partitions": [2, -1]}, r"partitions\[1\]: -1, expected 0 or more"),
        ({"partitions": [2]}, "partitions: 1 value, expected 2"),
        ({"owner": [0, 2, 1]}, r"owner\[1\]: 2, but there are 2 members"),
        ({"owner": [1, -1, 1]}, r"owner\[0\]: b owns a partition of t0 but does not subscribe"),
        ({"owner": [0, None, 1]}, r"owner\[1\]: null"),
        ({"lag": [0]}, "lag: 1 value, expected 3"),
        ({"subscription_topics": [0, 0, 1]}, "not ascending without repeats"),
        ({"subscription_row": [0, 0]}, "subscription_row: no member reads row 1"),
        ({"subscription_known": [True, False]}, r"subscription_known\[1\]: unknown, but its row"),
        ({"rest": "{"}, "rest: line 1 column 2: not JSON"),
        ({"rest": '{"members":{"a":{"owned":{"t0":[1]}}}}'}, r"owner\[0\]: 0, but the claims in"),
        (
            {"rest": '{"topics":{"t1":{"offsets":[{"end":9,"committed":2}]}}}'},
            r"lag\[2\]: 0, but the offsets in rest make it 7",
        ),
        (
            {"rest": '{"members":{"c":{"host":"h"}}}'},
            "rest.members: 'c', but there is no such member",
        ),
        ({"rest": '{"members":{"a":{"generation":1}}}'}, "unknown key 'generation'"),
        ({"rest": '{"members":{"a":{"subscription":["t1"]}}}'}, "t1 exists"),
        ({"rest": '{"topics":{"t1":{"lag":[3]}}}'}, "rest.topics.t1: unknown key 'lag'"),
    ],
)
def test_a_row_that_breaks_a_rule_is_refused_with_its_column(change, reason):
    assert of_row(good()).to_dict()["group"] == "g"
    with pytest.raises(BadInput, match=reason):
        of_row(good() | change)


def test_a_bad_row_does_not_cost_its_neighbours():
    rows = [good(), good() | {"owner": [1, 1, 1], "group": "bad"}, good()]
    found = list(groups_of(pa.RecordBatch.from_pylist(rows, LAYOUT)))
    assert [type(one) for one in found] == [Group, BadRow, Group]
    reason = "owner[0]: b owns a partition of t0 but does not subscribe"
    assert found[1] == BadRow(1, reason, "bad", "now")


def test_other_columns_are_ignored_and_wider_types_are_taken():
    batch = pa.RecordBatch.from_pylist([good()], LAYOUT)
    wide = {
        "group": pa.large_string(),
        "owner": pa.large_list(pa.int64()),
        "topics": pa.large_list(pa.large_string()),
        "subscription_topics": pa.list_(pa.uint16()),
    }
    columns = [batch.column(n).cast(wide.get(n, batch.column(n).type)) for n in LAYOUT.names]
    given = pa.RecordBatch.from_arrays([*columns, pa.array([1])], [*LAYOUT.names, "more"])
    assert in_layout(given).equals(batch)


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        (None, "owner: this column is missing"),
        (pa.array([[1.5]]), "owner: list<item: double>, expected list<item: int32>"),
        (pa.array([[2**40]]), "owner: Integer value 1099511627776 not in range"),
    ],
)
def test_a_column_of_another_kind_is_refused(column, reason):
    batch = pa.RecordBatch.from_pylist([good()], LAYOUT)
    given = {name: batch.column(name) for name in LAYOUT.names if name != "owner"}
    if column is not None:
        given["owner"] = column
    with pytest.raises(BadInput, match=reason):
        in_layout(pa.RecordBatch.from_pydict(given))
