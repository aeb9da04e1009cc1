"""Rows of the layout: nothing of a group is lost in one, and a row that is bad says why."""

import json
import re

import pyarrow as pa
import pytest

from groups import BadInput, Group
from groups.fleet import Fleet
from groups.table.layout import LAYOUT, MAY_BE_NULL, NESTED, in_layout
from groups.table.rows import batch_of, of_row
from tests.groups.examples import CORPUS, EVERYTHING
from tests.optimal.small_groups import document


def row_of(group: Group) -> dict:
    return batch_of([group]).to_pylist()[0]


def one_by_one(rows: pa.RecordBatch) -> list[Group]:
    """Return the group of each row, read one by one."""
    return [*map(of_row, rows.to_pylist())]


def test_a_group_has_one_row_whatever_way_it_was_made():
    first = Group.from_dict(EVERYTHING)
    turned = json.loads(json.dumps(EVERYTHING, sort_keys=True))
    turned["members"] = dict(reversed(EVERYTHING["members"].items()))
    turned["topics"] = dict(reversed(EVERYTHING["topics"].items()))
    for member in turned["members"].values():
        member["subscription"] = member["subscription"] and member["subscription"][::-1]
        member["owned"] = {t: held[::-1] for t, held in reversed(member["owned"].items())}
    for other in (
        Group.from_dict(turned),
        Group.from_dict(first.to_dict()),
        of_row(row_of(first)),
    ):
        assert batch_of([other]).equals(batch_of([first]))


def test_a_topic_of_which_nothing_is_claimed_is_not_absent():
    group = Group.from_dict(document({"t": 1}, {"a": {"owned": {"gone": []}}}))
    assert group.absent_topics == ()
    assert row_of(group)["absent_topics"] is None


def test_what_nothing_is_known_of_is_null():
    row = row_of(Group.from_dict(document({"t": 2}, {"a": {"subscription": ["t"]}})))
    nulls = {name for name in LAYOUT.names if row[name] is None}
    assert nulls == {
        "captured_at", "auto_offset_reset", "subscription_known", "generation", "lag",
        "weight", *NESTED,
    }  # fmt: skip


def good() -> dict:
    """Return a row with a value in every column that most groups have."""
    return {
        "group": "g",
        "captured_at": "2026-11-20T10:00:00Z",
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
        **dict.fromkeys(NESTED),
    }


def logs(**change) -> dict:
    """Return the same row with offsets, which give its lag."""
    columns = {"beginning": [0, -1, 0], "end": [8, 9, 2], "committed": [3, -1, 2]}
    offsets = columns | {"given": [True, True]}
    return good() | {"auto_offset_reset": "earliest", "offsets": offsets | change}


def claimed(**change) -> dict:
    """Return the same row with claims, which give its owners."""
    claims = {"member": [0, 0, 1], "topic": [0, 2, 1], "partition": [0, 7, 0]}
    return good() | {"absent_topics": ["gone"], "claims": claims | change}


def detailed(**change) -> list[dict]:
    """Return details of two members; only the first has any."""
    names = [field.name for field in LAYOUT.field("details").type.value_type]
    nothing = dict.fromkeys(names)
    return [nothing | change, nothing]


def refusal(row: dict) -> str:
    """Return the reason why a row is refused, which must be the same alone and among good rows."""
    with pytest.raises(BadInput) as caught:
        of_row(row)
    batch = pa.RecordBatch.from_pylist([good(), row, good()], LAYOUT)
    [failure] = Fleet.from_arrow(batch)[1]
    assert (failure.row, failure.reason) == (1, str(caught.value))
    return failure.reason


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"group": ""}, "group: '', expected a non-empty string"),
        ({"topics": None}, "topics: null"),
        ({"auto_offset_reset": "boo"}, "auto_offset_reset: 'boo', expected latest, earliest"),
        (logs() | {"auto_offset_reset": "Latest"}, "auto_offset_reset: 'Latest', expected"),
        ({"topics": ["t1", "t0"]}, r"topics\[1\]: 't0' does not come after 't1'"),
        ({"members": ["a", "a"]}, r"members\[1\]: 'a' does not come after 'a'"),
        ({"members": ["a", None]}, r"members\[1\]: null"),
        ({"owner": [0, None, 1]}, r"owner\[1\]: null"),
        (claimed(partition=[1, 7, 0]), r"owner\[0\]: 0, but the claims make it -1"),
        (claimed(topic=[2, 0, 1]), r"claims\[1\]: does not come after the one before it"),
        (claimed(partition=None), "claims.partition: null"),
        (logs(committed=[2, -1, 2]), r"lag\[0\]: 5, but the offsets make it 6"),
        (logs(given=[True, None]), r"offsets.given\[1\]: null"),
        ({"absent_topics": ["v", "u"]}, r"absent_topics\[1\]: 'u' does not come after 'v'"),
        ({"absent_topics": [""]}, "absent_topics: '', expected a non-empty string"),
        (
            {
                "absent_topics": ["u"],
                "absent_subscriptions": [{"member": 1, "topic": 0}, {"member": 0, "topic": 0}],
            },
            r"absent_subscriptions\[1\]: \(0, 0\) does not come after \(1, 0\)",
        ),
        ({"replicas": [["a"], ["a"]]}, "replicas: 2 values, expected 3"),
        ({"replicas": [["a"], ["b", "b"], None]}, r"replicas\[1\]: 'b' appears twice"),
        ({"replicas": [["a"], [""], None]}, r"replicas: Expected `str` of length >= 1"),
        ({"details": detailed()[:1]}, "details: 1 value, expected 2"),
        (
            {"details": detailed(host="")},
            r"details: Expected `str` of length >= 1 - at `\$\[0\].h",
        ),
        ({"details": detailed(capacity=0)}, "details: Expected `int` >= 1"),
        ({"details": detailed(epoch=-2)}, "details: Expected `int` >= -1"),
        (
            {"details": detailed(assignors=["a", "a"])},
            r"details\[0\].assignors: 'a' appears twice",
        ),
        (
            {"details": detailed(target=[{"topic": "t0", "partitions": [1, 1]}])},
            r"details\[0\].target.t0: partition 1 appears twice",
        ),
        ({"details": [None, None]}, "details: Expected `object`, got `null`"),
    ],
)
def test_a_row_that_breaks_a_rule_is_refused_with_its_column(change, reason):
    for row in (good(), logs(), claimed()):
        assert of_row(row).to_dict()["group"] == "g"
    assert re.match(reason, refusal(good() | change))


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


def test_details_of_before_a_key_was_added_are_read_and_others_refused():
    batch = batch_of([Group.from_dict(EVERYTHING)])
    names = [one.name for one in LAYOUT.field("details").type.value_type]
    rows = batch.to_pylist()

    def of_fields(*chosen: str) -> pa.RecordBatch:
        kind = pa.struct([LAYOUT.field("details").type.value_type.field(one) for one in chosen])
        said = [{one: of[one] for one in chosen} for of in rows[0]["details"]]
        columns = [*batch.columns[:-1], pa.array([said], pa.list_(kind))]
        return pa.RecordBatch.from_arrays(columns, batch.schema.names)

    for missing in names:
        found = in_layout(of_fields(*(one for one in names if one != missing)))
        assert found.to_pylist() == [
            rows[0] | {"details": [one | {missing: None} for one in rows[0]["details"]]}
        ]
    with pytest.raises(BadInput, match="details: list<"):
        in_layout(of_fields(*reversed(names)))


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


# docs/reference/formats.md says of every column what the layout says.
PAGE = (CORPUS.parent / "docs/reference/formats.md").read_text()
SECTION = re.search(r"^## Groups in Parquet\n(.*?)^## ", PAGE, re.M | re.S)[1]
ROWS = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|", SECTION, re.M)


def said(kind: pa.DataType) -> str:
    """Return a type in the words of the page."""
    if pa.types.is_list(kind):
        return f"list of {said(kind.value_type)}"
    if pa.types.is_struct(kind):
        return "struct of " + ", ".join(f"`{one.name}` {said(one.type)}" for one in kind)
    return {"double": "float64"}.get(str(kind), str(kind))


def test_the_page_names_every_column_with_its_type():
    assert [(name, kind) for name, kind, _ in ROWS] == [(f.name, said(f.type)) for f in LAYOUT]


@pytest.mark.parametrize(("column", "null"), [(name, null) for name, _, null in ROWS])
def test_null_is_an_error_just_where_the_page_says_so(column, null):
    row = good() | {column: None}
    assert (null == "an error") == (column not in MAY_BE_NULL)
    if null == "an error":
        assert refusal(row) == f"{column}: null"
    else:
        of_row(row)
