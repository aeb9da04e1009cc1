"""A group after a change is the one whose document says so, with what its members hold now."""

import pytest

from assay import BadInput, Group, solve, what_if
from tests.optimal.small_groups import document, streams

DOCUMENT = document(
    {"t": {"partitions": 2, "lag": [5, 7], "racks": [["r"], ["s"]]}, "u": 1},
    {
        "a": {"subscription": ["t"], "owned": {"t": [0, 1]}, "rack": "r", "generation": 4},
        "b": {"subscription": ["t", "u"], "owned": {"t": [1], "u": [0]}, "generation": 4},
    },
)


def test_members_that_join_and_topics_that_are_read_besides_leave_all_claims_as_they_are():
    found = what_if(Group.from_dict(DOCUMENT), members=3, like="a", reads={"a": ["u"]}).to_dict()
    members = {m: dict(said) for m, said in DOCUMENT["members"].items()}
    members["a"]["subscription"] = ["t", "u"]
    members["new-1"] = {"subscription": ["t", "u"]}
    assert found == Group.from_dict(DOCUMENT | {"members": members}).to_dict()


def test_partitions_that_are_added_are_empty_and_belong_to_nobody():
    members = {"a": DOCUMENT["members"]["a"], "b": {"subscription": ["t", "u"]}}
    group = Group.from_dict(DOCUMENT | {"members": members})
    grown = what_if(group, partitions={"t": 4})
    topic = {"partitions": 4, "lag": [5, 7, 0, 0], "racks": [["r"], ["s"], ["r"], ["s"]]}
    made = DOCUMENT | {"members": members, "topics": {"t": topic, "u": 1}}
    assert grown.to_dict() == Group.from_dict(made).to_dict()


def test_those_that_hold_least_leave():
    members = {m: said | {"subscription": ["t", "u"]} for m, said in DOCUMENT["members"].items()}
    members["c"] = {"subscription": ["t", "u"]}
    group = Group.from_dict(DOCUMENT | {"members": members})
    assert what_if(group, members=2).members == ("a", "b")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"members": 0}, "members: 0, expected a whole number of 1 or more"),
        ({"members": 1}, "members: 1, but which of the 2 would leave matters"),
        ({"members": 3, "like": "c"}, "like: no member 'c', expected one of a, b"),
        ({"reads": {"a": ["v"]}}, "reads.a: no topic 'v'; there is t, u"),
        ({"reads": {"a": "u"}}, "reads: dict, expected a mapping as in"),
        ({"reads": {"c": ["u"]}}, "reads: no member 'c', expected one of a, b"),
        ({"partitions": {"t": 1}}, "partitions.t: 1, but it has 2 already"),
        ({"partitions": {"t": 2.5}}, "partitions.t: 2.5, expected a whole number of 0 or more"),
        ({"partitions": {"t": 10**12}}, "topics: 1000000000001 partitions, more than the "),
    ],
)
def test_what_cannot_be_is_one_line(change, message):
    with pytest.raises(BadInput, match=message):
        what_if(Group.from_dict(DOCUMENT), **change)


def test_where_copies_of_state_lie_is_not_known_of_members_and_tasks_that_are_new():
    group = streams({"0": (3, True)}, {"a": ("A", {"0": [0, 1, 2]}, {})})
    for changed in (what_if(group, members=3), what_if(group, partitions={"0": 4})):
        assert solve(changed, "balance").terms[0].value == 0
        with pytest.raises(BadInput, match="which partitions keep state is unknown"):
            solve(changed, "restores")
