"""Nineteen questions about groups, each answered by one command of the README."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.assay.calling import ALL_GROUPS, LATE, assay, write

ROOT = Path(__file__).parents[2]
ASKED = re.findall(
    r"^\| ([^|]+\?) \| `assay ([^`]*)` \|$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE
)
FULL, EMPTIER = (
    "kpr-0-9e9480e3-fb86-495b-a540-9a7c10bdb384",
    "kpr-1-3de62e6c-0a77-44e8-9e87-737fc6f7b234",
)
PLAN = {
    FULL: {"t0": [0, 1, 2, 3, 4, 5], "t1": [0]},
    EMPTIER: {"t1": [1, 2, 3, 4], "t2": [0, 1, 2]},
}
# A line or two of the answer to each question, with single spaces; ... matches any text.
ANSWERS = {
    "Which of my groups are not": [
        "11 groups: 1 that nobody reads; 1 improvable; 1 that depends on who reads what; ...",
        "- kpr-c: let an assignor move 2 partitions",
    ],
    "My groups have group.protocol=consumer": [
        "1. Let an assignor that looks at lag move 1 partition: ...",
        " Who makes the moves: no assignor of Kafka's, ... a class of yours in the brokers' "
        "group.consumer.assignors, ...",
        "- another assignor: all 2 tried leave the busiest member with 1,356",
    ],
    "Is this group fine?": [
        "kpr-c: improvable, whoever reads what. Moving 2 of 14 partitions ..."
    ],
    "Lag piles up on one consumer": [
        "1. Let an assignor that looks at lag move 1 partition: the busiest member then has 906 "
        "of lag instead of 1,356 (33% less)."
    ],
    "Which assignor should I run?": [
        "Of ... assignors tried, the broker's uniform 4.4.0, cooperative-sticky 4.4.0 and sticky "
        "4.4.0 are best: as good as can be in 10 of 10 groups. ... never end: ...",
    ],
    "Would changing range to cooperative-sticky help": [
        "range 6-8 yes no 2 (+2) 5 (+3) ...",
        "kafka-java/cooperative-sticky... 7 yes yes 0 2 ...",
    ],
    "What does each move buy?": [" 1 2 ..."],
    "How far does the lag of the busiest consumer": [
        "static-d: peak_lag 1,356 for 0 moves, 900 for 3 moves. 1 move gives 99% of what 3 would.",
        " 1 906 5-6 1 450 99% knee exhaustion",
    ],
    "What would move if a consumer left?": [
        "what happens: coop-1-... leaves",
        "range 1 2 (2) 7 (0) 11 ...",
    ],
    "What does a deploy stop, if consumers restart one after the other?": [
        "what happens: coop-0-... leaves, coop-0-... joins, coop-1-... leaves and 5 more",
        "range 7 48 (24) 33 (12) 46 8 112 112 ...",
    ],
    "Why can it not be better?": [f"- {FULL} owns 9 partitions and holds at most 7: 2 must go."],
    "Who lost what since yesterday, and": [
        "kpr-c: 1 partition moved; loads were 6-8 and are 5-9."
    ],
    "Does my own plan hold?": ["plan 7 yes yes 0 2 ..."],
    "How do I fail a build on imbalance?": ["1 of 11 groups fails --fail-above balance=0: ..."],
    "And how do I fail a build on lag": [
        "assay: kpr-c: current: balance exceeds the optimum by 4, more than 0 (...",
        "assay: static-d: current: peak_lag exceeds the optimum by 456, more than 400, if ...",
    ],
    "How many consumers do I need to cut the lag of the busiest one to 70%?": [
        "kpr-c: ... 2 members are enough for a peak lag of at most 967 with balanced loads if the "
        "assignor looks at lag; with 1 it is 1,625, and with 3 it is 900. ... 2 moves are enough. "
        "assay solve groups.txt --group kpr-c ... prints who gives what to whom. If loads may "
        "be uneven, 1 move is enough, with --objective moves.",
        "Who makes the moves: none of the 5 assignors tried; roundrobin comes nearest, to 1,356. "
        "...",
    ],
    "With how many pods": ["kpr-c: 14 partitions, pods of 2 threads. Threads are even with ..."],
    "What should I change first?": ["1. Let cooperative-sticky 4.4.0 assign: ..."],
    "What if one member read t0 too?": [
        "aio-f: improvable, whoever reads what. Moving 1 of 9 ..."
    ],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A user's folder: console text of today and yesterday, and a plan."""
    folder = tmp_path_factory.mktemp("questions")
    shutil.copy(ALL_GROUPS, folder / "groups.txt")
    lines = ALL_GROUPS.read_text("utf-8").splitlines(keepends=True)
    # Yesterday the emptier member had one of the partitions that the fuller one has today.
    moved = next(i for i, line in enumerate(lines) if FULL in line)
    lines[moved] = lines[moved].replace(FULL, EMPTIER)
    (folder / "yesterday.txt").write_text("".join(lines), "utf-8")
    (folder / "plan.json").write_text(json.dumps(PLAN), "utf-8")
    return folder


@pytest.mark.parametrize("question", ANSWERS)
def test_the_command_beside_a_question_answers_it(folder, question):
    ((_, command),) = [asked for asked in ASKED if asked[0].startswith(question)]
    run = assay(*shlex.split(command), cwd=folder)
    assert run.returncode == ("fail a build" in question), run.stderr
    said = re.sub(" +", " ", run.stdout + run.stderr)
    for line in ANSWERS[question]:
        assert re.search(f"^{re.escape(line)}$".replace(r"\.\.\.", ".*"), said, re.MULTILINE), said


KPR, TRIED = "groups.txt --group kpr-c", "--assignor roundrobin"
# Commands, and the next command that each answer names.
NAMING = {
    f"score {KPR} --assume-equal {TRIED} --time-limit 3": (
        f"advise {KPR} {TRIED} --assume-equal --time-limit 3 --lower peak_load"
    ),
    f"score {KPR} --reads 'kpr-*=t0,t1,t2' {TRIED}": (
        f"advise {KPR} {TRIED} --reads 'kpr-*=t0,t1,t2' --lower peak_load"
    ),
    # Without the assumption no advice could name an assignor.
    f"score {KPR} {TRIED}": f"advise {KPR} {TRIED} --assume-equal --lower peak_load",
    f"score groups.txt --objective balance {TRIED}": (
        f"score groups.txt --group NAME {TRIED} --objective balance"
    ),
    f"score late.json --reset latest {TRIED}": (
        "solve late.json --group late --reset latest --objective 'balance > peak_lag > moves'"
    ),
    f"size {KPR} --assume-equal --rate 7 --target peak_time=3m": (
        f"solve {KPR} --assume-equal --rate 7 --objective 'balance > moves' --at-most "
        "peak_time=180"
    ),
    f"advise late.json --reset latest {TRIED}": (
        "frontier late.json --group late --reset latest moves peak_lag"
    ),
}


def test_a_command_that_is_named_next_asks_with_the_same_options_and_runs_as_it_stands(folder):
    lag = {"partitions": 6, "lag": [600, 500, 400, 300, 1, 1]}
    write(folder, {"late.json": LATE | {"topics": {"t": lag}}})
    for asked, command in NAMING.items():
        answer = assay(*shlex.split(asked), cwd=folder).stdout
        assert re.search(rf"assay {re.escape(command)}(\.?$| says | prints )", answer, re.M), (
            answer
        )
        run = assay(*shlex.split(command.replace("NAME", "coop-a")), cwd=folder)
        assert run.returncode == 0, run.stderr


def test_there_are_nineteen_questions_as_the_readme_says():
    assert len(ASKED) == len(ANSWERS) == 19
