"""Assignment: validity, loads, moves, and `balanced` as KIP-54 has it."""

import random
from itertools import combinations

import numpy as np
import pytest

from groups import Assignment, BadInput, Group, InvalidAssignment, Violation, values
from optimal import solve
from tests.optimal.random_groups import any_owner, random_group
from tests.optimal.small_groups import group_of


@pytest.fixture
def group() -> Group:
    reads = {"c0": ["t0"], "c1": ["t0", "t1"], "c2": ["t1"]}
    owned = {"c0": {"t0": [0, 1]}, "c1": {"t1": [0]}}
    return group_of({"t0": 2, "t1": 3, "t9": 2}, reads, owned)


GOOD = {"c0": {"t0": [0]}, "c1": {"t0": [1], "t1": [1]}, "c2": {"t1": [0, 2]}}


def any_assignment(rng: random.Random, group: Group) -> Assignment:
    """Return random holders; a partition may have no member, two, or one that does not read it."""
    held = [
        (rng.randrange(len(group.members)), topic, number)
        for topic, count in zip(group.topics, group.partitions.tolist(), strict=True)
        for number in range(count + 1)
        for _ in range(rng.choice((0, 1, 1, 1, 1, 2)))
        if group.members
    ]
    return Assignment.from_holdings(group, sorted(held))


def test_an_assignment_and_its_document_are_the_same_and_cannot_be_changed(group):
    assignment = Assignment.from_dict(group, GOOD)
    assert assignment.owner.tolist() == [0, 1, 2, 1, 2, -1, -1]
    assert assignment.to_dict() == GOOD
    assert assignment.is_valid
    assignment.require_valid()
    assert assignment.unassigned == {"t9": [0, 1]}
    assert assignment.loads.tolist() == [1, 2, 2]
    assert assignment.idle == ()
    assert repr(assignment) == "Assignment('g', 5 partitions)"
    for column in (assignment.owner, assignment.loads, *assignment.holdings):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1


@pytest.mark.parametrize(
    ("change", "violations"),
    [
        ({"c2": {"t1": [0]}}, [("unassigned", None, "t1", 2)]),
        ({"c0": {"t0": [0], "gone": [0]}}, [("no-such-partition", "c0", "gone", 0)]),
        (
            {"c2": {"t0": [1], "t1": [0, 2]}},
            [("double", "c2", "t0", 1), ("unsubscribed", "c2", "t0", 1)],
        ),
    ],
)
def test_every_reason_why_an_assignment_is_not_valid_is_listed(group, change, violations):
    assignment = Assignment.from_dict(group, GOOD | change)
    assert assignment.violations == tuple(Violation(*v) for v in violations)
    assert not assignment.is_valid
    kind, member, topic, number = violations[0]
    more = r" \(and 1 more\)" if len(violations) > 1 else "$"
    with pytest.raises(
        InvalidAssignment, match=f"{topic}-{number} with {member or 'nobody'}: {kind}{more}"
    ):
        assignment.require_valid()


def naive_violations(assignment: Assignment) -> list[tuple]:
    group, found = assignment.group, []
    reads = {
        m: {group.topics[t] for t in group.subscription(m).tolist()}
        for m in range(len(group.members))
    }
    counts = dict(zip(group.topics, group.partitions.tolist(), strict=True))
    holders: dict[tuple[str, int], list[int]] = {}
    for member, name in enumerate(group.members):
        for topic, numbers in assignment.to_dict()[name].items():
            for number in numbers:
                holders.setdefault((topic, number), []).append(member)
    for (topic, number), members in holders.items():
        if number >= counts.get(topic, 0):
            found += [("no-such-partition", group.members[m], topic, number) for m in members]
            continue
        found += [("double", group.members[m], topic, number) for m in members[1:]]
        found += [
            ("unsubscribed", group.members[m], topic, number)
            for m in members
            if topic not in reads[m]
        ]
    for topic, count in counts.items():
        if any(topic in mine for mine in reads.values()):
            found += [
                ("unassigned", None, topic, number)
                for number in range(count)
                if (topic, number) not in holders
            ]
    return sorted(found, key=str)


def test_the_violations_are_those_found_one_partition_at_a_time():
    rng = random.Random("violations")
    kinds = set()
    for _ in range(150):
        group = random_group(rng, members=4, partitions=8)
        assignment = any_assignment(rng, group)
        found = [(v.kind, v.member, v.topic, v.partition) for v in assignment.violations]
        assert sorted(found, key=str) == naive_violations(assignment)
        kinds |= {kind for kind, *_ in found}
    assert kinds == {"double", "unsubscribed", "unassigned", "no-such-partition"}


def test_what_is_held_now_is_the_claims_as_they_are_and_moves_nothing():
    rng = random.Random("current")
    for _ in range(100):
        group = random_group(rng, members=5, partitions=10)
        current = Assignment.current(group)
        assert values(current, ("stickiness", "moved_weight")) == (0, 0)
        said = {
            m: {t: h for t, h in body["owned"].items() if h}
            for m, body in group.to_dict()["members"].items()
        }
        assert {
            m: {t: sorted(h) for t, h in held.items()} for m, held in current.to_dict().items()
        } == said


def test_the_current_assignment_of_a_contested_group_names_the_double_claim(group):
    document = group.to_dict()
    document["members"]["c1"]["owned"] = {"t0": [1], "t1": [0, 9]}
    current = Assignment.current(Group.from_dict(document))
    assert [str(v) for v in current.violations] == [
        "t0-1 with c1: double",
        "t1-1 with nobody: unassigned",
        "t1-2 with nobody: unassigned",
        "t1-9 with c1: no-such-partition",
    ]
    assert current.loads.tolist() == [2, 2, 0]


def score(loads: list[int]) -> int:
    return sum(abs(a - b) for a, b in combinations(loads, 2))


def naive_balanced(assignment: Assignment) -> bool:
    """Whether no move of one partition to another reader improves the score (KIP-54)."""
    group, loads = assignment.group, assignment.loads.tolist()
    if max(loads, default=0) - min(loads, default=0) <= 1:
        return True
    for p, holder in enumerate(assignment.owner.tolist()):
        readers = group.subscribers(group.topic[p])
        for reader in readers.tolist() if holder >= 0 else []:
            after = list(loads)
            after[holder] -= 1
            after[reader] += 1
            if score(after) < score(loads):
                return False
    return True


def test_balanced_is_that_no_single_move_improves_the_score():
    rng = random.Random("balanced")
    answers = {True: 0, False: 0}
    for _ in range(400):
        group = random_group(rng, members=4, partitions=rng.randint(0, 8))
        assignment = Assignment(group, any_owner(rng, group))
        assert assignment.balanced() is naive_balanced(assignment)
        answers[assignment.balanced()] += 1
    assert min(answers.values()) > 50


def test_balanced_as_kip_54_has_it_may_leave_a_spread_of_all_members_but_one():
    """A chain whose every link is level within one, held by the upper end of each link."""
    members = 8
    topics = {f"t{i}": i + 1 for i in range(members - 1)}
    reads = {f"c{m}": [t for t in (f"t{m - 1}", f"t{m}") if t in topics] for m in range(members)}
    steep = Assignment.from_dict(
        group_of(topics, reads), {f"c{i + 1}": {f"t{i}": list(range(i + 1))} for i in range(7)}
    )
    assert steep.loads.tolist() == list(range(members))
    assert steep.is_valid
    assert steep.balanced()
    best = solve(steep.group)
    assert sorted(best.assignment.loads.tolist()) == [1, 2, 3, 4, 4, 4, 5, 5]


@pytest.mark.parametrize(
    ("document", "error", "message"),
    [
        ({"c9": {}}, InvalidAssignment, "assignment: 'c9' is not a member of the group"),
        ([], BadInput, r"assignment: \[\], expected an object"),
        ({"c0": [0]}, BadInput, r"assignment\.c0: \[0\], expected an object"),
        ({"c0": {"t0": 0}}, BadInput, r"assignment\.c0\.t0: 0, expected a list"),
        ({"c0": {"t0": [0, 0.5]}}, BadInput, r"assignment\.c0\.t0\[1\]: 0\.5, expected an int"),
        ({"c0": {"t0": [True]}}, BadInput, r"assignment\.c0\.t0\[0\]: true, expected an integer"),
        ({"c0": {"t0": [-1]}}, BadInput, r"assignment\.c0\.t0\[0\]: -1, expected an integer of 0"),
    ],
)
def test_an_assignment_of_another_shape_is_refused_with_its_place(group, document, error, message):
    with pytest.raises(error, match=message):
        Assignment.from_dict(group, document)


def test_a_column_of_another_length_or_with_strangers_is_refused(group):
    for shape, said in ((2, 2), ((7, 2), 14)):
        with pytest.raises(InvalidAssignment, match=f"owner: {said} partitions, but the group"):
            Assignment(group, np.zeros(shape, np.int32))
    with pytest.raises(InvalidAssignment, match="owner: expected an array of integers"):
        Assignment(group, np.zeros(7))
    for stranger in (3, -2):
        with pytest.raises(InvalidAssignment, match="owner: an index outside the group's 3 memb"):
            Assignment(group, np.full(7, stranger, np.int32))
