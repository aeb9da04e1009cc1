"""Captures of a real Kafka 4.3.1, played back: what its brokers were asked, and what they said."""

import re
from pathlib import Path

import pytest
from kafka.protocol.consumer import OffsetCommitRequest
from kafka.protocol.metadata import MetadataRequest

from compare.judged import judge
from groups import Group
from live.capture.messages import QUESTIONS, CommittedGroup
from tests.live.capture.replayed import REAL, Replayed, captured


def member(document, **details):
    (found,) = (m for m in document["members"].values() if details.items() <= m.items())
    return found


@pytest.fixture(scope="module")
def everything():
    return captured()


@pytest.fixture(scope="module")
def groups(everything):
    return everything[0]


def test_the_recorded_answers_make_the_documents_that_they_made(groups):
    made = [{**one, "captured_at": None} for one in groups.values()]
    assert made == [{**one, "captured_at": None} for one in REAL["documents"]]
    assert list(groups) == [
        "badmeta", "classic", "coop", "kip", "kipre", "kpy", "lagging", "left", "mixed",
        "odd name 'q' \u2603", "shifting", "shop", "simple", "strm",
    ]  # fmt: skip


def test_subscriptions_are_known_wherever_metadata_can_be_read(groups):
    known = {name: Group.from_dict(found).subscription_known for name, found in groups.items()}
    assert not known.pop("badmeta").any()
    assert all(found.all() for found in known.values())
    (found,) = groups["badmeta"]["members"].values()
    assert (found["subscription"], found["owned"]) == (None, {"t0": [2]})
    assert "the metadata of 1 member cannot be read" in groups["badmeta"]["assumed"][0]


def test_no_verdict_depends_on_who_reads_what(groups):
    asked = [Group.from_dict(found) for name, found in groups.items() if name != "badmeta"]
    says = {one.group.name: one.verdict.says for one in judge(asked)}
    improvable = {"classic", "shifting"}
    # One has members no more, and one is of a consumer that calls assign(), but not now.
    assert says.pop("left") == says.pop("simple") == "nobody reads"
    assert says.pop("strm") == "nothing assigned yet"
    assert {name for name, said in says.items() if said == "improvable"} == improvable
    assert {said for name, said in says.items() if name not in improvable} == {"as good as can be"}


def test_members_of_a_kip_848_group_have_an_epoch_and_a_target_classic_ones_among_them(groups):
    found = member(groups["kip"], client_id="k2")
    assert found["subscription"] == ["nothere", "t0"]
    assert found["owned"] == found["target"] == {"t0": [0, 1, 2, 3, 4]}
    assert (found["epoch"], found["assignors"], found["instance_id"]) == (3, ["uniform"], "i-k")
    # A topic that is not there is read, and has no partitions.
    assert "nothere" not in groups["kip"]["topics"]
    found = member(groups["mixed"], client_id="cl")
    assert found["subscription"] == ["t0", "t2"]
    assert found["owned"] == found["target"]
    assert found["owned"]["t2"] == [0, 1, 2, 3]


def test_a_pattern_is_matched_against_the_topics_that_are_there(groups):
    (found,) = groups["kipre"]["members"].values()
    assert found["subscription"] == ["t0", "t1", "t2"]
    assert found["subscription_regex"] == "(^t[0-9])"
    assert "matched here" in groups["kipre"]["assumed"][0]


def test_a_commit_outside_its_log_is_kept_and_said(groups):
    found = groups["lagging"]
    assert found["topics"]["t1"]["offsets"][0] == {"beginning": 6, "end": 10, "committed": 3}
    assert found["topics"]["t2"]["offsets"][0] == {"beginning": 0, "end": 0, "committed": 50}
    assert found["assumed"] == [
        "lag: counted from the commit, though the log begins later: t1-0",
        "lag: 0 where the commit is beyond the end of the log: t2-0",
    ]
    # t0-0: 17 - 5; t1-0: 10 - 3; t2-0 counts as 0, and without a commit nothing is behind.
    assert Group.from_dict(found).lag_records.sum() == 12 + 7


def test_members_that_have_not_reached_their_target_have_both(groups):
    found = groups["shifting"]
    slow, new = member(found, client_id="slow"), member(found, client_id="new")
    assert slow["owned"] == {"t0": [0, 1, 2, 3, 4, 5]}
    assert slow["target"] == {"t0": [0, 1, 2]}
    assert (new["owned"], new["target"]) == ({}, {"t0": [3, 4, 5]})
    assert (slow["epoch"], new["epoch"]) == (2, 3)
    assert found["assumed"] == ["owned: what members hold now, 2 of 2 on the way to their target"]


REASONS = {
    "badass": "the assignment of member '(kafka-python-[^']*)' cannot be read",
    "conn": "is a Kafka Connect group: Connect assigns tasks, not partitions",
    "negass": r"what the broker tells makes no group: .* -2, expected an integer of 0 or more",
    "rebalancing": "is rebalancing: capture it again once its state is Stable",
    "reg": "is no group of consumers: its members speak 'sr'",
    "sharing": "is a share group: several members share a partition, not judged",
}


@pytest.mark.parametrize("group", REASONS)
def test_a_group_that_cannot_be_captured_says_why(everything, group):
    (found,) = (one for one in everything[1].failures if one.group == group)
    assert re.fullmatch(f"group '{group}':? {REASONS[group]}", found.reason)
    assert found.not_to_be_had == (group not in ("badass", "negass"))


def test_every_group_of_the_cluster_is_a_document_or_a_failure(everything):
    groups, found, _ = everything
    failed = [one.group for one in found.failures]
    listed = next(e for e in REAL["exchanges"] if e["question"] == "ListGroupsRequest")
    everyone = [group.group_id for group in Replayed.decoded(listed).groups]
    assert sorted([*groups, *failed]) == sorted(everyone)
    assert failed == sorted(failed)


def test_the_number_of_requests_does_not_grow_with_the_groups(everything):
    cluster = everything[2]
    assert cluster.exact
    assert len(cluster.asked) == 14


@pytest.mark.parametrize(("group", "every"), [("kip", False), ("kipre", True)])
def test_all_topics_are_asked_for_only_where_a_member_reads_by_a_pattern(group, every):
    asked = []
    captured(lambda question, _: asked.append(getattr(question, "topics", ())), patterns=[group])
    assert (None in asked) is every


def test_without_lag_groups_are_described_once_and_have_no_offsets():
    groups, _, cluster = captured(lag=False)
    assert groups["classic"]["topics"]["t1"] == {"partitions": 3, "racks": [["r1"]] * 3}
    assert cluster.asked == [
        "MetadataRequest", "ListGroupsRequest", "DescribeGroupsRequest",
        "ConsumerGroupDescribeRequest", "StreamsGroupDescribeRequest", "MetadataRequest",
        "MetadataRequest", "DescribeConfigsRequest",
    ]  # fmt: skip


def test_the_page_on_captures_has_every_question():
    page = (Path(__file__).parents[3] / "docs/reference/captures.md").read_text("utf-8")
    named = re.findall(r"^\| (\w+)", page.partition("| request |")[2].partition("\n\n")[0], re.M)
    assert sorted(f"{one}Request" for one in named) == sorted(one.__name__ for one in QUESTIONS)


def test_only_questions_are_sent(everything):
    """And none of them makes a topic."""
    assert set(everything[2].asked) <= {question.__name__ for question in QUESTIONS}
    with pytest.raises(TypeError, match="only questions are asked"):
        Replayed([]).ask({1: [OffsetCommitRequest()]}, CommittedGroup)
    for exchange in REAL["exchanges"]:
        if exchange["question"] == "MetadataRequest":
            asked = bytes.fromhex(exchange["asked"])
            asked = MetadataRequest.decode(asked, version=exchange["version"])
            assert asked.allow_auto_topic_creation is False
