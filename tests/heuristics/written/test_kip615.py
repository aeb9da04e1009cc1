"""KIP-615's promises: numbers differ by at most one, and nothing changes when nothing changed."""

from itertools import chain, combinations, product

import pytest

from compare.samples.enumerated import Small, ownership_counts
from groups import Assignment, Group, Refused, values
from heuristics import assign
from heuristics.written.kip615 import Capacities, owned_partitions
from tests.optimal.small_groups import group_of


def owning(partitions: int, counts: tuple[int, ...]) -> Group:
    owner = [member for member, count in enumerate(counts) for _ in range(count)]
    owner += [-1] * (partitions - len(owner))
    return Small((partitions,), ((0,),) * len(counts), tuple(owner)).group()


def again(group: Group, assignment: Assignment) -> Group:
    return group.with_claims(*assignment.holdings, generation=2)


def spread(assignment: Assignment) -> int:
    return int(assignment.loads.max() - assignment.loads.min())


@pytest.mark.exhaustive
def test_as_written_the_smallest_group_that_breaks_the_promise_is_one_ordinary_join():
    broken = [
        (members, partitions, counts)
        for members in range(1, 6)
        for partitions in range(10)
        for counts in ownership_counts(members, partitions)
        if spread(assign(owning(partitions, counts), "kip-615-constrained")) > 1
    ]
    assert broken == [(4, 9, c) for c in ((0, 3, 3, 3), (3, 0, 3, 3), (3, 3, 0, 3), (3, 3, 3, 0))]


@pytest.mark.exhaustive
def test_amended_every_group_is_within_one_and_moves_no_more_than_it_must():
    for members in range(1, 6):
        for partitions in range(13 if members < 5 else 9):
            quota, extra = divmod(partitions, members)
            for counts in ownership_counts(members, partitions):
                assignment = assign(owning(partitions, counts), "kip-615-amended")
                assert assignment.is_valid
                assert spread(assignment) <= 1
                most_first = sorted(counts, reverse=True)
                kept = sum(min(own, quota + (i < extra)) for i, own in enumerate(most_first))
                assert values(assignment, ("stickiness",)) == (sum(counts) - kept,)


def test_amended_nothing_changes_when_nothing_changed():
    for counts in ownership_counts(4, 9):
        group = owning(9, counts)
        first = assign(group, "kip-615-amended")
        second = assign(again(group, first), "kip-615-amended")
        assert second.owner.tolist() == first.owner.tolist()


def test_amended_and_written_agree_wherever_the_promise_holds():
    kept = 0
    for counts in ownership_counts(4, 9):
        written = assign(owning(9, counts), "kip-615-constrained")
        if spread(written) <= 1:
            amended = assign(owning(9, counts), "kip-615-amended")
            assert amended.owner.tolist() == written.owner.tolist()
            kept += 1
    assert kept == 711


def test_as_written_a_member_can_end_above_the_ceiling_where_claims_overlap():
    owned = {"a": {"t": [0]}, "b": {"t": [0]}, "c": {"t": [1]}}
    group = group_of({"t": 3}, {member: ["t"] for member in owned}, owned, generation=5)
    assert Capacities.of(group) == Capacities(1, 1)
    assert assign(group, "kip-615-constrained").to_dict() == {
        "a": {"t": [0, 2]},
        "b": {"t": [0]},
        "c": {"t": [1]},
    }
    assert assign(group, "kip-615-amended").loads.tolist() == [1, 1, 1]


def test_the_first_amendment_keeps_the_promise_and_the_second_makes_the_plans_valid():
    """All claims of one generation that up to three members make on up to three partitions."""
    within, valid, above, overlapping = 0, 0, 0, 0
    for members, partitions in product(range(1, 4), repeat=2):
        some = chain.from_iterable(
            combinations(range(partitions), size) for size in range(partitions + 1)
        )
        for claims in product(list(some), repeat=members):
            owned = {f"m{i}": {"t": list(mine)} for i, mine in enumerate(claims)}
            group = group_of(
                {"t": partitions}, {member: ["t"] for member in owned}, owned, generation=1
            )
            alone = Capacities.of(group).assign(group, owned_partitions(group), one_each=False)
            sizes = [len(held["t"]) if held else 0 for held in alone.to_dict().values()]
            within += max(sizes) - min(sizes) <= 1
            if len(set(chain(*claims))) < sum(map(len, claims)):
                overlapping += 1
                valid += alone.is_valid
                above += max(sizes) > Capacities.of(group).ceiling
            else:
                assert alone.is_valid
            both = assign(group, "kip-615-amended")
            assert both.is_valid
            assert spread(both) <= 1
    assert (within, overlapping, valid, above) == (682, 545, 100, 298)


def test_as_written_overlapping_claims_can_leave_a_partition_with_nobody():
    owned = {"a": {"t": [0, 1, 2]}, "b": {"t": [0, 1, 2]}}
    group = group_of({"t": 6}, {"a": ["t"], "b": ["t"]}, owned, generation=5)
    written = assign(group, "kip-615-constrained")
    assert [v.kind for v in written.violations] == ["double"] * 3 + ["unassigned"]
    amended = assign(group, "kip-615-amended")
    assert amended.is_valid
    assert amended.loads.tolist() == [3, 3]


def test_an_old_generation_loses_all():
    owned = {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}
    group = group_of({"t": 4}, {"a": ["t"], "b": ["t"]}, owned, generation={"a": 4, "b": 5})
    assert assign(group, "kip-615-constrained").to_dict() == {
        "a": {"t": [0, 1]},
        "b": {"t": [2, 3]},
    }
    group = group_of(
        {"t": 4}, {"a": ["t"], "b": ["t"], "c": ["t"]}, owned, generation={"a": 4, "b": 4, "c": 5}
    )
    assert assign(group, "kip-615-constrained").to_dict() == {
        "a": {"t": [0, 3]},
        "b": {"t": [1]},
        "c": {"t": [2]},
    }


def test_unassigned_partitions_go_by_number_before_topic():
    topics = {"t0": 2, "t1": 2, "t2": 1}
    assignment = assign(group_of(topics, {"a": topics, "b": topics}), "kip-615-constrained")
    assert assignment.to_dict() == {
        "a": {"t0": [0], "t1": [0, 1]},
        "b": {"t0": [1], "t2": [0]},
    }


def test_claims_on_what_does_not_exist_fall_away():
    owned = {"a": {"gone": [0], "t": [5]}, "b": {"t": [0]}}
    group = group_of({"t": 2}, {"a": ["gone", "t"], "b": ["t"]}, owned)
    assert assign(group, "kip-615-constrained").to_dict() == {"a": {"t": [1]}, "b": {"t": [0]}}


@pytest.mark.parametrize("name", ["kip-615-constrained", "kip-615-amended"])
def test_differing_subscriptions_are_refused(name):
    group = group_of({"t": 1, "u": 1}, {"a": ["t", "u"], "b": ["u", "t"], "c": ["t"]})
    with pytest.raises(Refused, match=r"^subscriptions differ: a and c do not read"):
        assign(group, name)
