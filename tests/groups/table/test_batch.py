"""Fleets of Arrow rows: what they hold is what `Group` accepts of each row, and nothing else."""

import pickle
import random
from dataclasses import fields

import numpy as np
import pyarrow as pa
import pytest

from groups import BadInput, Group
from groups.arrays import MOST_PARTITIONS
from groups.fleet import Fleet
from groups.table.batch import each_of
from groups.table.layout import LAYOUT, NESTED
from groups.table.rows import batch_of, of_row
from tests.groups.examples import differing, odd, same, shipped
from tests.groups.table.test_rows import good, one_by_one
from tests.optimal.random_groups import random_group

WIDE = pa.schema(
    [
        pa.field(f.name, pa.list_(pa.int64()) if f.type == pa.list_(pa.int32()) else f.type)
        for f in LAYOUT
    ]
)


def assert_equal(fleet: Fleet, groups: list[Group]) -> None:
    """Require the columns of `Fleet.of`; a lag or weight column without values may be None."""
    other = Fleet.of(groups)
    for column in fields(Group):
        found, expected = (getattr(one.group, column.name) for one in (fleet, other))
        if column.name in ("lag_records", "weight") and (found is None) != (expected is None):
            assert (found if expected is None else expected).max(initial=-1) == -1
        else:
            assert same(found, expected), column.name
    for name in ("member_start", "topic_start", "partition_start"):
        assert getattr(fleet, name).tolist() == getattr(other, name).tolist()


def some_groups(rng: random.Random, count: int) -> list[Group]:
    return [
        random_group(rng, members=rng.randint(0, 6), partitions=rng.randint(0, 12))
        for _ in range(count)
    ]


@pytest.mark.parametrize("groups", [shipped, odd], ids=["shipped", "odd"])
def test_a_fleet_of_rows_is_the_fleet_of_their_groups_and_each_can_be_taken_from_it(groups):
    rows = batch_of([*groups(), *some_groups(random.Random(7), 30)])
    fleet, failures = Fleet.from_arrow(rows)
    assert failures == []
    alone = one_by_one(rows)
    assert_equal(fleet, alone)
    for at, (found, expected) in enumerate(zip(each_of(rows), alone, strict=True)):
        assert differing(found, expected) == differing(fleet.alone(at), expected) == []
        pickle.loads(pickle.dumps(found))
    # The fleet does not depend on how its rows are cut.
    turned = pa.Table.from_batches([rows.slice(11), rows.slice(0, 11)]).combine_chunks()
    (some,) = turned.to_batches()
    count = len(rows) - 8
    assert_equal(Fleet.from_arrow(some.slice(5, count))[0], (alone[16:] + alone[:11])[:count])
    claimed = [g.raw_claims is not None for g in alone]
    assert fleet.other_claims.tolist() == claimed
    assert {*claimed} == {True, False}


NUMBERS = (-2, -1, 0, 1, 2, 5, 2**31 - 1, None)
# Beyond 32 bits only where the column is wide enough to hold them.
WIDE_NUMBERS = (
    *NUMBERS, 2**31, 2**32, -(2**31) - 1, 2**63 - 1, -(2**63), MOST_PARTITIONS, MOST_PARTITIONS + 1
)  # fmt: skip


def mutated(rng: random.Random, row: dict) -> dict:
    """Return the row with one column changed, which may break a rule or not."""
    name = rng.choice(LAYOUT.names)
    is_wide = name not in NESTED
    return row | {name: anywhere(rng, row[name], WIDE_NUMBERS if is_wide else NUMBERS)}


@pytest.mark.parametrize("rounds", [10, pytest.param(50, marks=pytest.mark.exhaustive)])
def test_a_fleet_takes_just_the_rows_that_a_group_can_be_made_of(rounds):
    rng, good_ones, bad = random.Random("rows"), 0, 0
    schema = WIDE.set(0, pa.field("group", pa.string()))
    nested = [row for row in EVERY_ROW if any(row[name] is not None for name in NESTED)]
    for number in range(rounds):
        if number % 5 < 3:
            rows = batch_of(some_groups(rng, 12)).to_pylist()
            for at in rng.sample(range(len(rows)), rng.choice((1, 3, 12))):
                for _ in range(rng.choice((1, 1, 2))):
                    rows[at] = mutated(rng, rows[at])
        else:
            rows = [dict(row) for row in rng.sample(nested, 20)]
            for row in rows:
                name = rng.choice([name for name in NESTED if row[name] is not None])
                row[name] = anywhere(rng, row[name])
        batch = pa.RecordBatch.from_pylist(rows, schema)
        groups, reasons = made_of(rows)
        fleet, failures = Fleet.from_arrow(batch)
        assert [one.row for one in failures] == sorted(reasons)
        assert_equal(fleet, groups)
        assert fleet.place.tolist() == [at for at in range(len(rows)) if at not in reasons]
        if number % 5 == 3:
            each = [fleet.alone(index).to_dict() for index in range(len(fleet))]
            assert each == [group.to_dict() for group in groups]
            told = {one.row: one.reason for one in failures}
            assert [getattr(one, "reason", None) for one in each_of(batch)] == [
                told.get(at) for at in range(len(rows))
            ]
        for one in failures:
            assert rows[one.row]["group"] is not None or one.group is None
            if "not in range" not in one.reason:
                assert one.reason == reasons[one.row]
        good_ones, bad = good_ones + len(groups), bad + len(reasons)
    assert min(good_ones, bad) > 2 * rounds


def made_of(rows: list[dict]) -> tuple[list[Group], dict[int, str]]:
    """Return the groups of the rows, read one by one, and the reasons why others are no groups."""
    groups, reasons = [], {}
    for at, row in enumerate(rows):
        try:
            groups.append(of_row(row))
        except BadInput as error:
            reasons[at] = str(error)
    return groups, reasons


def anywhere(rng: random.Random, value: object, numbers: tuple = NUMBERS) -> object:
    """Return a value with a random change in it."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        name = rng.choice(list(value))
        return value | {name: anywhere(rng, value[name], numbers)}
    if isinstance(value, list) and value and rng.random() < 0.9:
        at, way = rng.randrange(len(value)), rng.randrange(6)
        if way == 0:
            return value[:at] + value[at + 1 :]
        if way == 1:
            return rng.sample(value, len(value))
        kept = at + (way > 2)
        return [*value[:at], anywhere(rng, value[at], numbers), *value[kept:]]
    if isinstance(value, bool):
        return rng.choice([not value, None])
    if isinstance(value, int):
        return rng.choice(numbers)
    if isinstance(value, str):
        return rng.choice(["", "a", "c1", "t0", "zz", None])
    return rng.choice([None, value, value[:0] if isinstance(value, list) else value])


EVERY_ROW = batch_of([*shipped(), *odd(), *some_groups(random.Random(1), 30)]).to_pylist()


def test_a_bad_row_falls_out_with_its_reason_and_the_others_stay():
    rows = [good() | {"group": name} for name in "abc"]
    rows[1]["owner"] = [0, 2**40, 1]
    fleet, failures = Fleet.from_arrow(pa.RecordBatch.from_pylist(rows, WIDE))
    assert [fleet.alone(at).name for at in range(len(fleet))] == ["a", "c"]
    assert fleet.place.tolist() == [0, 2]
    [(row, why, group, at)] = failures
    assert (row, group, at) == (1, "b", "2026-11-20T10:00:00Z")
    assert why.startswith("owner: Integer value 1099511627776 not in range")
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


def test_groups_that_are_too_large_together_are_refused_as_a_whole(monkeypatch):
    rows = batch_of(some_groups(random.Random(2), 30))
    most = Fleet.from_arrow(rows)[0].group.n_partitions
    monkeypatch.setattr("groups.arrays.MOST_PARTITIONS", most)
    assert len(Fleet.from_arrow(rows)[0]) == 30
    monkeypatch.setattr("groups.arrays.MOST_PARTITIONS", most - 1)
    with pytest.raises(BadInput, match=f"^topics: {most} partitions, more than the {most - 1} "):
        Fleet.from_arrow(rows)
    # Read one by one, they are taken in portions that are small enough.
    monkeypatch.setattr("groups.table.batch.MOST_PARTITIONS", most // 3)
    monkeypatch.setattr("groups.arrays.MOST_PARTITIONS", most // 3)
    assert sum(isinstance(one, Group) for one in each_of(rows)) == 30


@pytest.mark.parametrize("cut", ["side by side", "anywhere"])
def test_some_groups_of_a_fleet_are_the_fleet_of_these_groups(cut):
    rng = random.Random(cut)
    groups = some_groups(rng, 40)
    whole = Fleet.of(groups)
    for _ in range(40):
        first, end = sorted(rng.sample(range(41), 2))
        inside = [first <= at < end for at in range(40)]
        chosen = inside if cut == "side by side" else [rng.random() < 0.5 for _ in groups]
        some, alone = whole.only(np.array(chosen)), [groups[at] for at in np.flatnonzero(chosen)]
        assert_equal(some, alone)
        assert [some.alone(at) for at in range(len(some))] == alone
        assert some.other_claims.tolist() == Fleet.of(alone).other_claims.tolist()
