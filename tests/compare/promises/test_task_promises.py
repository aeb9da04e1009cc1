from itertools import product
from random import Random

import pytest
from msgspec.structs import replace

from compare.promises.task_promises import (
    TASK_PROMISES,
    Placement,
    fewest_moves,
    fewest_restores,
    moves,
    restores,
)
from groups.documents.assay_streams import StreamsDocument, StreamsMember, Subtopology, Tasks

S0, S1, T0, U0 = ("s", 0), ("s", 1), ("t", 0), ("u", 0)
PROCESS = {"a1": "a", "a2": "a", "b1": "b", "c1": "c"}


def placed(
    tasks: dict[str, tuple[int, bool]],
    active: dict[str, list[tuple[str, int]]],
    standby: dict[str, list[tuple[str, int]]] | None = None,
    replicas: int = 0,
) -> Placement:
    def numbers(of: list[tuple[str, int]]) -> dict[str, list[int]]:
        return {s: [n for t, n in of if t == s] for s in dict.fromkeys(t for t, _ in of)}

    members = {
        name: StreamsMember(
            process=PROCESS[name],
            tasks=Tasks(active=numbers(has), standby=numbers((standby or {}).get(name, []))),
        )
        for name, has in active.items()
    }
    return Placement(
        StreamsDocument(
            format="assay-streams/1",
            group="g",
            standby_replicas=replicas,
            subtopologies={s: Subtopology(*said) for s, said in tasks.items()},
            members=members,
        )
    )


def holds(name: str, before: Placement, after: Placement | None = None) -> bool | None:
    return TASK_PROMISES[name].judge(before, after or before).holds


def drawn(draw: Random) -> tuple[Placement, list[Placement]]:
    """Return a random placement of tasks, and all assignments of the active tasks."""
    tasks = {"s": (draw.randint(0, 3), True), "t": (draw.randint(0, 2), False)}
    members = sorted(draw.sample(sorted(PROCESS), draw.randint(1, 3)))
    every = [(s, n) for s, (count, _) in tasks.items() for n in range(count)]
    has: dict[str, dict[str, list[tuple[str, int]]]] = {
        role: {m: [] for m in members} for role in ("active", "standby")
    }
    for task in every:
        for role in ("active", "standby"):
            if draw.random() < 0.8 and (role == "active" or task[0] == "s"):
                has[role][draw.choice(members)].append(task)
    before = placed(tasks, has["active"], has["standby"])
    after = [
        placed(tasks, {m: [t for t, o in zip(every, of, strict=True) if o == m] for m in members})
        for of in product(members, repeat=len(every))
    ]
    return before, after


def test_the_best_that_is_promised_is_the_best_of_all_assignments():
    draw = Random(2904)
    tried = 0
    for _ in range(150):
        before, every = drawn(draw)
        even = [one for one in every if holds("threads-even", one)]
        both = [one for one in even if holds("stateful-even", one)]
        assert fewest_moves(before) == min(moves(before, one) for one in even)
        all_three = [one for one in both if holds("processes-even", one)]
        assert fewest_restores(before) == min(restores(before, one) for one in all_three), before

        def spread(one: Placement) -> float:
            loads = one.loads()
            return sum(
                sum(loads[m] for m in loads if one.process(m) == p) ** 2 / n
                for p, n in one.threads.items()
            )

        least = min(map(spread, every))
        assert all(holds("processes-even", one) == (spread(one) < least + 1e-9) for one in every)
        tried += len(every)
    assert tried > 1500


def test_what_is_not_valid_is_named():
    tasks = {"s": (2, True), "t": (1, False)}
    active, standby = {"a1": [S0, T0], "b1": [S1]}, {"a1": [S1], "b1": [S0]}
    assert holds("valid", placed(tasks, active, standby, 1))
    for more, other, said in (
        ({"a1": [S0]}, standby, "('t', 0) has 0 actives"),
        ({"a1": [S0, T0, S1]}, standby, "('s', 1) has 2 actives"),
        ({}, {}, "('s', 0) has 0 standbys, expected 1"),
        ({}, {"a1": [S0], "b1": [S0]}, "a has ('s', 0) twice"),
        ({}, {"a1": [S1], "b1": [S0, T0]}, "('t', 0) has 1 standbys, expected 0"),
        ({"b1": [S1, U0]}, standby, "('u', 0) does not exist"),
    ):
        wrong = placed(tasks, active | more, other, 1)
        judgement = TASK_PROMISES["valid"].judge(wrong, wrong)
        assert judgement.holds is False
        assert any(said in one for one in judgement.measured["wrong"]), (said, judgement)


def test_one_process_has_no_room_for_a_standby():
    alone = placed({"s": (2, True)}, {"a1": [S0], "a2": [S1]}, {}, 1)
    assert holds("valid", alone)


@pytest.mark.parametrize(
    ("standby", "even"),
    [
        ({"c1": [S0], "a1": [S1]}, True),
        ({"b1": [S0], "c1": [S1, ("s", 2)]}, True),
        ({"b1": [S0, ("s", 2)], "c1": []}, False),
    ],
)
def test_a_standby_that_could_go_to_a_member_with_two_tasks_less_is_found(standby, even):
    active = {"a1": [S0], "b1": [S1], "c1": []}
    group = placed({"s": (2, True)}, active, standby, 1)
    assert holds("standbys-even", group) is even


def test_a_standby_cannot_go_where_its_process_has_a_copy():
    active = {"a1": [S0], "a2": [], "b1": [S1]}
    group = placed({"s": (2, True)}, active, {"b1": [S0], "a1": [S1]}, 1)
    found = TASK_PROMISES["standbys-even"].judge(group, group)
    assert found.measured == {"task": "s_1", "from": ["a1", 2], "to": ["a2", 0]}
    crowded = placed(
        {"s": (2, True)},
        {"a1": [], "a2": [], "b1": active["b1"] + active["a1"]},
        {"a1": [S0, S1]},
        1,
    )
    assert not holds("standbys-even", crowded)
    only = placed({"s": (2, True)}, {"a1": [S0, S1], "b1": []}, {"b1": [S0, S1]}, 1)
    assert holds("standbys-even", only)


def test_a_member_without_a_target_is_judged_by_its_tasks():
    group = placed({"s": (2, True)}, {"a1": [S0, S1], "b1": []}).group
    target = {"a1": Tasks({"s": [0]}), "b1": Tasks({"s": [1]})}
    told = {m: replace(one, target=target[m]) for m, one in group.members.items()}
    assert not holds("threads-even", Placement(group))
    assert holds("threads-even", Placement(replace(group, members=told)))
