import random
from pathlib import Path

import pytest

from groups import Assignment, Group
from groups.tiers import values
from heuristics import assign
from live.aiokafka import OptimalAssignor as AsyncOptimalAssignor
from live.kafka_python import OptimalAssignor
from optimal import solve
from studies.mended_consumers import NAME, KafkaPython
from tests.live.assignor.playing import (
    EAGER,
    AsyncMember,
    JavaMember,
    Member,
    group_of,
    holdings,
    one_round,
    settle,
)
from tests.seeds import for_each

TOPICS = {"t0": 6, "t1": 5, "t2": 7, "t3": 1}
KINDS = {
    "cooperative": Member,
    "eager": lambda topics: Member(topics, EAGER),
    "aiokafka": AsyncMember,
    "java": JavaMember,
    "java eager": lambda topics: JavaMember(topics, "OptimalAssignor"),
    "java 2.8.2": lambda topics: JavaMember(topics, release="2.8.2"),
}


def value_of(party, topics, before):
    group = group_of(party, topics, before)
    held = sorted(
        (group.members.index(member), topic, number)
        for member, one in party.items()
        for topic, number in one.held
    )
    assignment = Assignment.from_holdings(group, held)
    assignment.require_valid()
    return values(assignment, ("balance", "stickiness"))


def optimum_of(party, topics, before):
    solution = solve(group_of(party, topics, before))
    return tuple(term.value for term in solution.terms)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("equal", [True, False])
def test_after_every_join_and_leave_loads_and_moves_are_the_optimum(kind, equal):
    rng = random.Random(f"{kind} {equal}")
    for _ in range(4):
        party, count = {}, 0
        for event in range(8):
            before = holdings(party)
            if len(party) < 2 or rng.random() < 0.6:
                some = rng.sample(sorted(TOPICS), 4 if equal else rng.randint(1, 4))
                party[f"c{count}"] = KINDS[kind](some)
                count += 1
            else:
                party.pop(rng.choice(sorted(party)))
            rounds = settle(party, TOPICS, rng.choice(sorted(party)))
            assert rounds <= 1 + KINDS[kind]([]).is_cooperative, event
            assert value_of(party, TOPICS, before) == optimum_of(party, TOPICS, before)


@for_each(range(16))
def test_members_of_all_clients_and_both_protocols_share_a_group(seed):
    rng = random.Random(seed)
    kinds = [KINDS[rng.choice(sorted(KINDS))] for _ in range(6)]
    party = {}
    for number, kind in enumerate(kinds):
        before = holdings(party)
        party[f"c{number}"] = kind(rng.sample(sorted(TOPICS), rng.randint(2, 4)))
        settle(party, TOPICS, rng.choice(sorted(party)))
        assert value_of(party, TOPICS, before) == optimum_of(party, TOPICS, before)


IN_BOTH = pytest.mark.parametrize("kind", [Member, JavaMember])
IN_ALL = pytest.mark.parametrize("kind", [Member, AsyncMember, JavaMember])


@IN_BOTH
def test_what_moves_is_given_up_in_one_round_and_given_in_the_next(kind):
    party = {"a": kind(["t0"])}
    assert settle(party, TOPICS) == 1
    party["b"] = kind(["t0"])
    assert one_round(party, TOPICS)
    assert (len(party["a"].held), len(party["b"].held)) == (3, 0)
    assert not one_round(party, TOPICS)
    assert (len(party["a"].held), len(party["b"].held)) == (3, 3)


@pytest.mark.parametrize("kinds", [(Member, AsyncMember), (JavaMember, KINDS["java eager"])])
def test_the_plan_does_not_depend_on_who_leads_nor_on_the_order_of_members(kinds):
    """The plans of Python and of Java are equally good."""
    rng = random.Random(5)
    party = {f"c{n}": kinds[n % 2](rng.sample(sorted(TOPICS), 3)) for n in range(5)}
    settle(party, TOPICS)
    party["c9"] = kinds[0](TOPICS)
    joined = {member: one.join() for member, one in party.items()}
    plans = set()
    for leader in party:
        order = list(joined.items())
        rng.shuffle(order)
        shuffled = dict(rng.sample(sorted(TOPICS.items()), len(TOPICS)))
        made = party[leader].lead(shuffled, dict(order))
        plans.add(tuple(sorted(made.items())))
    assert len(plans) == 1


@IN_BOTH
def test_a_member_that_comes_back_under_a_new_id_waits_for_nobody(kind):
    """Its partitions were lost with its old id: it would give none up, and nobody may wait."""
    party = {"a": kind(["t0"]), "b": kind(["t0"])}
    settle(party, TOPICS)
    lost = party.pop("b")
    lost.held = set()
    party |= {"b2": lost, "c": kind(["t0"])}
    settle(party, TOPICS)
    assert sum(len(one.held) for one in party.values()) == TOPICS["t0"]
    assert {len(one.held) for one in party.values()} == {2}


@IN_BOTH
def test_a_member_that_missed_a_rebalance_takes_nothing_from_who_came_after_it(kind):
    party = {"a": kind(["t0"]), "b": kind(["t0"])}
    settle(party, TOPICS)
    late = party.pop("b")
    settle(party, TOPICS)
    party["c"] = kind(["t0"])
    settle(party, TOPICS)
    before = holdings(party)
    late.held = set()
    party["b"] = late
    settle(party, TOPICS)
    assert value_of(party, TOPICS, before) == optimum_of(party, TOPICS, before)


@IN_BOTH
def test_a_static_member_that_restarts_alone_gets_its_partitions_back(kind):
    """It remembers nothing, but all others keep theirs, and what is left is what it had."""
    topics = {"t0": 6, "t1": 3}
    party = {f"i-{n}-{n:08}": kind(topics) for n in range(3)}
    settle(party, topics)
    had = party.pop("i-1-00000001").held
    party["i-1-ffffffff"] = kind(topics)
    settle(party, topics)
    assert party["i-1-ffffffff"].held == had


@IN_BOTH
def test_static_members_that_all_restart_get_what_they_had_at_their_first_start(kind):
    """Kafka makes a static member's id of its instance id, and ties go by member id."""

    def started(suffix):
        party = {f"i-{n}-{suffix}{n}": kind(["t0", "t1"]) for n in range(4)}
        settle(party, TOPICS)
        return [one.held for _, one in sorted(party.items())]

    assert started("aaaa") == started("ffff")


@IN_ALL
def test_a_leader_that_does_not_know_a_topic_yet_leaves_it_where_it_is(kind):
    party = {"a": kind(["t0", "t1"]), "b": kind(["t0", "t1"]), "c": kind(["t0"])}
    settle(party, TOPICS, leader="a")
    before = holdings(party)
    one_round(party, {"t0": TOPICS["t0"]}, leader="c")
    assert holdings(party) == before


@IN_ALL
def test_a_topic_that_the_leader_knew_and_that_is_gone_is_with_nobody(kind):
    party = {"a": kind(["t0", "t1"]), "b": kind(["t0", "t1"])}
    settle(party, TOPICS, leader="a")
    settle(party, {"t0": TOPICS["t0"]}, leader="a")
    assert {topic for one in party.values() for topic, _ in one.held} == {"t0"}


@IN_BOTH
def test_partitions_that_are_added_go_to_members_while_all_others_stay(kind):
    party = {"a": kind(["t0"]), "b": kind(["t0"])}
    settle(party, {"t0": 4})
    before = holdings(party)
    assert settle(party, {"t0": 8}) == 1
    assert all(before[member] <= one.held for member, one in party.items())
    assert {len(one.held) for one in party.values()} == {4}


def test_consumers_of_one_process_do_not_share_what_they_remember():
    party = {"a": AsyncMember(["t0"]), "b": AsyncMember(["t0"])}
    settle(party, TOPICS)
    assert party["a"].join() != party["b"].join()


def test_every_client_knows_the_assignor_by_one_name():
    names = [OptimalAssignor.name, AsyncOptimalAssignor.name]
    names += [str(KINDS[kind]([]).instance.name()) for kind in ("java", "java eager")]
    assert {*names} == {"assay-optimal"}


def test_java_members_that_used_another_assignor_before_keep_what_they_hold():
    """Their clients list it: what moves waits until it is given up, at the change too."""
    party = {name: JavaMember(TOPICS) for name in "abc"}
    settle(party, TOPICS)
    for name, one in party.items():
        party[name] = JavaMember(TOPICS, held=one.held)
    before = holdings(party)
    party["d"] = JavaMember(TOPICS)
    assert settle(party, TOPICS) == 2
    assert value_of(party, TOPICS, before) == optimum_of(party, TOPICS, before)


@pytest.mark.parametrize("got", ["", "b", "bc"])
@pytest.mark.parametrize("loses", [False, True])
def test_java_members_whom_a_plan_did_not_reach_share_no_partition_and_leave_none(got, loses):
    """Clients of most releases go on reading then, others have lost what they had."""
    party = {name: JavaMember(["t0"]) for name in "ab"}
    settle(party, TOPICS)
    party["c"] = JavaMember(["t0"])
    sent = party["a"].lead(TOPICS, {member: one.join() for member, one in party.items()})
    for member, one in party.items():
        if member in got:
            one.sync(sent[member])
        elif loses:
            one.held = set()
    settle(party, TOPICS)
    assert [len(one.held) for one in party.values()] == [2, 2, 2]
    assert len(set.union(*(one.held for one in party.values()))) == TOPICS["t0"]


JOIN = Group.read(Path(__file__).parents[3] / "docs/findings/never-returns.json")
JOIN_TOPICS = dict(zip(JOIN.topics, JOIN.partitions.tolist(), strict=True))
JOIN_HELD = Assignment.current(JOIN).holdings
READS = {m: [JOIN.topics[t] for t in JOIN.subscription(i)] for i, m in enumerate(JOIN.members)}


def test_a_java_leader_returns_where_the_sticky_ones_of_its_client_never_do():
    party = {m: JavaMember(READS[m]) for m in JOIN.members}
    for member, partition in zip(*(each.tolist() for each in JOIN_HELD), strict=True):
        topic = JOIN.topic[partition]
        held = (JOIN.topics[topic], int(partition - JOIN.first[topic]))
        party[JOIN.members[member]].held.add(held)
    before = holdings(party)
    settle(party, JOIN_TOPICS)
    assert value_of(party, JOIN_TOPICS, before) == optimum_of(party, JOIN_TOPICS, before)


def test_after_a_join_consumers_hold_as_many_and_move_as_few_as_the_assignor_says():
    *first, last = JOIN.members
    party = {member: Member(READS[member], KafkaPython) for member in first}
    settle(party, JOIN_TOPICS)
    before = holdings(party)
    party[last] = Member(READS[last], KafkaPython)
    settle(party, JOIN_TOPICS, last)
    asked = assign(group_of(party, JOIN_TOPICS, before), NAME)
    held = holdings(party)
    assert [len(held[member]) for member in JOIN.members] == asked.loads.tolist()
    moved = sum(len(before[member] - held[member]) for member in first)
    assert (moved,) == values(asked, ("stickiness",))
    assert moved > 0
