"""How the tasks of a Kafka Streams group stand, and what is said of them."""

import json
import random
from dataclasses import replace
from itertools import combinations

from compare.judged import judge
from compare.reasons.explanation import explain
from compare.reasons.words import lead, moves
from compare.remedy import remedy
from compare.scores import Score, ScoreTerm
from compare.sentences import BY_CLASSIC_TASKS, BY_TASKS, sentence, who_moves
from compare.streams import tasks_of, tasks_sentences
from groups import Group
from groups.documents.assay_streams import of_mapping
from groups.files import read_groups
from groups.unknown import settled
from tests.assay.calling import assay, good, one_after_the_other, write
from tests.groups.importers.imported import CAPTURES

SHOP = {
    "format": "assay-streams/1",
    "group": "shop",
    "standby_replicas": 1,
    "subtopologies": {"0": {"tasks": 2, "stateful": False}, "1": {"tasks": 2, "stateful": True}},
    "members": {
        "a1": {"process": "a", "tasks": {"active": {"0": [0], "1": [0]}}},
        "a2": {"process": "a", "tasks": {"active": {"0": [1]}, "standby": {"1": [1]}}},
        "b1": {"process": "b", "tasks": {"active": {"1": [1]}, "standby": {"1": [0]}}},
    },
}


def with_tasks(**tasks):
    return SHOP | {
        "members": {
            name: one | {"tasks": tasks.get(name, one["tasks"])}
            for name, one in SHOP["members"].items()
        }
    }


def told(document):
    return list(tasks_sentences(Group.from_dict(document)))


def drawn(rng):
    """Return a random streams group, with copies of any tasks on any member."""
    sizes = {str(n): rng.randint(1, 3) for n in range(rng.randint(1, 3))}
    members = {}
    for m in range(rng.randint(1, 5)):
        roles = {
            role: {
                name: sorted(rng.sample(range(size), rng.randint(0, 1)))
                for name, size in sizes.items()
            }
            for role in ("active", "standby", "warmup")
        }
        members[f"m{m}"] = {"process": f"p{rng.randint(0, 2)}", "tasks": roles}
    return SHOP | {
        "standby_replicas": rng.choice([None, 0, 1, 2]),
        "members": members,
        "subtopologies": {
            name: {"tasks": size, "stateful": rng.choice([True, False, None])}
            for name, size in sizes.items()
        },
    }


def test_tasks_are_counted_as_by_going_through_every_pair_of_copies():
    rng = random.Random(29)
    misplaced = missing = 0
    for _ in range(500):
        document = drawn(rng)
        found = tasks_of(of_mapping(document))
        keeps = {name: one["stateful"] for name, one in document["subtopologies"].items()}
        every = [
            (role, name, number, one["process"])
            for one in document["members"].values()
            for role, tasks in one["tasks"].items()
            for name, numbers in tasks.items()
            for number in numbers
        ]
        # Two threads may claim a task as active: no copy of it is a standby.
        beside = {
            ((a[1], a[2]), a[3])
            for a, b in combinations(every, 2)
            if a[1:] == b[1:] and {a[0], b[0]} != {"active"}
        }
        assert set(found.misplaced) == beside
        for process, count in found.active.items():
            own = [one for one in every if one[0] == "active" and one[3] == process]
            assert count == len(own)
            assert found.stateful_by_process[process] == sum(keeps[one[1]] is True for one in own)
        assert sum(found.stateful) == sum(found.stateful_by_process.values())
        wanted, others = document["standby_replicas"], len(found.active) - 1
        lacks = [
            (name, number)
            for name, one in document["subtopologies"].items()
            for number in range(one["tasks"])
            if keeps[name]
            and sum(a[:3] == ("standby", name, number) for a in every) < min(wanted or 0, others)
        ]
        assert found.missing == (None if wanted is None else tuple(lacks))
        misplaced, missing = misplaced + bool(beside), missing + bool(lacks)
    assert min(misplaced, missing) > 50


def test_an_even_group_says_loads_and_that_standbys_stand_well():
    assert told(SHOP) == [
        "Active tasks: 1-3 a process, of 2 processes.",
        "Stateful tasks: 0-1 a thread, 1 a process.",
        "2 standbys, none beside another copy.",
        "Threads, processes and stateful tasks are as even as can be together.",
    ]


def test_what_could_be_more_even_is_said_with_the_fewest_tasks_that_restore_state():
    # Another thread of the process takes one of the two tasks with state.
    crowded = with_tasks(
        a1={"active": {"1": [0, 1]}}, a2={"active": {"0": [0]}}, b1={"active": {"0": [1]}}
    )
    assert told(crowded)[-1] == (
        "Stateful tasks could be more even: moving 1 task does that and restores no state, and no "
        "fewer do both (objective kip-1071)."
    )
    # There is one thread a process: a task with state leaves its copy, or goes to its standby.
    alone = {
        "a1": {"process": "a", "tasks": {"active": {"1": [0, 1]}}},
        "b1": {"process": "b", "tasks": {"active": {"0": [0, 1]}}},
    }
    assert (
        "moving 2 tasks does that and restores the state of 1, and no fewer do both"
        in told(SHOP | {"members": alone})[-1]
    )
    alone["b1"]["tasks"]["standby"] = {"1": [1]}
    assert "2 tasks does that and restores no state" in told(SHOP | {"members": alone})[-1]
    unknown = crowded | {"subtopologies": {"0": {"tasks": 2}, "1": {"tasks": 2}}}
    assert not any("more even" in line for line in told(unknown))


def test_moves_that_restore_no_state_may_be_more_than_it_takes_to_be_even():
    # A task of a can move to c, which has no copy of it. Two moves restore no state: c has a
    # warm-up of the task of b, and b is on the process of a.
    members = {
        "a": {"process": "p", "tasks": {"active": {"0": [0, 2, 3]}}},
        "b": {"process": "p", "tasks": {"active": {"0": [1]}}},
        "c": {"process": "q", "tasks": {"warmup": {"0": [1]}}},
    }
    topology = {"0": {"tasks": 4, "stateful": True}}
    uneven = SHOP | {"members": members, "subtopologies": topology}
    (judged,) = judge([Group.from_dict(uneven)])
    assert judged.verdict.moves == 1
    *_, said = told(uneven)
    assert "moving 2 tasks does that and restores no state, and no fewer do both" in said


def test_of_a_rebalance_only_the_tasks_that_move_besides_count_as_restored():
    # b is to take two tasks without a copy; one of them can go back to a.
    target = {"a": [], "b": [0, 1], "c": []}
    members = {
        name: {
            "process": name,
            "tasks": {"active": {"0": [0, 1]}} if name == "a" else {},
            "target": {"active": {"0": numbers}},
        }
        for name, numbers in target.items()
    }
    topology = {"0": {"tasks": 2, "stateful": True}}
    group = Group.from_dict(SHOP | {"members": members, "subtopologies": topology})
    *_, said = tasks_sentences(group.with_target())
    assert "moving 1 task does that and restores no state" in said


def test_faults_of_standbys_are_named():
    beside = with_tasks(
        b1={"active": {"1": [1]}}, a2={"active": {"0": [1]}, "standby": {"1": [0, 1]}}
    )
    assert told(beside)[-2] == (
        "Standbys that bring nothing, with another copy in their process: 1_0 on a."
    )
    assert told(with_tasks(b1={"active": {"1": [1]}}))[-2] == "1 task without all standbys: 1_0."
    unknown = SHOP | {
        "standby_replicas": None,
        "subtopologies": {"0": {"tasks": 2}, "1": {"tasks": 2}},
    }
    assert told(unknown)[1:] == [
        "Whether subtopologies 0 and 1 keep state is not known: assay capture asks the broker.",
        "2 standbys, none beside another copy; how many there should be is not known.",
    ]
    assert told(SHOP | {"members": {}}) == []
    warm = with_tasks(a2={"active": {"0": [1]}, "warmup": {"1": [1]}}) | {"standby_replicas": 0}
    assert told(warm)[2] == "1 standby and 1 warm-up, none beside another copy."


def test_of_a_thread_the_subtopologies_that_it_reads_are_called_so(tmp_path):
    folder = write(tmp_path, {"shop.json": SHOP})
    said = good(assay("explain", "shop.json", "--member", "a1", cwd=folder)).stdout
    said = " ".join(said.split())
    assert "It reads subtopology 0 (2 tasks, read by a2 and b1 too) and subtopology 1" in said


def test_sizes_in_pods_speak_of_processes_and_name_no_assignor_of_consumers(tmp_path):
    folder = write(tmp_path, {"shop.json": with_tasks(a2={"active": {"0": [1]}})})
    said = good(assay("size", "shop.json", "--threads", "3", cwd=folder)).stdout
    assert "Now 2 processes hold 1-3 each, and 3 threads 1-2." in said
    assert said.endswith("pods even where threads are not: in the best assignment.\n")


def test_who_makes_the_moves_of_tasks_is_no_assignor_of_kafkas_for_lag(tmp_path):
    members = {
        "a": {"process": "p", "tasks": {"active": {"0": [0, 1]}}},
        "b": {"process": "q", "tasks": {"active": {"0": [2, 3]}}},
    }
    topology = {"0": {"tasks": 4, "stateful": False, "lag": [50, 40, 2, 1]}}
    late = SHOP | {"members": members, "subtopologies": topology}
    folder = write(tmp_path, {"late.json": late})
    for more in ((), ("--objective", "balance > peak_lag > moves")):
        said = good(assay("score", "late.json", *more, cwd=folder)).stdout
        assert "no assignor of Kafka's, as none looks at lag. One of your own can in the" in said
        assert "One task (0_0) alone has 50 of lag" in said
    said = good(assay("score", "late.json", cwd=folder)).stdout
    assert "from 90 to 51 by moving 2 tasks" in said
    (judged,) = judge([Group.from_dict(with_tasks(a2={}, b1={"active": {"0": [1], "1": [1]}}))])
    row = Score("kafka-streams/sticky@4.4.0", "scored", valid=True)
    missed = (ScoreTerm("balance", 2, 2), ScoreTerm("stickiness", 0, None))
    assert remedy(judged, [replace(row, terms=missed)], None).startswith(
        "Who makes the moves: not the one assignor tried. One of your own can in the classic"
    )
    assert remedy(judged, [], None) == f"{who_moves(BY_TASKS)}."
    threads = enumerate((1, 1, 1, 1))
    rows = [f"shop t {p} 1 1 0 shop-{m} /h shop-StreamThread-{m}" for p, m in threads]
    rows += ["shop u 0 1 1 0 shop-2 /h shop-StreamThread-2"]
    header = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID"
    text = "\n".join([header, *rows, ""])
    (classic,) = judge([settled(one) for one in read_groups("-", standard_input=text.encode())])
    said = f"{who_moves(BY_CLASSIC_TASKS)}."
    assert remedy(classic, [], None) == said
    assert moves(explain(classic.best))[-1] == f"The best assignment moves just 1. {said}"
    assert lead(classic.group, None, whoever=False) == (
        "This holds if each partition is a task of its own."
    )
    assert classic.group.subscription_known.all()  # one thread holds nothing of u, and reads it
    assert sentence(classic).startswith(
        "shop: improvable if each partition is a task of its own. Mov"
    )


def test_active_tasks_are_judged_as_partitions_of_threads_on_processes():
    (judged,) = judge([Group.from_dict(with_tasks(a2={}, b1={"active": {"0": [1], "1": [1]}}))])
    assert judged.verdict.says == "improvable"
    (judged,) = judge([Group.from_dict(SHOP)])
    assert judged.verdict.says == "as good as can be"
    group = judged.group
    assert (group.n_partitions, group.places("host").names) == (4, ("a", "b"))
    assert group.everybody_reads_all


def test_score_says_tasks_threads_and_processes_and_calls_no_assignor_of_consumers(tmp_path):
    six = {f"{p}{t}": {"process": p, "tasks": {}} for p in "ab" for t in (1, 2)}
    for name, numbers in {"a1": [0, 1], "a2": [2, 3], "b1": [4], "b2": [5]}.items():
        six[name] = {"process": name[0], "tasks": {"active": {"0": numbers}}}
    uneven = SHOP | {"subtopologies": {"0": {"tasks": 6, "stateful": False}}, "members": six}
    lines = [json.dumps(one) for one in (uneven, SHOP | {"group": "till"})]
    folder = write(tmp_path, {"one.json": uneven})
    (folder / "two.jsonl").write_text("\n".join(lines))
    capture = str(CAPTURES / "streams-4.2.1/rebalancing-members-verbose.txt")
    runs = one_after_the_other(
        {
            "one": ("score", "one.json"),
            "two": ("score", "two.jsonl"),
            "range": ("score", "one.json", "--assignor", "range"),
            "rebalancing": ("score", capture),
            "advise": ("advise", "one.json"),
            "diff": ("diff", "one.json", "one.json"),
            "import": ("import", capture, "-o", "made.json"),
            "again": ("score", "made.json"),
        },
        folder,
    )
    runs = {
        name: good(run).stdout if name in ("one", "two") else run.stdout + run.stderr
        for name, run in runs.items()
    }
    said = runs["one"]
    assert "Traceback" not in "".join(runs.values())
    assert "error inside" not in "".join(runs.values())
    assert "4 threads hold 1-2 each of 6 tasks" in said
    assert "Processes are uneven: a has 4 for 2 threads, b 2 for 2 threads." in said
    assert "range" not in said
    assert "it assigns partitions to consumers, not tasks to threads" in runs["range"]
    assert {"shop", "till"} <= set(runs["two"].split())
    assert "2 tasks are still to be handed over; judged as it will be then" in runs["rebalancing"]
    assert (
        runs["again"].partition("\nassignor")[0] == runs["rebalancing"].partition("\nassignor")[0]
    )
    assert "is of Kafka Streams, and advice is for consumers; assay score says" in runs["advise"]


def test_standbys_that_crowd_one_thread_are_said_to_and_even_ones_are_not():
    def threads(**standbys):
        members = {}
        for task, name in enumerate(("a1", "a2", "b1", "b2")):
            tasks = {"active": {"0": [task]}, "standby": {"0": standbys.get(name, [])}}
            members[name] = {"process": name[0], "tasks": tasks}
        topology = {"0": {"tasks": 4, "stateful": True}}
        return told(SHOP | {"subtopologies": topology, "members": members})

    assert threads(a1=[2, 3], b1=[0, 1])[-1] == (
        "Standbys could be more even: with them threads have 1-3 tasks, and could have 2 beside "
        "the same active tasks."
    )
    assert not any("Standbys" in said for said in threads(a1=[2], a2=[3], b1=[0], b2=[1]))
    # A missing standby is reported as missing, not as misplaced.
    assert not any("Standbys" in said for said in threads(a1=[2, 3], b1=[0]))
