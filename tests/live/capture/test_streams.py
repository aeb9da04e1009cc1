"""What stands in the way of a Kafka Streams group, and what brokers do not tell of one."""

from groups import Group
from tests.live.capture.replayed import captured
from tests.live.capture.test_obstacles import first_group, only, setting

DESCRIBE, CONFIGS = "StreamsGroupDescribeRequest", "DescribeConfigsRequest"


def shop(*changes, **options):
    """Return the document of group shop, or the reason why there is none."""
    groups, found, _ = captured(*changes, patterns=["shop"], **options)
    return groups.get("shop") or found.failures[0].reason


def described(**values):
    return only(DESCRIBE, setting(first_group, **values))


def test_a_group_that_reconciles_to_the_end_is_captured_as_its_target_is_known():
    assert shop(described(group_state="Reconciling"))["group"] == "shop"


def test_a_group_without_members_is_captured_with_its_commits_as_one_of_consumers_is():
    """It was said to have no members, without a word on the records that wait."""
    found = shop(described(group_state="Empty"))
    assert (found["format"], found["members"]) == ("assay-group/1", {})


def test_standbys_that_may_not_be_known_are_not_known():
    assert shop()["standby_replicas"] == 1
    silent = only(CONFIGS, setting(lambda answer: answer.results, configs=[]))
    assert shop(silent)["standby_replicas"] is None


def test_without_lag_tasks_have_none():
    assert {one["lag"][0] for one in shop()["subtopologies"].values()} == {0}
    assert all("lag" not in one for one in shop(lag=False)["subtopologies"].values())


def test_without_a_commit_the_lag_of_a_task_is_known_where_its_logs_are_empty():
    def moved(_, answer):
        for topic in answer.topics:
            if topic.name == "orders":
                topic.partitions[0].offset += 7

    lag = {
        name: one["lag"]
        for name, one in shop(only("ListOffsetsRequest", moved, times=1))["subtopologies"].items()
    }
    assert lag == {"0": [None, 0, 0, 0, 0, 0], "1": [0, 0, 0, 0]}


def test_a_subtopology_has_as_many_tasks_as_its_widest_topic_has_partitions():
    def wider(_, answer):
        for one in answer.groups[0].topology.subtopologies:
            one.source_topics = ["orders"]

    sizes = {
        name: one["tasks"] for name, one in shop(only(DESCRIBE, wider))["subtopologies"].items()
    }
    assert sizes == {"0": 6, "1": 6}


def test_the_group_that_is_captured_is_one_of_its_active_tasks():
    group = Group.from_dict(shop())
    assert (group.n_partitions, sorted(group.owned.tolist())) == (10, [5, 5])
    assert len(group.places("host").names) == 2
