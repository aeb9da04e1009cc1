"""How many members take a group's weights within a capacity, and what has to move."""

import pytest

from assay import Fit, Group, fit
from groups.wording import ranges
from tests.assay.calling import assay, document_of, good, one_line, write
from tests.compare.conftest import snapshot

WEIGHTS = [300, 250, 200, 150, 120, 80, 60, 60, 50, 40]
OWNED = {"c0": [0, 1, 2, 3], "c1": [4, 5, 6], "c2": [7, 8, 9]}


def orders(weights=WEIGHTS, **members) -> dict:
    holds = {c: {"subscription": ["t0"], "owned": {"t0": owned}} for c, owned in OWNED.items()}
    topics = {"t0": {"partitions": 10, **({"weight": weights} if weights else {})}, "t1": 2}
    return snapshot("orders", topics, holds | members)


@pytest.fixture
def folder(tmp_path):
    files = {
        "orders.json": orders(),
        "bare.json": orders(weights=None),
        "differ.json": orders(c3={"subscription": ["t1"]}),
    }
    return write(tmp_path, files)


def test_the_plan_of_the_fewest_is_within_the_capacity_and_moves_what_is_said():
    group = Group.from_dict(orders())
    for capacity in (280, 300, 450, 500, 1000, 1310):
        found = fit(group, capacity)
        assert isinstance(found, Fit)
        held = {m: topics["t0"] for m, topics in found.assignment.items()}
        assert sorted(p for mine in held.values() for p in mine) == list(range(10))
        loads = {m: sum(WEIGHTS[p] for p in mine) for m, mine in held.items()}
        assert all(load <= capacity or len(held[m]) == 1 for m, load in loads.items())
        assert len(held) == found.fewest == found.rows[0].members
        left = [p for m, mine in OWNED.items() for p in mine if p not in held.get(m, ())]
        assert found.rows[0].moved_weight == sum(WEIGHTS[p] for p in left)
        assert found.rows[0].moves == len(left)
        moved = [row.moved_weight for row in found.rows]
        assert moved == sorted(set(moved), reverse=True)
        assert all(row.moved_weight == row.moved_weight_bound for row in found.rows)


def test_new_members_have_names_that_nobody_has_and_a_group_of_nobody_moves_nothing():
    of_nobody = orders() | {"members": {}, "topics": {"t0": orders()["topics"]["t0"]}}
    found = fit(Group.from_dict(of_nobody), 700)
    assert [*found.assignment] == ["new-1", "new-2"]
    assert (found.partitions, found.rows[0].moved_weight) == (10, 0)
    more = fit(Group.from_dict(orders()), 280).assignment
    assert [*more] == ["c0", "c1", "c2", "new-1", "new-2"]


def test_size_with_a_capacity_says_how_many_are_enough_what_moves_and_who_then_holds_what(folder):
    lines = good(assay("size", folder / "orders.json", "--capacity", "280")).stdout.splitlines()
    assert lines[:7] == [
        "orders: 10 partitions of weight 1,310, 3 members now, 1 of them above 280. No number of "
        "members is enough: 1 partition is above 280 by itself, and whoever has it falls behind. "
        "With 5 members nobody else does.",
        "members  moved weight  moves  most weight  proof",
        "      5           640      4          300  solver",
        "      6           600      3          300  certificate",
        "each row: the least weight that has to move if there may be so many members",
        "solver: a solver's word that no less has to move",
        "certificate: two bounds that need no solver: docs/findings/elastic.md",
    ]
    assert lines[7] == "With 5 members:"
    assert lines[8].split() == ["member", "partitions"]
    held = fit(Group.from_dict(orders()), 280).assignment
    assert len(lines[9:]) == len(held) == 5
    for line in lines[9:]:
        member, *topics = line.split()
        assert topics == [f"{topic}:{ranges(numbers)}" for topic, numbers in held[member].items()]
    asked = ("size", folder / "orders.json", "--capacity", "1,000", "--format", "json")
    document = document_of(assay(*asked))
    assert document["format"] == "assay-fit/1"
    assert document["fewest"] == document["fewest_bound"] == 2


def test_what_a_capacity_cannot_be_asked_of_has_one_line(folder):
    number = "expected a number of 1 or more as in 8 or 400k"
    for asked, refusal in (
        ("orders.json --capacity 0", f"capacity 0: {number}"),
        ("orders.json --capacity 5x", f"capacity 5x: {number}"),
        ("orders.json --capacity 5 --like c0", "--like: not with --capacity"),
        ("bare.json --capacity 5", "topics.t0.weight.0: unknown, but a capacity needs it"),
        ("differ.json --capacity 5", "members: they read different topics"),
    ):
        assert refusal in one_line(assay("size", *asked.split(), cwd=folder), 2)
