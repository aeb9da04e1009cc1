import pytest

from groups import BadInput, Group
from heuristics import ASSIGNORS, assign, plan


def test_assignors_are_listed_under_their_own_names_with_source_and_version():
    assert list(ASSIGNORS) == [assignor.name for assignor in ASSIGNORS.values()]
    for name, assignor in ASSIGNORS.items():
        assert assignor.kind == "written"
        assert assignor.source
        assert (assignor.version or name).lower() in (name, "-".join(name.split("-")[:2]))


def test_an_unknown_name_is_bad_input_that_lists_the_known_ones(group_of):
    with pytest.raises(
        BadInput, match=r"^assignor: unknown name 'sticky', expected one of range,"
    ):
        assign(group_of({"t": 1}, {"a": ["t"]}), "sticky")


@pytest.mark.parametrize("name", ASSIGNORS)
def test_an_unknown_subscription_is_bad_input_until_it_is_assumed(name):
    members = {"a": {"subscription": None}}
    document = {"format": "assay-group/1", "group": "g", "members": members}
    group = Group.from_dict(document | {"topics": {"t": {"partitions": 1, "lag": [0]}}})
    with pytest.raises(BadInput, match=r"members\.a\.subscription: unknown; pass --assume-equal"):
        plan(group, name)
    assert assign(group.with_equal_subscriptions(), name).to_dict() == {"a": {"t": [0]}}


@pytest.mark.parametrize("name", ASSIGNORS)
@pytest.mark.parametrize(
    ("topics", "subscriptions"),
    [({}, {}), ({"t": 0}, {"a": ["t"]}), ({"t": 2}, {}), ({}, {"a": ["gone"]}), ({}, {"a": []})],
)
def test_groups_without_members_topics_or_partitions_are_assigned(
    group_of, name, topics, subscriptions
):
    made = plan(group_of(topics, subscriptions), name)
    assert made.assignment.is_valid
    assert made.assignment.loads.sum() == 0
    assert (made.rounds, made.revoked, made.ownerless) == (1, 0, 0)
