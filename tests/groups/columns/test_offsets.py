from __future__ import annotations

import json
from dataclasses import replace

import pytest

from groups import BadInput, Group
from tests.optimal.small_groups import document

UNCOMMITTED = {"beginning": 10, "end": 100, "committed": None}


def group_of(*offsets: dict, **more: object) -> Group:
    topic = {"partitions": len(offsets), "offsets": list(offsets)}
    return Group.from_dict(document({"t": topic}, {}, **more))


def behind(group: Group) -> list[int]:
    assert group.lag_records is not None
    return group.lag_records.tolist()


def test_what_is_assumed_of_partitions_without_a_commit_is_one_line_with_their_number():
    committed = {"beginning": 0, "end": 5, "committed": 5}
    one, two = group_of(UNCOMMITTED, committed), group_of(UNCOMMITTED, committed, {})
    assert one.assumed == ("auto.offset.reset: latest, so 1 partition without a commit has lag 0",)
    assert two.assumed == (
        "auto.offset.reset: latest, so 2 partitions without a commit have lag 0",
    )
    assert (behind(one), behind(two)) == ([0, 0], [0, 0, 0])
    assert group_of(committed).assumed == ()
    lag = {"partitions": 1, "lag": [None]}
    assert Group.from_dict(document({"t": lag, "u": 3}, {})).assumed == ()


def test_partitions_that_no_member_reads_do_not_count_as_without_a_commit():
    """Console and JSON told of partitions whose lag no number counts, beside a count of 0."""
    topics = {"old": {"partitions": 2, "offsets": [UNCOMMITTED, {}]}, "t": 1}
    for members, count in (
        ({"a": {"subscription": ["t"]}}, 0),
        ({"a": {"subscription": None}}, 2),
        ({"a": {"subscription": ["t"]}, "b": {"subscription": ["old"]}}, 2),
        ({}, 2),
    ):
        group = Group.from_dict(document(topics, members))
        line = f"auto.offset.reset: latest, so {count} partitions without a commit have lag 0"
        assert group.assumed == ((line,) if count else ())
    empty = group_of({"beginning": 7, "end": 7, "committed": None})
    assert empty.assumed == ()


# Where nobody knows where a consumer starts, its lag is unknown.
@pytest.mark.parametrize(
    ("reset", "lag"), [("latest", 0), ("earliest", 90), ("none", -1), ("by_duration:P3DT6H", -1)]
)
def test_where_the_reset_is_said_nothing_is_assumed(reset, lag):
    for group in (
        group_of(UNCOMMITTED, auto_offset_reset=reset),
        group_of(UNCOMMITTED).with_reset(reset),
        group_of(UNCOMMITTED, assumed=list(group_of(UNCOMMITTED).assumed)).with_reset(reset),
    ):
        assert (behind(group), group.assumed, group.auto_offset_reset) == ([lag], (), reset)
        # Then it is not told another.
        assert group.with_reset("latest") is group.with_reset(None) is group


@pytest.mark.parametrize("reset", ["Latest", "boo", "", "latest\n", "by_duration:"])
def test_a_reset_that_kafka_does_not_know_is_refused_wherever_it_is_given(reset):
    group = group_of(UNCOMMITTED)
    for give in (
        lambda: group.with_reset(reset),
        lambda: replace(group, auto_offset_reset=reset),
        lambda: group_of(UNCOMMITTED, auto_offset_reset=reset),
        lambda: Group.from_json(json.dumps(group.to_dict() | {"auto_offset_reset": reset})),
    ):
        with pytest.raises(BadInput, match=r"^auto_offset_reset: '.*', expected latest, earliest"):
            give()


def test_the_line_is_made_anew_whenever_a_snapshot_is_read():
    made = group_of(UNCOMMITTED, UNCOMMITTED, assumed=["first"]).to_dict()
    assert Group.from_dict(made).to_dict() == made
    offsets = made["topics"]["t"]["offsets"]
    offsets[0] = {"beginning": 0, "end": 3, "committed": 1}
    assert Group.from_dict(made).assumed == (
        "first",
        "auto.offset.reset: latest, so 1 partition without a commit has lag 0",
    )
    offsets[1] = offsets[0]
    assert Group.from_dict(made).assumed == ("first",)


def test_topics_whose_lag_is_given_keep_it_under_any_reset():
    topics = {
        "a": {"partitions": 1, "lag": [7]},
        "b": {"partitions": 1, "offsets": [UNCOMMITTED]},
        "c": 1,
    }
    group = Group.from_dict(document(topics, {}))
    assert behind(group) == [7, 0, -1]
    assert behind(group.with_reset("earliest")) == [7, 90, -1]
