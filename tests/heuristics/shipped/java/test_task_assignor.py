from collections import Counter
from random import Random

import pytest
from msgspec import convert
from msgspec.structs import replace

from groups import BadInput, Failed, Group, Refused, values
from groups.documents.assay_streams import StreamsDocument, Subtopology
from heuristics.child import Lost
from heuristics.shipped.classic_task_assignor import MAX_WARMUP_REPLICAS
from heuristics.shipped.client import tiny
from heuristics.shipped.java.java_client import KAFKA_BROKER
from heuristics.shipped.task_assignor import CLIENT_OF, TaskAssignor, TaskLimit, until_rest
from heuristics.time_limit import TimeLimit
from optimal import solve

NEWEST = TaskAssignor.named("sticky")
MISSING = NEWEST.missing()
CALLED = pytest.mark.skipif(MISSING is not None, reason=MISSING or "")
CLASSIC = ("high-availability", "classic-sticky")
NO_CLIENT = TaskAssignor.named(CLASSIC[0]).missing()
IN_CLIENT = pytest.mark.skipif(NO_CLIENT is not None, reason=NO_CLIENT or "")


def group_of(
    tasks: dict[str, int], threads: dict[str, int], standbys: int = 0, **more: object
) -> StreamsDocument:
    """Return a group of stateful subtopologies; process ``p`` has threads ``p-1``, ``p-2``, ..."""
    return convert(
        {
            "format": "assay-streams/1",
            "group": "g",
            "standby_replicas": standbys,
            "subtopologies": {s: {"tasks": n, "stateful": True} for s, n in tasks.items()},
            "members": {
                f"{p}-{i + 1}": {"process": p, "tasks": {}}
                for p, n in threads.items()
                for i in range(n)
            },
        }
        | more,
        StreamsDocument,
    )


@pytest.fixture(scope="module")
def limit():
    with TaskLimit(NEWEST) as started:
        yield started


@pytest.fixture(scope="module")
def scored():
    with TimeLimit(60) as started:
        yield started


@pytest.fixture(scope="module")
def classic():
    limits = {kind: TaskLimit(TaskAssignor.named(f"kafka-streams/{kind}")) for kind in CLASSIC}
    with limits[CLASSIC[0]], limits[CLASSIC[1]]:
        yield limits


def holders(group, role):
    return [
        (subtopology, number, name)
        for name, member in group.members.items()
        for subtopology, numbers in getattr(member.tasks, role).items()
        for number in numbers
    ]


def drawn(seed, many):
    draw = Random(seed)
    return [
        group_of(
            {f"s{s}": draw.randint(1, 6) for s in range(draw.randint(1, 3))},
            {f"p{p}": draw.randint(1, 3) for p in range(draw.randint(1, 4))},
            draw.randint(0, 2),
        )
        for _ in range(many)
    ]


def require_copies(groups):
    """Require that each task has one active, and all its copies on different processes."""
    for made in groups:
        tasks = [(s, n) for s, one in made.subtopologies.items() for n in range(one.tasks)]
        active, standby = holders(made, "active"), holders(made, "standby")
        assert sorted((s, n) for s, n, _ in active) == sorted(tasks)
        places = Counter((s, n, made.members[m].process) for s, n, m in active + standby)
        assert set(places.values()) == {1}
        processes = {member.process for member in made.members.values()}
        copies = min(made.standby_replicas, len(processes) - 1)
        assert len(standby) == copies * len(tasks)


@CALLED
def test_each_task_has_one_active_and_its_standbys_are_on_other_processes(limit):
    require_copies(limit.plans(drawn(29, 100)))


@IN_CLIENT
def test_a_classic_group_at_rest_has_each_task_once_and_its_standbys_elsewhere(classic):
    for limit in classic.values():
        require_copies(limit.plans(drawn(29, 20)))
    courses = until_rest(classic["high-availability"].plans, drawn(30, 20))
    require_copies(course[-1] for course in courses)


@IN_CLIENT
def test_high_availability_warms_up_two_tasks_at_once_and_makes_none_active_without_state(classic):
    limit = classic["high-availability"]
    (placed,) = limit.plans([group_of({"0": 6}, {"p": 1, "q": 1})])
    grown = group_of({"0": 6}, {"p": 1, "q": 1, "r": 1})
    before = replace(grown, members=grown.members | placed.members)
    ((_, first, *_, last),) = until_rest(limit.plans, [before])
    assert holders(first, "standby") == []
    assert len(holders(first, "warmup")) == MAX_WARMUP_REPLICAS
    assert sorted(holders(first, "active")) == sorted(holders(placed, "active"))
    assert {name: len(m.tasks.active["0"]) for name, m in last.members.items()} == {
        "p-1": 2,
        "q-1": 2,
        "r-1": 2,
    }


@IN_CLIENT
def test_sticky_of_the_client_moves_to_a_new_process_at_once_what_it_is_to_have(classic):
    limit = classic["classic-sticky"]
    (placed,) = limit.plans([group_of({"0": 6}, {"p": 1, "q": 1})])
    grown = group_of({"0": 6}, {"p": 1, "q": 1, "r": 1})
    (made,) = limit.plans([replace(grown, members=grown.members | placed.members)])
    assert {*holders(made, "active")} - {*holders(placed, "active")} == {
        one for one in holders(made, "active") if one[2] == "r-1"
    }
    assert len(made.members["r-1"].tasks.active["0"]) == 2


@IN_CLIENT
def test_the_score_of_high_availability_counts_its_probing_rebalances(scored):
    members = {
        name: {"process": name, "tasks": {"active": {"0": tasks}}}
        for name, tasks in (("p", [0, 1, 2]), ("q", [3, 4, 5]), ("r", []))
    }
    group = Group.of_document(group_of({"0": 6}, {}, members=members))
    plan = scored.plan(group, "kafka-streams/high-availability").plan
    assert plan is not None
    assert plan.rounds > 1
    assert plan.assignment.loads.tolist() == [2, 2, 2]


def test_tasks_that_move_for_ever_are_said_to():
    even, odd = group_of({"0": 1}, {"p": 1}), group_of({"0": 1}, {"q": 1})
    with pytest.raises(Failed, match=r"^g: its tasks move for ever"):
        until_rest(lambda groups: [odd if one == even else even for one in groups], [even])


@CALLED
def test_an_assignment_that_is_even_stays(limit):
    fresh = group_of({"a": 4, "b": 2}, {"p": 2, "q": 1}, 1)
    (first,) = limit.plans([fresh])
    assert limit.plans([first]) == [first]


@CALLED
def test_the_target_counts_where_it_is_known(limit):
    (placed,) = limit.plans([group_of({"a": 2}, {"p": 1, "q": 1})])
    empty = {
        name: replace(member, tasks=type(member.tasks)(), target=member.tasks)
        for name, member in placed.members.items()
    }
    assert limit.plans([replace(placed, members=empty)]) == [placed]


@CALLED
def test_stateless_tasks_have_no_standby(limit):
    fresh = group_of({"a": 2, "b": 2}, {"p": 1, "q": 1}, 1)
    told = replace(fresh, subtopologies=fresh.subtopologies | {"b": Subtopology(2, False)})
    (made,) = limit.plans([told])
    assert {subtopology for subtopology, _, _ in holders(made, "standby")} == {"a"}


@CALLED
def test_a_group_that_fails_leaves_the_others_their_plans(limit):
    fresh = group_of({"a": 2}, {"p": 1})
    unknown = replace(fresh, subtopologies={"a": Subtopology(2)})
    first, none, third = limit.plans([fresh, unknown, fresh])
    assert first == third
    assert isinstance(none, Lost)
    assert none.reason.endswith("subtopologies.a.stateful: not known, the assignor needs it")
    (nobody,) = limit.plans([replace(fresh, members={})])
    assert isinstance(nobody, Lost)
    assert "No process available to assign active task a_0" in nobody.reason


@CALLED
def test_its_active_tasks_are_scored_beside_the_optimum_and_a_consumer_group_is_refused(scored):
    """Both tasks have a copy elsewhere than where they go: one is restored, and none need be."""
    members = {
        "a1": {"process": "a", "tasks": {"active": {"s": [0]}, "standby": {"s": [1]}}},
        "c1": {"process": "c", "tasks": {"standby": {"s": [0]}}},
    }
    group = Group.of_document(group_of({"s": 2}, {}, 1, members=members))
    made = scored.plan(group, "kafka-streams/sticky").plan
    refused = scored.plan(tiny(), "kafka-streams/sticky")
    assert made is not None
    assert made.assignment.to_dict() == {"a1": {"s": [0]}, "c1": {"s": [1]}}
    tiers = ("balance", "restores", "stickiness")
    assert values(made.assignment, tiers) == (0, 1, 0)
    best = solve(group, "balance > restores > stickiness")
    assert [term.value for term in best.terms] == [0, 0, 1]
    assert (refused.status, refused.reason) == (
        "refused",
        "it assigns the tasks of a Kafka Streams group",
    )


def test_what_the_assignor_needs_is_refused_where_it_is_not_known():
    fresh = group_of({"a": 2}, {"p": 1})
    with pytest.raises(Refused, match=r"^standby_replicas: not known"):
        NEWEST(replace(fresh, standby_replicas=None))


def test_an_older_release_and_another_name_are_refused_in_one_line():
    with pytest.raises(BadInput, match=r"^assignor: 'uniform' assigns no tasks, expected one of "):
        TaskAssignor.named("uniform")
    old = TaskAssignor.named("kafka-streams/sticky@4.0.2")
    assert old.name == "kafka-streams/sticky@4.0.2"
    assert old.missing() == "release 4.0.2 has no assignor of tasks, 4.1.0 is the first"
    with pytest.raises(BadInput, match=r"sticky@4\.0\.2: release 4\.0\.2 has"), TaskLimit(old):
        pass
    assert NEWEST.version == KAFKA_BROKER.listed[0]
    reason = TaskAssignor.named("kafka-streams/high-availability@3.7.2").missing()
    assert "release 3.7.2 is too old, 3.8.0 is the oldest" in str(reason)
    assert {TaskAssignor.named(kind).name.partition("@")[0] for kind in CLIENT_OF} == {
        *("kafka-streams/sticky", "kafka-streams/high-availability"),
        "kafka-streams/classic-sticky",
    }
