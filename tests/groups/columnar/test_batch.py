"""Fleets of Arrow rows: what they hold is what `Group` accepts of each row, and nothing else."""

import pickle
import random
from dataclasses import fields

import numpy as np
import pyarrow as pa
import pytest

from groups import BadInput, Group, MemberDetails
from groups.arrays import MOST_PARTITIONS
from groups.columnar.batch import each_of
from groups.columnar.layout import LAYOUT, NESTED, BadRow
from groups.columnar.rows import batch_of, of_row
from groups.fleet import Fleet
from tests.groups.columnar.test_rows import good, odd, one_by_one, shipped
from tests.optimal.random_groups import random_group

WIDE = pa.schema(
    [
        pa.field(f.name, pa.list_(pa.int64()) if f.type == pa.list_(pa.int32()) else f.type)
        for f in LAYOUT
    ]
)
ARRAYS = (
    "partitions",
    "subscription_indptr",
    "subscription_topics",
    "subscription_row",
    "subscription_known",
    "owner",
    "generation",
)


def assert_equal(fleet: Fleet, groups: list[Group]) -> None:
    """The same arrays as of groups put side by side; a column that says nothing may be None."""
    other = Fleet.of(groups)
    for name in ARRAYS:
        found, expected = getattr(fleet.group, name), getattr(other.group, name)
        assert found.dtype == expected.dtype, name
        np.testing.assert_array_equal(found, expected, name)
    for name in ("lag_records", "weight"):
        columns = [getattr(one.group, name) for one in (fleet, other)]
        nothing = np.full(fleet.group.n_partitions, -1)
        np.testing.assert_array_equal(*[nothing if c is None else c for c in columns], name)
    np.testing.assert_array_equal(fleet.member_start, other.member_start)
    np.testing.assert_array_equal(fleet.partition_start, other.partition_start)
    racks, expected = fleet.group.racks, other.group.racks
    assert (racks is None) == (expected is None)
    if racks is not None:
        for name in ("names", "member", "replicas", "holds"):
            np.testing.assert_array_equal(getattr(racks, name), getattr(expected, name))


def some_groups(rng: random.Random, count: int) -> list[Group]:
    return [
        random_group(rng, members=rng.randint(0, 6), partitions=rng.randint(0, 12))
        for _ in range(count)
    ]


def assert_same(found: Group, expected: Group) -> None:
    """Field by field, with the same types: what one has not may be made of what it has."""
    for field in fields(Group):
        ours, theirs = getattr(found, field.name), getattr(expected, field.name)
        if field.name == "raw_claims":
            assert (ours is None) == (theirs is None)
        elif isinstance(theirs, np.ndarray):
            assert ours.dtype == theirs.dtype, field.name
            assert not ours.flags.writeable
            np.testing.assert_array_equal(ours, theirs, field.name)
        elif field.name in ("racks", "offsets"):
            assert [*map(str, vars(ours or Empty).items())] == [
                *map(str, vars(theirs or Empty).items())
            ]
        elif field.name == "details":
            nothing = (MemberDetails(),) * len(expected.members)
            assert (ours or nothing) == (theirs or nothing)
        else:
            assert ours == theirs, field.name
    assert found.to_dict() == expected.to_dict()


class Empty:
    pass


@pytest.mark.parametrize("groups", [shipped, odd], ids=["shipped", "odd"])
def test_a_group_taken_from_a_fleet_is_the_one_that_is_made_of_its_row(groups):
    rows = batch_of([*groups(), *some_groups(random.Random(7), 30)])
    fleet, _ = Fleet.from_arrow(rows)
    for at, (found, expected) in enumerate(zip(each_of(rows), one_by_one(rows), strict=True)):
        assert_same(found, expected)
        assert_same(fleet.alone(at), expected)
        pickle.loads(pickle.dumps(found))


def test_each_row_is_a_group_or_a_reason_in_its_order():
    rows = [good(), good() | {"lag": [0]}, good() | {"group": "c"}]
    rows = pa.RecordBatch.from_pylist(rows, LAYOUT)
    found = list(each_of(rows))
    assert [getattr(one, "name", None) for one in found] == ["g", None, "c"]
    assert found[1] == BadRow(1, "lag: 1 value, expected 3", "g", "now")


@pytest.mark.parametrize("groups", [shipped, odd], ids=["shipped", "odd"])
def test_a_fleet_of_rows_is_the_fleet_of_their_groups(groups):
    rows = batch_of(groups())
    fleet, failures = Fleet.from_arrow(rows)
    assert failures == []
    alone = one_by_one(rows)
    assert_equal(fleet, alone)
    assert len(fleet) == len(alone)
    assert [fleet.alone(i).to_dict() for i in range(len(fleet))] == [g.to_dict() for g in alone]
    claimed = [g.raw_claims is not None for g in alone]
    assert fleet.other_claims.tolist() == claimed
    assert {*claimed} == {True, False}


def test_a_fleet_does_not_depend_on_how_its_rows_are_cut():
    rows = batch_of(some_groups(random.Random(3), 40))
    whole = pa.Table.from_batches([rows.slice(11), rows.slice(0, 11)]).combine_chunks()
    turned = whole.to_batches()[0]
    assert_equal(
        Fleet.from_arrow(turned.slice(5, 30))[0],
        one_by_one(rows)[16:] + one_by_one(rows)[:6],
    )


def test_no_rows_are_a_fleet_of_nothing():
    fleet, failures = Fleet.from_arrow(batch_of([]))
    assert (len(fleet), fleet.group.n_partitions, failures) == (0, 0, [])


def mutated(rng: random.Random, row: dict) -> dict:
    """The row with something changed that may, or may not, break a rule."""
    name = rng.choice(LAYOUT.names)
    values = row[name]
    if rng.random() < 0.06:
        return row | {name: None}
    if name in NESTED or not pa.types.is_list(WIDE.field(name).type):
        return row | {name: anywhere(rng, values)}
    values = list(values or [])
    kind = WIDE.field(name).type.value_type
    if pa.types.is_boolean(kind):
        some = [True, False]
    elif pa.types.is_string(kind):
        some = ["", "c1", "t0", "t3", "zz", *values]
    else:
        some = [-2, -1, 0, 1, 2, 3, 2**31 - 1, 2**31, 2**32, -(2**31) - 1, 2**63 - 1, -(2**63)]
        some += [MOST_PARTITIONS, MOST_PARTITIONS + 1, len(row["members"] or []), len(values)]
    at = rng.randrange(len(values) + 1)
    change = rng.randrange(7)
    if change == 0:
        values.insert(at, rng.choice(some))
    elif change == 1 and values:
        values.pop(at - 1)
    elif change == 2 and values:
        values[at - 1] = rng.choice([*some, None])
    elif change == 3:
        rng.shuffle(values)
    elif change == 4 and values:
        values.insert(at, rng.choice(values))
    elif change == 5:
        values = []
    elif values:
        values[at - 1] = rng.choice(some)
    return row | {name: values}


@pytest.mark.parametrize("seed", range(60))
def test_a_fleet_takes_just_the_rows_that_a_group_can_be_made_of(seed):
    rng = random.Random(seed)
    rows = batch_of(some_groups(rng, 12)).to_pylist()
    for at in rng.sample(range(len(rows)), rng.choice((1, 3, 12))):
        for _ in range(rng.choice((1, 1, 2))):
            rows[at] = mutated(rng, rows[at])
    groups, reasons = [], {}
    for at, row in enumerate(rows):
        try:
            groups.append(of_row(row))
        except BadInput as error:
            reasons[at] = str(error)
    named = [row["group"] is not None for row in rows]
    schema = WIDE.set(0, pa.field("group", pa.string()))
    batch = pa.RecordBatch.from_pylist(rows, schema)
    fleet, failures = Fleet.from_arrow(batch)
    assert [one.row for one in failures] == sorted(reasons)
    assert_equal(fleet, groups)
    assert fleet.place.tolist() == [at for at in range(len(rows)) if at not in reasons]
    for one in failures:
        assert named[one.row] or one.group is None
        if "not in range" not in one.reason:
            assert one.reason == reasons[one.row]


def anywhere(rng: random.Random, value: object) -> object:
    """A value, or what is in it, changed somewhere."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        name = rng.choice(list(value))
        return value | {name: anywhere(rng, value[name])}
    if isinstance(value, list) and value and rng.random() < 0.9:
        at, way = rng.randrange(len(value)), rng.randrange(6)
        if way == 0:
            return value[:at] + value[at + 1 :]
        if way == 1:
            return [*value, value[at]]
        if way == 2:
            return rng.sample(value, len(value))
        return [*value[:at], anywhere(rng, value[at]), *value[at + 1 :]]
    if isinstance(value, bool):
        return rng.choice([not value, None])
    if isinstance(value, int):
        return rng.choice([-2, -1, 0, 1, 2, 5, 2**31 - 1, None])
    if isinstance(value, str):
        return rng.choice(["", "a", "t0", None])
    return rng.choice([None, value])


@pytest.mark.parametrize("seed", range(40))
def test_a_fleet_takes_just_what_few_groups_have_that_a_group_can_be_made_of(seed):
    rng = random.Random(seed)
    rows = [row for row in EVERY_ROW if any(row[name] is not None for name in NESTED)]
    rows = [dict(row) for row in rng.sample(rows, 20)]
    for row in rows:
        name = rng.choice([name for name in NESTED if row[name] is not None])
        row[name] = anywhere(rng, row[name])
    reasons, good_ones = {}, []
    for at, row in enumerate(rows):
        try:
            good_ones.append(of_row(row))
        except BadInput as error:
            reasons[at] = str(error)
    fleet, failures = Fleet.from_arrow(pa.RecordBatch.from_pylist(rows, LAYOUT))
    assert {one.row: one.reason for one in failures} == reasons
    assert_equal(fleet, good_ones)
    assert [fleet.alone(at).to_dict() for at in range(len(fleet))] == [
        group.to_dict() for group in good_ones
    ]
    assert reasons
    assert good_ones


EVERY_ROW = batch_of([*shipped(), *odd(), *some_groups(random.Random(1), 30)]).to_pylist()


def test_mutations_are_of_both_kinds():
    rng, good_ones, bad = random.Random(1), 0, 0
    for group in some_groups(rng, 300):
        row = mutated(rng, batch_of([group]).to_pylist()[0])
        try:
            of_row(row)
            good_ones += 1
        except BadInput:
            bad += 1
    assert good_ones > 60
    assert bad > 100


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        ("owner", [0, 2**40, 1], "owner: Integer value 1099511627776 not in range"),
        ("owner", [0, 2, 1], r"owner\[1\]: 2, but there are 2 members"),
        ("members", ["b", "a"], r"members\[1\]: 'a' does not come after 'b'"),
        ("subscription_topics", [1, 0, 1], "the row of members.0. is not ascending"),
        ("subscription_indptr", [0, 2, 2], "expected to rise from 0 to 3"),
        ("generation", [-2, 0], r"generation\[0\]: -2, expected -1 or more"),
    ],
)
def test_a_bad_row_falls_out_with_its_reason_and_the_others_stay(column, value, reason):
    rows = [good() | {"group": name} for name in "abc"]
    rows[1][column] = value
    fleet, failures = Fleet.from_arrow(pa.RecordBatch.from_pylist(rows, WIDE))
    assert [fleet.alone(at).name for at in range(len(fleet))] == ["a", "c"]
    assert fleet.place.tolist() == [0, 2]
    [(row, why, group, at)] = failures
    assert (row, group, at) == (1, "b", "now")
    with pytest.raises(BadInput, match=reason):
        raise BadInput(why)
    assert fleet.alone(1).name == "c"
    alone = pa.RecordBatch.from_pylist(rows, WIDE).slice(2, 1)
    assert Fleet.from_arrow(alone)[1] == []


def test_text_that_is_not_unicode_falls_out():
    texts = pa.array(["a", "bb", "c"])
    broken = pa.StringArray.from_buffers(3, texts.buffers()[1], pa.py_buffer(b"a\xff\xfec"))
    batch = pa.RecordBatch.from_pylist([good()] * 3, LAYOUT)
    columns = [broken if name == "group" else batch.column(name) for name in LAYOUT.names]
    fleet, failures = Fleet.from_arrow(pa.RecordBatch.from_arrays(columns, LAYOUT.names))
    assert [fleet.alone(at).name for at in range(len(fleet))] == ["a", "c"]
    assert [(one.row, one.group) for one in failures] == [(1, None)]
    assert "group: Invalid UTF8" in failures[0].reason


def test_groups_that_are_too_large_together_are_refused_as_a_whole():
    count = MOST_PARTITIONS // 2 + 1
    owner = pa.array(np.full(count, -1, np.int32))
    row = good() | {"topics": ["t"], "partitions": [count], "members": [], "owner": []}
    row |= {"subscription_indptr": [0], "subscription_topics": [], "subscription_row": []}
    row |= {"subscription_known": None, "generation": None, "lag": None, "weight": None}
    batch = pa.RecordBatch.from_pylist([row, row], LAYOUT)
    both = pa.ListArray.from_arrays([0, count, 2 * count], pa.concat_arrays([owner, owner]))
    columns = [both if name == "owner" else batch.column(name) for name in LAYOUT.names]
    with pytest.raises(BadInput, match="100000002 partitions, more than the 100000000"):
        Fleet.from_arrow(pa.RecordBatch.from_arrays(columns, schema=LAYOUT))
