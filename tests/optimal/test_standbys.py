"""Standbys beside active tasks: none are better, and a checker of its own says so."""

import random
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from groups import Assignment, BadInput, Group, ProofError
from optimal import ProofKind, Status, solve
from optimal.asks import require_standbys
from optimal.enumeration import count
from optimal.proof import Proof
from optimal.solution import Standbys
from optimal.standbys import standby_bounds, standbys_beside
from optimal.streams import StreamsSolution, solve_streams
from tests.optimal.judging import forged
from tests.optimal.small_groups import group_of, streams
from tests.optimal.standby_sweep import least, small, together, values_of


def test_no_choice_of_standbys_is_better_beside_the_same_actives():
    rng, choices = random.Random("standbys"), 0
    for _ in range(60):
        group, replicas = small(rng)
        solution = solve_streams(group, standby_replicas=replicas, together_seconds=0)
        best, number = least(solution, replicas)
        choices += number > 1
        assert values_of(solution.standbys) == best, group.snapshot()
        assert solution.check() == ()
    assert choices > 20


def test_a_forged_answer_is_refused_unless_it_is_as_good():
    rng, met = random.Random("forged standbys"), Counter()
    while met.total() < 500:
        group, replicas = small(rng)
        solution = solve_streams(group, standby_replicas=replicas, together_seconds=0)
        best, number = least(solution, replicas)
        for _ in range(20 if number > 1 else 0):
            other = forgery(rng, solution.standbys)
            try:
                require_standbys(other)
            except ProofError as error:
                met[re.sub(r"^[\d-]+:", "task", str(error)).split()[0].split(".")[0]] += 1
                continue
            met["accepted"] += 1
            assert values_of(other) == best, group.snapshot()
    assert met.keys() == {"accepted", "task", "prices", "standbys:"}
    assert min(met.values()) > 15, met


def test_no_other_actives_as_good_leave_room_for_better_standbys_and_bounds_hold_for_all():
    """Brute force over all assignments; some groups take other actives than those found first."""
    rng, met = random.Random("together"), Counter()
    while met["found by the solver"] < 2 or met["better than beside the first"] < 1:
        group, replicas = small(rng)
        if count(group) > 250 or not (group.copies.replicas >= 0).any() or not replicas:
            continue
        solution = solve_streams(group, standby_replicas=replicas, together_seconds=60)
        best = together(solution, replicas)
        assert values_of(solution.standbys) == best, group.snapshot()
        assert standby_bounds(solution.actives, replicas) <= best, group.snapshot()
        assert solution.optimal_together, group.snapshot()
        assert solution.check() == ()
        first = solve_streams(group, standby_replicas=replicas, together_seconds=0)
        assert first.bounds_by == "argument"
        met["found by the solver"] += solution.bounds_by == "solver"
        met["better than beside the first"] += best < values_of(first.standbys)
        if best < values_of(first.standbys):
            assert not first.optimal_together
            assert first.together[-1].bound is None or first.together[-1].bound <= best[-1]


def forgery(rng: random.Random, standbys: Standbys) -> Standbys:
    """Return the standbys with one moved, or another price; the terms are the true values."""
    group, member = standbys.actives.group, standbys.member.copy()
    if rng.random() < 0.6:
        member[rng.randrange(len(member))] = rng.randint(-1, len(group.members) - 1)
        if rng.random() < 0.3:
            rng.shuffle(member)
    prices = {kind: table.copy() for kind, table in standbys.proof.prices.items()}
    if rng.random() < 0.6:
        table = prices[rng.choice(list(prices))]
        table[rng.randrange(len(table)), rng.randrange(3)] += rng.choice((-2, -1, 1, 2))
    loads = standbys.actives.loads + np.bincount(
        np.maximum(member, 0), minlength=len(group.members)
    )
    places, copies = group.places("host"), group.copies
    restored = copies.misses(np.maximum(member, 0), standbys.task).sum()
    found = int((loads**2).sum()), places.squares(loads), int(restored)
    terms = tuple(replace(t, value=v, bound=v) for t, v in zip(standbys.terms, found, strict=True))
    proof = replace(standbys.proof, prices=prices)
    return forged(standbys, member=member, terms=terms, proof=proof)


def app(replicas: int | None, tasks: int, **members) -> Group:
    """Return a group of one stateful subtopology; members are (process, actives, standbys)."""
    said = {
        name: (process, {"0": active}, {"0": standby})
        for name, (process, active, standby) in members.items()
    }
    return streams({"0": (tasks, True)}, said, standby_replicas=replicas)


def test_standbys_that_are_there_stay_with_their_thread():
    group = app(
        1, 4, a1=("A", [0], [2]), a2=("A", [1], [3]), b1=("B", [2], [1]), b2=("B", [3], [0])
    )
    found = solve_streams(group)
    assert values_of(found.standbys) == (16, 32, 0)
    for name, member in group.snapshot()["members"].items():
        assert found.tasks[name].active == member["tasks"]["active"]
        assert found.tasks[name].standby == member["tasks"]["standby"]


def test_with_too_few_processes_a_task_has_one_standby_on_each_other():
    found = solve_streams(app(3, 2, a=("A", [0, 1], []), b=("B", [], []), c=("C", [], [])))
    assert Counter(found.standbys.task.tolist()) == {0: 2, 1: 2}
    alone = solve_streams(app(3, 2, a1=("A", [0, 1], []), a2=("A", [], [])))
    assert (values_of(alone.standbys), len(alone.standbys.task)) == ((2, 4, 0), 0)
    assert alone.check() == ()


def test_a_thousand_tasks_of_fifty_processes_have_their_standbys_with_a_certificate():
    rng = random.Random("large")
    members = {f"c{m:03}": (f"p{m // 2:02}", [], []) for m in range(100)}
    for task in range(1000):
        members[f"c{rng.randrange(60):03}"][1].append(task)
        members[f"c{rng.randrange(60):03}"][2].append(task)
    found = solve_streams(app(1, 1000, **members))
    assert found.actives.status is Status.OPTIMAL
    loads = found.standbys.actives.loads + np.bincount(found.standbys.member, minlength=100)
    assert {*loads.tolist()} == {20}
    assert found.together[0].bound == 100 * 20**2


def test_out_of_time_there_are_no_tasks():
    found = solve_streams(app(1, 3, a=("A", [0], []), b=("B", [], [1])), time_limit=0)
    assert (found.standbys, found.tasks, found.actives.status) == (None, {}, Status.UNKNOWN)
    assert (found.together, found.optimal_together) == (None, False)
    assert found.check() == ("there is no assignment to check",)


def test_what_is_not_known_is_refused():
    unknown = streams({"0": (2, None)}, {"a": ("A", {"0": [0, 1]}, {})}, standby_replicas=1)
    for group, said in (
        (app(None, 1, a=("A", [0], [])), "^standby_replicas: unknown, expected"),
        (unknown, "^which partitions keep state is unknown"),
        (group_of({"t": 1}, {}), "^g: a consumer group, expected a Kafka Streams group$"),
    ):
        with pytest.raises(BadInput, match=said):
            solve_streams(group)
    with pytest.raises(BadInput, match="standby_replicas: -1, expected how many"):
        solve_streams(app(1, 1, a=("A", [0], [])), standby_replicas=-1)
    with pytest.raises(BadInput, match="which tasks keep state is unknown"):
        standbys_beside(solve(unknown, "balance").assignment, 1)


def test_an_answer_with_standbys_of_another_or_none_says_so():
    solution = solve_streams(app(1, 2, a=("A", [0], []), b=("B", [1], [])))
    crossed = replace(solution.standbys.actives, owner=np.array([1, 0], np.int32))
    for other in (
        standbys_beside(crossed, 1),
        solve_streams(app(1, 2, a=("A", [0], []), b=("B", [1], []))).standbys,
    ):
        with pytest.raises(ProofError, match="beside other active tasks"):
            StreamsSolution(solution.actives, other).check()
    said = StreamsSolution(solution.actives, None).check()
    assert said == ("standbys: there are none to check",)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"terms": ()}, "terms"),
        ({"replicas": True}, "replicas"),
        ({"replicas": None}, "replicas"),
        ({"member": np.array([0])}, "expected a task and a member of each"),
        ({"member": np.array([1.0, 0.0])}, "expected a task and a member of each"),
        ({"proof": Proof(ProofKind.EXHAUSTION)}, "proof.kind"),
    ],
)
def test_standbys_of_another_shape_are_refused_in_one_line(change, said):
    standbys = solve_streams(app(1, 2, a=("A", [0], []), b=("B", [1], []))).standbys
    with pytest.raises(ProofError, match=said):
        require_standbys(replace(standbys, **change))


def test_threads_without_a_common_multiple_and_tasks_without_a_member_are_refused():
    numbers = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)
    members = {f"{n:02}-{k:02}": (f"p{n:02}", [], []) for n in numbers for k in range(n)}
    group = app(1, 30, **members)
    with pytest.raises(BadInput, match="no common multiple"):
        solve_streams(group, "balance > stickiness", standby_replicas=1)
    nobody = replace(Assignment.current(group), owner=np.full(30, -1, np.int32))
    with pytest.raises(BadInput, match="expected a valid assignment"):
        standbys_beside(nobody, 1)


def test_other_actives_of_balance_alone_are_as_good_though_they_move_more():
    """The certificate of balance says something of moves, too, which other actives may break."""
    parts = {"0": (1, True), "1": (1, False)}
    members = {"a": ("A", {"0": [0]}, {}), "b": ("B", {"1": [0]}, {}), "c": ("A", {}, {})}
    group = streams(parts, members, standby_replicas=1)
    found = solve_streams(group, "balance", together_seconds=60)
    assert [term.value for term in found.standbys.terms] == [3, 6, 0]
    assert found.optimal_together
    (unchecked,) = found.check()
    assert "solver" in unchecked
