"""Captures of a real Kafka 4.3.1, played back: what its brokers were asked, and what they said."""

import time

import pytest

from groups import Group
from live.capture.matching import capture_matching
from tests.live.capture.replayed import Replayed, recorded

REAL = recorded("kafka-4.3.1.json")
SOURCE = "kafka:9092"


def captured(*changes, patterns=("*",), lag=True, patience=0.0):
    cluster = Replayed(REAL["exchanges"], *changes)
    found = capture_matching(
        cluster, SOURCE, patterns, lag=lag, deadline=time.monotonic() + patience
    )
    return {one.document["group"]: one.document for one in found.documents}, found, cluster


def member(document, **details):
    (found,) = (m for m in document["members"].values() if details.items() <= m.items())
    return found


@pytest.fixture(scope="module")
def groups():
    return captured()[0]


def test_the_recorded_answers_make_the_documents_that_they_made(groups):
    made = [{**one, "captured_at": None} for one in groups.values()]
    assert made == [{**one, "captured_at": None} for one in REAL["documents"]]
    assert list(groups) == ["classic", "coop", "kip", "kipre", "kpy", "mixed"]


def test_every_document_is_a_group_of_which_all_subscriptions_are_known(groups):
    for document in groups.values():
        assert Group.from_dict(document).subscription_known.all()


def test_a_classic_member_has_its_subscription_its_assignment_and_what_it_is_called(groups):
    assert member(groups["classic"], client_id="b") == {
        "subscription": ["t0"],
        "owned": {"t0": [3, 4, 5]},
        "rack": "r1",
        "instance_id": "i-b",
        "client_id": "b",
        "host": "/127.0.0.1",
        "assignors": ["range"],
    }


def test_a_member_of_a_kip_848_group_has_its_epoch_and_its_target(groups):
    found = member(groups["kip"], client_id="k2")
    assert found["subscription"] == ["nothere", "t0"]
    assert found["owned"] == found["target"] == {"t0": [2, 3, 4, 5]}
    assert (found["epoch"], found["assignors"], found["instance_id"]) == (3, ["uniform"], "i-k")


def test_a_topic_that_is_not_there_is_read_and_has_no_partitions(groups):
    assert "nothere" not in groups["kip"]["topics"]


def test_a_classic_member_of_a_kip_848_group_is_a_member_like_any_other(groups):
    found = member(groups["mixed"], client_id="cl")
    assert found["subscription"] == ["t0", "t2"]
    assert found["owned"] == {"t0": [4, 5], "t2": [0, 1, 2, 3]}


def test_a_pattern_is_matched_against_the_topics_that_are_there(groups):
    (found,) = groups["kipre"]["members"].values()
    assert found["subscription"] == ["t0", "t1", "t2"]
    assert found["subscription_regex"] == "(^t[0-9])"
    assert "matched here" in groups["kipre"]["assumed"][0]


def test_no_member_has_a_generation_as_that_of_an_assignment_is_not_told(groups):
    assert all("generation" not in m for d in groups.values() for m in d["members"].values())


def test_a_partition_has_its_offsets_and_the_racks_of_its_replicas(groups):
    t1 = groups["classic"]["topics"]["t1"]
    assert t1["partitions"] == 3
    assert t1["racks"] == [["r1"]] * 3
    assert t1["offsets"][:2] == [
        {"beginning": 0, "end": 10, "committed": 10},
        {"beginning": 0, "end": 0, "committed": None},
    ]


def test_offsets_without_members_are_no_group_of_consumers():
    (failure,) = captured()[1].failures
    assert (failure.group, failure.not_to_be_had) == ("simple", True)
    assert failure.reason == (
        "group 'simple' has no members: it only keeps the offsets that somebody has committed"
    )


def test_the_number_of_requests_does_not_grow_with_the_groups():
    cluster = captured()[2]
    assert cluster.sent == len(cluster.asked) == 10
    assert cluster.asked[0] == cluster.asked[5] == "MetadataRequest"
