from itertools import islice

import pytest

from compare.samples.drawn import drawn
from groups import Group, values
from heuristics import assign, assignor_named
from heuristics.shipped.consumers.consumer import SARAMA
from tests.heuristics.shipped.consumers import leading

VERSION = "1.61.1"
MISSING = SARAMA.missing("sticky", VERSION)
STICKY = ("sticky", "cooperative-sticky")
TIERS = ("balance", "stickiness")

needs_the_program = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))


def planned(limit, group, name):
    return leading.planned(limit, group, f"sarama/{name}@{VERSION}")


@needs_the_program
@pytest.mark.parametrize("name", ["range", "roundrobin"])
def test_range_and_round_robin_have_the_loads_of_those_as_documented(limit, name):
    for group in islice(drawn(91), 60):
        made = planned(limit, group, name).assignment
        assert made.is_valid
        assert made.loads.tolist() == assign(group, name).loads.tolist()


@needs_the_program
@pytest.mark.parametrize("name", STICKY)
def test_sticky_is_balanced_where_everybody_reads_the_same(limit, name):
    groups = list(islice(filter(leading.reads_the_same, drawn(92)), 60))
    for group, best in zip(groups, leading.optimum(groups), strict=True):
        made = planned(limit, group, name).assignment
        assert made.is_valid
        assert values(made, TIERS)[0] == best[0]


@needs_the_program
@pytest.mark.parametrize("name", STICKY)
def test_sticky_is_valid_where_subscriptions_differ(limit, name):
    for group in islice(drawn(93), 60):
        made = planned(limit, group, name).assignment
        assert made.is_valid
        assert made.balanced()


@needs_the_program
@pytest.mark.parametrize("name", STICKY)
def test_sticky_of_1_61_1_leaves_a_member_idle_that_two_moves_would_employ(limit, group_of, name):
    # From b to a, then from c to b: no single one of them helps.
    owned = {"b": {"t": [0]}, "c": {"u": [0, 1]}}
    group = group_of({"t": 1, "u": 2}, {"a": ["t"], "b": ["t", "u"], "c": ["u"]}, owned, 1)
    made = planned(limit, group, name).assignment
    assert made.idle == ("a",)
    assert made.balanced()
    assert (values(made, TIERS), leading.optimum([group])) == ((4, 0), [(0, 2)])


@needs_the_program
@pytest.mark.parametrize("name", STICKY)
def test_sticky_of_1_61_1_moves_two_partitions_where_one_is_enough(limit, group_of, name):
    owned = {"a": {"t": [0, 1, 2]}, "c": {"t": [3], "u": [0]}}
    rows = {"a": ["t"], "b": ["t", "u"], "c": ["t", "u"]}
    group = group_of({"t": 4, "u": 1}, rows, owned, 1)
    made = planned(limit, group, name).assignment
    assert (values(made, TIERS), leading.optimum([group])) == ((2, 2), [(2, 1)])


@needs_the_program
def test_who_must_revoke_does_so_in_a_round_of_its_own(limit, group_of):
    group = group_of({"t": 4}, {"a": ["t"], "b": ["t"]}, {"a": {"t": [0, 1, 2, 3]}}, 1)
    made = planned(limit, group, "cooperative-sticky")
    assert (made.rounds, made.revoked, made.ownerless) == (2, 2, 2)
    assert made.assignment.loads.tolist() == [2, 2]
    made = planned(limit, group, "sticky")
    assert (made.rounds, made.revoked, made.ownerless) == (1, 0, 0)
    assert made.assignment.loads.tolist() == [2, 2]


@needs_the_program
@pytest.mark.parametrize("name", STICKY)
@pytest.mark.parametrize(("generations", "keeps"), [((1, 2), "b"), ((2, 1), "a")])
def test_of_two_claims_the_newer_stands(limit, group_of, name, generations, keeps):
    claim = {"t": [0]}
    newer = dict(zip("ab", generations, strict=True))
    group = group_of({"t": 2}, {"a": ["t"], "b": ["t"]}, {"a": claim, "b": claim}, newer)
    assert planned(limit, group, name).assignment.to_dict()[keeps] == claim


@needs_the_program
@pytest.mark.parametrize("name", ["range", "roundrobin"])
def test_members_go_by_their_ids_and_not_by_instance_ids(limit, name):
    members = {"a": {"subscription": ["t"]}, "b": {"subscription": ["t"], "instance_id": "i"}}
    topics = {"t": {"partitions": 3}}
    group = Group.from_dict(
        {"format": "assay-group/1", "group": "g", "topics": topics, "members": members}
    )
    assert planned(limit, group, name).assignment.loads.tolist() == [2, 1]
    assert assign(group, name).loads.tolist() == [1, 2]


@needs_the_program
@pytest.mark.parametrize("name", ["range", "sticky"])
def test_one_member_that_reads_a_topic_that_does_not_exist_leaves_all_without_a_plan(
    limit, group_of, name
):
    group = group_of({"t": 2}, {"a": ["t"], "b": ["t", "gone"]})
    outcome = limit.plan(group, f"sarama/{name}@{VERSION}")
    assert outcome.status == "failed"
    assert outcome.reason == (
        "the client died: exit code 1: gone: kafka server: Request was for a topic or partition "
        "that does not exist on this broker"
    )
    assert planned(limit, group_of({"t": 2, "none": 0}, {"a": ["t", "none"]}), name)


@needs_the_program
def test_partition_counts_are_those_of_this_group_and_not_of_the_last(limit, group_of):
    for count in (5, 2, 9):
        made = planned(limit, group_of({"t": count}, {"a": ["t"]}), "range").assignment
        assert made.to_dict() == {"a": {"t": list(range(count))}}


@pytest.mark.parametrize("version", ["1.46.3", "1.60.0"])
def test_a_version_without_a_cooperative_strategy_says_which_has_one(version):
    assert assignor_named(f"sarama/cooperative-sticky@{version}").missing() == (
        f"sarama before 1.60.1 has no cooperative-sticky: assay fetch sarama@{VERSION}"
    )
