import random
from collections import Counter
from functools import cache

import pytest

from compare.diff import Diff, unassigned
from groups import BadInput, Group
from groups.assignment_files import NamedAssignment
from groups.importers import import_each
from optimal import solve
from tests.optimal.random_groups import random_group
from tests.optimal.small_groups import document
from tests.seeds import for_each

SEEDS = range(200)


def bare(held, source="a") -> NamedAssignment:
    return NamedAssignment.from_dict(held, source)


@cache
def pair_of(seed: int) -> tuple[NamedAssignment, NamedAssignment]:
    """Return the present assignment of a random group, and an optimum."""
    rng = random.Random(seed)
    group = random_group(rng, members=rng.randint(1, 5), partitions=rng.randint(1, 14))
    best = NamedAssignment.from_solution(solve(group).to_dict(), "best")
    return NamedAssignment.from_group(group, "now"), best


def holders(side: NamedAssignment) -> Counter:
    return Counter(
        (member, topic, number)
        for member, topics in side.held.items()
        for topic, numbers in topics.items()
        for number in numbers
    )


def apply(diff: Diff) -> Counter:
    """Return what members hold after the losses and gains of a diff."""
    found = holders(diff.before)
    for change in diff.members:
        for topic, numbers in change.lost.items():
            found.subtract((change.member, topic, n) for n in numbers)
        for topic, numbers in change.gained.items():
            found.update((change.member, topic, n) for n in numbers)
    return +found


@for_each(SEEDS)
def test_what_members_lose_and_gain_leads_from_the_one_to_the_other_and_back(seed):
    before, after = pair_of(seed)
    there, back = Diff(before, after), Diff(after, before)
    assert apply(there) == holders(after)
    assert apply(back) == holders(before)
    assert [(c.member, c.lost, c.gained) for c in there.members] == [
        (c.member, c.gained, c.lost) for c in back.members
    ]
    assert (there.joined, there.left) == (back.left, back.joined)
    assert (there.appeared, there.vanished) == (back.vanished, back.appeared)
    assert there.is_empty is back.is_empty
    for change in there.members:
        lost, gained = (sum(map(len, of.values())) for of in (change.lost, change.gained))
        assert (change.after or 0) - (change.before or 0) == gained - lost


@for_each(SEEDS)
def test_moves_say_of_each_partition_lost_or_gained_where_it_went(seed):
    diff = Diff(*pair_of(seed))
    moved = [
        (m.origin, m.target, t, n)
        for m in diff.moves
        for t, ns in m.partitions.items()
        for n in ns
    ]
    lost = Counter((a, t, n) for a, _, t, n in moved if a is not None)
    gained = Counter((b, t, n) for _, b, t, n in moved if b is not None)
    assert lost == Counter(
        (c.member, t, n) for c in diff.members for t, ns in c.lost.items() for n in ns
    )
    assert gained == Counter(
        (c.member, t, n) for c in diff.members for t, ns in c.gained.items() for n in ns
    )
    assert diff.moved == sum(a is not None and b is not None for a, b, _, _ in moved)


@for_each(range(50))
def test_nothing_differs_from_itself(seed):
    for side in pair_of(seed):
        diff = Diff(side, side)
        assert diff.is_empty
        assert (diff.moves, diff.moved, diff.joined, diff.left) == ((), 0, [], [])


def test_members_come_and_go_and_partitions_appear_and_vanish():
    def group(topics, owned):
        members = {m: {"subscription": list(topics), "owned": held} for m, held in owned.items()}
        return NamedAssignment.from_group(Group.from_dict(document(topics, members)), "g.json")

    before = group({"a": 2, "gone": 1}, {"x": {"a": [0]}, "y": {"a": [1], "gone": [0]}})
    after = group({"a": 3, "new": 1}, {"x": {"a": [0, 1]}, "z": {"a": [1]}})
    diff = Diff(before, after)
    assert (diff.joined, diff.left) == (["z"], ["y"])
    assert (diff.appeared, diff.vanished) == ({"a": [2], "new": [0]}, {"gone": [0]})
    assert (unassigned(before), unassigned(after)) == ({}, {"a": [2], "new": [0]})
    assert [(m.origin, m.target, m.partitions) for m in diff.moves] == [
        (None, "z", {"a": [1]}),
        ("y", None, {"gone": [0]}),
        ("y", "x", {"a": [1]}),
    ]
    told = diff.to_dict()
    assert told["after"]["double"] == {"a": [1]}
    assert [(c["member"], c["before"], c["after"]) for c in told["members"]] == [
        ("x", 1, 2), ("y", 2, None), ("z", None, 1),
    ]  # fmt: skip


def console(*rows: str, verbose: bool) -> NamedAssignment:
    """Return what a text shows of group g, from the cells after its group."""
    columns = "CONSUMER-ID HOST CLIENT-ID #PARTITIONS ASSIGNMENT" if verbose else OFFSETS
    text = "\n".join([f"GROUP {columns}", *(f"g {row}" for row in rows), ""])
    (made,), _ = import_each([("g.txt", text.encode())])
    return NamedAssignment.from_group(made.group(), "g.txt")


OFFSETS = "TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID"


def test_partitions_that_a_text_shows_only_with_an_owner_lost_it_and_are_not_gone():
    verbose = console("m /h m 2 t(0,1)", "n /h n 2 t(2), u(0)", verbose=True)
    offsets = console(
        "t 0 1 1 0 m /h m", "t 1 1 1 0 m /h m", "t 2 - 1 - n /h n", "u 0 1 1 0 n /h n",
        verbose=False,
    )  # fmt: skip
    for before, after, lost, gone in (
        (verbose, console("m /h m 2 t(0,1)", verbose=True), {"t": [2], "u": [0]}, {}),
        (offsets, console("m /h m 2 t(0,1)", verbose=True), {"t": [2], "u": [0]}, {}),
        # --describe shows partitions without an owner if they have a commit, as all but t-2 had.
        (offsets, console("t 0 1 1 0 m /h m", verbose=False), {"t": [2]}, {"t": [1], "u": [0]}),
    ):
        diff = Diff(before, after)
        assert (diff.lost_owner, diff.vanished) == (lost, gone)
        assert (diff.worse, diff.waiting) == ("partitions newly without an owner", None)


def test_members_that_one_text_cannot_show_neither_join_nor_leave():
    idle = console("m /h m 1 t(0)", "n /h n 1 t(1)", "idle /h i 0 -", verbose=True)
    holders = console("t 0 1 1 0 m /h m", "t 1 1 1 0 n /h n", verbose=False)
    for diff in (Diff(idle, holders), Diff(holders, idle)):
        assert (diff.joined, diff.left, diff.worse, diff.better) == ([], [], None, None)
    all_on_m = console("m /h m 2 t(0,1)", "n /h n 0 -", verbose=True)
    assert Diff(holders, all_on_m).left == []


def test_a_bare_plan_does_not_say_which_partitions_there_are():
    plan = bare({"x": {"a": [0]}})
    assert unassigned(plan) is None
    diff = Diff(plan, bare({"x": {}}))
    assert (diff.appeared, diff.vanished, diff.group) == (None, None, None)
    assert diff.to_dict()["before"]["partitions"] is None


def test_client_ids_stand_for_members_unless_several_have_one():
    held = {"c-1": {"t": [0]}, "b-2": {"t": [1], "u": [0]}, "d": {"t": [2]}}
    side = NamedAssignment("a", "g", held, client_ids={"c-1": "c", "b-2": "b"})
    assert side.by_client().held == {"b": held["b-2"], "c": held["c-1"], "d": held["d"]}
    shared = NamedAssignment("a", "g", held, client_ids={"c-1": "c", "b-2": "c"})
    with pytest.raises(BadInput, match=r"^a: 2 members have the client id c, so"):
        shared.by_client()


def test_two_groups_are_not_compared():
    one, other = (NamedAssignment(f"{g}.json", g, {}) for g in "xy")
    with pytest.raises(BadInput, match=r"y\.json: it is of group 'y', but x\.json is of 'x'"):
        Diff(one, other)
