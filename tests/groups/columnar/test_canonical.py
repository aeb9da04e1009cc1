"""Canonical rows: whoever wrote a group, and however, it has one row and one key."""

import random
from itertools import pairwise

import pyarrow as pa
import pytest

from groups import Group
from groups.columnar.key import canonical, keys_of
from groups.columnar.layout import LAYOUT
from groups.columnar.rows import batch_of
from tests.groups.columnar.test_batch import some_groups
from tests.groups.columnar.test_rows import EVERYTHING, good, odd, shipped


def rewritten(rng: random.Random, row: dict) -> dict:
    """The row as another program may write it."""
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
    """What members are the valid owners of, as claims."""
    pairs = [(t, n) for t, count in enumerate(row["partitions"]) for n in range(count)]
    held = sorted((m, *at) for m, at in zip(row["owner"], pairs, strict=True) if m >= 0)
    return {
        name: [one[i] for one in held] for i, name in enumerate(("member", "topic", "partition"))
    }


@pytest.mark.parametrize("seed", range(20))
def test_a_row_that_another_program_wrote_becomes_the_one_that_assay_writes(seed):
    rng = random.Random(seed)
    groups = [*some_groups(rng, 25), Group.from_dict(EVERYTHING)]
    rows = batch_of(groups)
    others = [rewritten(rng, row) for row in rows.to_pylist()]
    found, place, failures = canonical(pa.RecordBatch.from_pylist(others, LAYOUT))
    assert failures == []
    assert place.tolist() == list(range(len(rows)))
    assert found.equals(rows)
    assert keys_of(found) == keys_of(rows)


def test_what_assay_writes_is_canonical():
    rows = batch_of(shipped() + odd())
    found, _, failures = canonical(rows)
    assert (found.equals(rows), failures) == (True, [])


def test_bad_rows_fall_out_of_canonical_ones():
    rows = [good(), good() | {"lag": [0]}, good() | {"group": "h", "generation": [-1, -1]}]
    found, place, failures = canonical(pa.RecordBatch.from_pylist(rows, LAYOUT))
    assert [one.row for one in failures] == [1]
    assert (found.column("group").to_pylist(), place.tolist()) == (["g", "h"], [0, 2])
    assert found.column("generation").to_pylist() == [[3, -1], None]
