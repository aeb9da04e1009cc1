"""What stands in the way of one group, or of one broker, and never of the others."""

import re
from itertools import count

import pytest
from kafka.errors import (
    IncompatibleBrokerVersion,
    KafkaConnectionError,
    KafkaError,
    NodeNotReadyError,
    RequestTimedOutError,
    SaslAuthenticationFailedError,
)

from compare.judged import judge
from compare.sentences import sentence
from groups import Group
from live.capture.cluster import Unanswered
from tests.live.capture.replayed import captured

LOADING, AWAY, MOVED, FORBIDDEN, GONE = 14, 15, 16, 30, 69
NO_LEADER, TOPIC_FORBIDDEN, NOT_LEADER = 5, 29, 6


def only(question_name, then, *, times=None):
    """Return a function that changes the answers to one kind of request, the first `times`."""
    seen = []

    def change(question, answer):
        if type(question).__name__ != question_name or (times is not None and len(seen) >= times):
            return None
        seen.append(question)
        return then(question, answer)

    return change


def setting(pick, **values):
    """Return a function that sets attributes of the parts of an answer that `pick` returns."""

    def then(_, answer):
        for part in pick(answer):
            for key, value in values.items():
                setattr(part, key, value)

    return then


def whole(answer):
    return [answer]


def first_group(answer):
    return answer.groups[:1]


def first_member(answer):
    return answer.groups[0].members[:1]


def topic(name):
    return lambda answer: [one for one in answer.topics if one.name == name]


def group_error(group, code):
    def then(_, answer):
        for one in answer.groups:
            if one.group_id == group:
                one.error_code = code
                if hasattr(one, "members"):
                    one.members = []

    return then


CLOSED = KafkaConnectionError("closed")


def reasons(found):
    return {failure.group: failure.reason for failure in found.failures}


@pytest.mark.parametrize(
    ("group", "question"),
    [
        ("classic", "DescribeGroupsRequest"),
        ("kip", "ConsumerGroupDescribeRequest"),
        ("shop", "StreamsGroupDescribeRequest"),
    ],
)
@pytest.mark.parametrize(
    ("code", "reason", "not_to_be_had"),
    [
        (FORBIDDEN, "may not be described: allow Describe on it", False),
        (GONE, "does not exist", True),
        (24, "does not exist", True),
        (35, "the broker answers with error 35 (UNSUPPORTED_VERSION)", False),
        (12345, "the broker answers with error 12345", False),
        (LOADING, "its coordinator is still loading: capture it again", False),
        (AWAY, "its coordinator is not available: capture it again", False),
        (MOVED, "its coordinator has moved: capture it again", False),
        (
            TOPIC_FORBIDDEN,
            "a topic that it reads may not be described: allow Describe on its topics",
            False,
        ),
    ],
)
def test_an_error_of_one_group_is_its_failure_alone(group, question, code, reason, not_to_be_had):
    groups, found, _ = captured(only(question, group_error(group, code)))
    (failure,) = (one for one in found.failures if one.group == group)
    assert re.fullmatch(f"group {group!r}:? {re.escape(reason)}", failure.reason)
    assert failure.not_to_be_had == not_to_be_had
    assert group not in groups
    assert {"classic", "kip", "shop"} - {group} <= groups.keys()


def rebalancing(_, answer):
    (group,) = answer.groups
    group.group_state = "PreparingRebalance"
    for member in group.members:
        member.member_metadata = member.member_assignment = b""


def reconciling(_, answer):
    answer.groups[0].members[0].assignment.topic_partitions = []
    answer.groups[0].group_state = "Reconciling"


def without_assignment(_, answer):
    """Clear member b's assignment, as between two cooperative rebalances: it had half of t0."""
    for member in answer.groups[0].members:
        if member.client_id == "b":
            member.member_assignment = b""


def one_less(_, answer):
    answer.groups[0].members.pop()


def led_elsewhere(_, answer):
    for topic in answer.topics:
        for one in topic.partitions:
            one.error_code, one.offset = NOT_LEADER, -1


LEADERLESS = setting(topic("t1"), error_code=NO_LEADER, partitions=[])
LIST, DESCRIBE, OFFSETS = "ListGroupsRequest", "DescribeGroupsRequest", "OffsetFetchRequest"
KIP, ENDS, TOPICS = "ConsumerGroupDescribeRequest", "ListOffsetsRequest", "MetadataRequest"
OF_TASKS = "StreamsGroupDescribeRequest"


@pytest.mark.parametrize(
    ("group", "question", "then", "times", "counted", "asked"),
    [
        ("classic", DESCRIBE, group_error("classic", LOADING), 1, LIST, 2),
        ("classic", DESCRIBE, group_error("classic", AWAY), 1, LIST, 2),
        ("classic", DESCRIBE, group_error("classic", MOVED), 1, LIST, 2),
        ("kpy", LIST, setting(whole, error_code=LOADING, groups=[]), 1, LIST, 2),
        ("classic", OFFSETS, group_error("classic", LOADING), 1, OFFSETS, 2),
        ("classic", DESCRIBE, rebalancing, 1, DESCRIBE, 3),
        ("kip", KIP, reconciling, 1, OFFSETS, 1),
        ("shop", OF_TASKS, setting(first_group, group_state="Reconciling"), 1, OFFSETS, 1),
        ("shop", OF_TASKS, setting(first_group, group_epoch=99), 1, OFFSETS, 2),
        ("classic", DESCRIBE, without_assignment, 2, DESCRIBE, 4),
        ("classic", DESCRIBE, one_less, 1, OFFSETS, 2),
        ("kpy", ENDS, led_elsewhere, 2, ENDS, 4),
        ("classic", TOPICS, LEADERLESS, 2, TOPICS, 4),
    ],
)
def test_what_passes_is_waited_for_and_the_group_is_then_as_without_it(
    group, question, then, times, counted, asked
):
    groups, found, cluster = captured(
        only(question, then, times=times), patterns=[group], patience=5
    )
    assert not found.failures
    without = captured(patterns=[group])[0][group]
    assert groups[group] == without | {"captured_at": groups[group]["captured_at"]}
    assert cluster.asked.count(counted) == asked


def test_a_group_that_is_gone_when_it_is_asked_again_does_not_exist():
    listed = []

    def later(question, answer):
        if type(question).__name__ == "ListGroupsRequest":
            listed.append(question)
            if len(listed) > 1:
                answer.groups = [one for one in answer.groups if one.group_id != "classic"]

    loading = only("DescribeGroupsRequest", group_error("classic", LOADING))
    _, found, _ = captured(loading, later, patterns=["classic"], patience=5)
    assert reasons(found) == {"classic": "group 'classic' does not exist"}


def test_a_static_member_that_is_away_for_a_moment_keeps_its_partitions():
    """The broker gives it epoch -2; there was no capture of a group while a member restarted."""

    def static(answer):
        return [one for one in answer.groups[0].members if one.instance_id]

    away = only("ConsumerGroupDescribeRequest", setting(static, member_epoch=-2))
    groups, found, _ = captured(away, patterns=["kip"])
    assert found.failures == ()
    assert [one["owned"] for one in groups["kip"]["members"].values() if "epoch" not in one] == [
        {"t0": [0, 1, 2, 3, 4]}
    ]
    (line,) = groups["kip"]["assumed"]
    assert line.startswith("owned: 1 static member away for a moment, with the partitions kept ")


EPOCHS = count()


def epoch_goes_on(_, answer):
    answer.groups[0].group_epoch = next(EPOCHS)


def of_kind(kind):
    def then(_, answer):
        (group,) = (one for one in answer.groups if one.group_id == "classic")
        group.group_type = kind

    return then


CHANGED = "changed while it was read: capture it again"
NOT_READY = "is not ready: its topology has no tasks, as where a topic is missing"
SHARE = "is a share group: several members share a partition, not judged"


@pytest.mark.parametrize(
    ("group", "question", "then", "times", "reason"),
    [
        ("kip", KIP, setting(first_group, group_state="Assigning"), None, "is rebalancing: .*"),
        ("shop", OF_TASKS, setting(first_group, group_state="Assigning"), None,
         "is rebalancing: capture it again once its state is Stable"),
        ("shop", OF_TASKS, setting(first_group, group_state="NotReady"), None, NOT_READY),
        ("shop", OF_TASKS, setting(first_group, topology=None), None, NOT_READY),
        ("shop", OF_TASKS, setting(first_group, group_epoch=99), 1, CHANGED),
        ("kip", KIP, epoch_goes_on, None, CHANGED),
        ("classic", DESCRIBE, setting(first_member, member_id=None), None,
         "broker 1 answers what cannot be read: Expected `str`.*"),
        ("classic", TOPICS, LEADERLESS, 2,
         r"topic 't1' cannot be described: error 5 \(LEADER_NOT_AVAILABLE\)"),
        ("classic", LIST, of_kind("share"), None, SHARE),
        ("classic", LIST, of_kind("Share"), None, SHARE),
        ("classic", LIST, of_kind("other"), None, "is of a kind that is not known here: 'other'"),
    ],
)  # fmt: skip
def test_what_an_answer_says_of_a_group_is_its_reason(group, question, then, times, reason):
    _, found, _ = captured(only(question, then, times=times), patterns=[group])
    assert re.fullmatch(f"group '{group}':? {reason}", reasons(found)[group])


def test_partitions_that_stay_with_nobody_are_named():
    change = only("DescribeGroupsRequest", without_assignment)
    groups, _, _ = captured(change, patterns=["classic"])
    (line,) = groups["classic"]["assumed"]
    assert line.startswith("owned: 3 partitions that members read with nobody for now")
    assert "t0-3, t0-4" in line
    (judged,) = judge([Group.from_dict(groups["classic"])])
    assert sentence(judged).startswith("classic: 3 partitions have no owner: t0-3, t0-4, t0-5.")


def test_a_group_that_may_not_be_seen_is_told_from_one_that_is_not_there():
    def then(question, answer):
        answer.groups = [_described(name) for name in question.groups]

    def _described(name):
        from kafka.protocol.admin import DescribeGroupsResponse

        code = FORBIDDEN if name == "secret" else MOVED
        return DescribeGroupsResponse.DescribedGroup(
            error_code=code, group_id=name, group_state="", protocol_type="", protocol_data="",
            members=[], version=6,
        )  # fmt: skip

    _, found, _ = captured(
        only("DescribeGroupsRequest", then), patterns=["secret", "nothing"], by_any=True
    )
    assert reasons(found) == {
        "secret": "group 'secret' may not be described: allow Describe on it",
        "nothing": "group 'nothing' does not exist",
    }


def test_a_name_that_is_spelled_wrong_gets_the_nearest_one():
    change = only("DescribeGroupsRequest", setting(whole, groups=[]))
    _, found, _ = captured(change, patterns=["clasic"], by_any=True)
    assert reasons(found) == {"clasic": "group 'clasic' does not exist; nearest: classic"}


def test_a_pattern_without_a_group_is_a_failure_of_its_own():
    groups, found, _ = captured(patterns=["k*", "x*", "kip", "[c]lassic"])
    assert list(groups) == ["classic", "kip", "kipre", "kpy"]
    assert reasons(found) == {None: "no group matches 'x*'"}


def test_a_broker_that_does_not_answer_costs_its_groups_alone():
    why = "broker 1: it cannot be reached"
    _, found, _ = captured(only("ListGroupsRequest", lambda *_: CLOSED))
    assert reasons(found) == {None: f"{why}: groups there are not listed"}
    assert found.is_partial
    groups, found, _ = captured(only("DescribeGroupsRequest", lambda *_: CLOSED))
    assert reasons(found)["classic"] == f"group 'classic': {why}"
    assert "kip" in groups


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (RequestTimedOutError("secret"), "no answer within 7 s"),
        (NodeNotReadyError("secret"), "it cannot be reached"),
        (SaslAuthenticationFailedError("secret"), "it refuses the login"),
        (IncompatibleBrokerVersion("none of both"), "it is too old: .*none of both"),
        (KafkaError("secret"), "the client failed with KafkaError"),
    ],
)
def test_why_a_broker_does_not_answer_is_said_in_a_few_words(error, why):
    _, found, _ = captured(only("DescribeGroupsRequest", lambda *_: error))
    assert re.fullmatch(f"group 'classic': broker 1: {why}", reasons(found)["classic"])


def test_a_broker_that_does_not_answer_is_asked_no_more_when_another_does():
    away = only("MetadataRequest", lambda *_: CLOSED, times=2)
    groups, found, _ = captured(away, patterns=["classic"])
    assert list(groups) == ["classic"]
    assert not found.failures


def test_a_cluster_of_which_no_broker_answers_is_an_error_with_its_cause():
    away = only("MetadataRequest", lambda *_: CLOSED)
    with pytest.raises(Unanswered, match="the cluster: it cannot be reached") as found:
        captured(away)
    assert isinstance(found.value.error, KafkaConnectionError)


def test_groups_that_no_broker_coordinates_now_are_missed():
    def coordinators(answer):
        return [part for one in topic("__consumer_offsets")(answer) for part in one.partitions[:1]]

    away = only("MetadataRequest", setting(coordinators, leader_id=-1))
    why = "1 of 1 partition of __consumer_offsets have no leader"
    _, found, _ = captured(away, patterns=["kpy", "k*"])
    assert reasons(found) == {None: f"{why}: groups there are not listed"}
    _, found, _ = captured(away, patterns=["elsewhere"], by_any=True)
    assert reasons(found) == {"elsewhere": f"group 'elsewhere' is not listed, and {why}"}


@pytest.mark.parametrize(
    ("then", "said"),
    [
        (group_error("classic", FORBIDDEN), " may not be described: allow Describe on it"),
        (setting(whole, groups=[]), ": broker 1 leaves it out"),
    ],
)
def test_commits_that_are_not_told_leave_the_lag_unknown_and_are_not_taken_for_none(then, said):
    groups, _, _ = captured(only(OFFSETS, then), patterns=["classic"])
    assert groups["classic"]["topics"]["t1"] == {"partitions": 3, "racks": [["r1"]] * 3}
    assert groups["classic"]["assumed"] == [f"lag: not known, group 'classic'{said}"]
    assert Group.from_dict(groups["classic"]).lag_records is None


def test_a_leader_that_has_moved_leaves_its_ends_unknown():
    groups, _, _ = captured(only(ENDS, led_elsewhere), patterns=["kpy"])
    assert groups["kpy"]["assumed"] == [
        "lag: not known, as offsets cannot be read (error 6 (NOT_LEADER_FOR_PARTITION)): "
        "t0-0, t0-1, t0-2 and 3 more"
    ]
    assert groups["kpy"]["topics"]["t0"]["offsets"][0]["end"] is None


def test_one_commit_that_is_not_known_is_not_taken_for_none():
    def then(_, answer):
        (t0,) = (one for one in answer.groups[0].topics if one.name == "t0")
        t0.partitions[0].error_code = 88

    groups, _, _ = captured(only("OffsetFetchRequest", then), patterns=["lagging"])
    assert groups["lagging"]["topics"]["t0"]["lag"] == [None] * 6
    assert "cannot be read (error 88 (UNSTABLE_OFFSET_COMMIT)): t0-0" in " ".join(
        groups["lagging"]["assumed"]
    )


def test_a_partition_without_a_leader_has_no_end_and_says_so():
    def then(_, answer):
        for topic in answer.topics:
            if topic.name == "t1":
                topic.partitions[0].leader_id = -1
                topic.partitions[0].error_code = NO_LEADER

    def without(_, answer):
        for topic in answer.topics:
            topic.partitions = [
                p for p in topic.partitions if p.partition_index or topic.name != "t1"
            ]

    groups, _, _ = captured(
        only("MetadataRequest", then),
        only("ListOffsetsRequest", without),
        patterns=["classic"],
    )
    assert groups["classic"]["topics"]["t1"]["offsets"][0] == {
        "beginning": None, "end": None, "committed": 10,
    }  # fmt: skip
    assert groups["classic"]["assumed"] == [
        "lag: not known, as offsets cannot be read (no leader): t1-0"
    ]
    lag = Group.from_dict(groups["classic"]).lag_records
    assert lag.tolist() == [0] * 6 + [-1, 0, 0]


WITHHELD = setting(topic("t2"), error_code=TOPIC_FORBIDDEN, partitions=[])


def test_a_topic_that_may_not_be_described_is_a_failure_as_its_size_is_not_known():
    _, found, _ = captured(only("MetadataRequest", WITHHELD), patterns=["coop", "kpy"])
    reason = "group 'coop': topic 't2' may not be described: allow Describe on it"
    assert reasons(found) == {"coop": reason}

    def among_all(question, answer):
        if question.topics is None:
            answer.topics = [one for one in answer.topics if one.name != "t2"]
        WITHHELD(question, answer)

    _, found, _ = captured(only("MetadataRequest", among_all), patterns=["coop", "kipre"])
    assert reasons(found)["coop"] == reason


def test_racks_of_replicas_are_left_out_where_a_broker_has_none_or_is_away():
    def first_of_t0(answer):
        return [part for one in topic("t0")(answer) for part in one.partitions[:1]]

    change = only("MetadataRequest", setting(first_of_t0, replica_nodes=[1, 2]))
    groups, _, _ = captured(change, patterns=["classic"])
    assert "racks" not in groups["classic"]["topics"]["t0"]
    assert groups["classic"]["topics"]["t1"]["racks"] == [["r1"]] * 3


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param("(?i)T[0-9]", id="it may mean something else to the broker"),
        pytest.param("t1", id="it does not match what the broker gave out"),
    ],
)
def test_a_pattern_that_cannot_be_relied_on_is_not_matched(pattern):
    then = setting(first_member, subscribed_topic_regex=pattern)
    change = only("ConsumerGroupDescribeRequest", then)
    groups, _, _ = captured(change, patterns=["kipre"])
    (member,) = groups["kipre"]["members"].values()
    assert (member["subscription"], member["subscription_regex"]) == (None, pattern)
    if pattern != "t1":
        assert groups["kipre"]["assumed"][0].endswith("is not known")
