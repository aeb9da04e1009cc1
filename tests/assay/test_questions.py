"""Seventeen questions about groups, each answered by one command of the README."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.assay.calling import LATE, assay, write

ROOT = Path(__file__).parents[2]
CAPTURE = ROOT / "corpus" / "captures" / "3.9.2" / "all-describe.txt"
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
# Some lines of the answer to each question, with single spaces; ... matches any text.
ANSWERS = {
    "Which of my groups are not": [
        "Nobody reads 1 of 11 groups: empty-e with 1,328 records waiting (unless it is "
        "rebalancing); 1 is improvable: kpr-c by moving 2 partitions; ...",
    ],
    "Is this group fine?": [
        "kpr-c: improvable for sure. Moving 2 of 14 partitions gives everyone 7; ...",
        f"Most lag: {FULL} with 1,382 of 1,625 records, if consumers ...",
    ],
    "Which assignor should I run?": [
        "Of ... assignors tried, the broker's uniform 4.4.0, cooperative-sticky 4.4.0 and sticky "
        "4.4.0 are best: as good as can be in 10 of 10 groups. What members hold now is as good "
        "in 8. On some groups whose members read different topics, cooperative-sticky 4.4.0 and "
        "sticky 4.4.0 never end: docs/findings/shipped.md.",
    ],
    "Would changing range to cooperative-sticky help": [
        "range 6-8 yes no 2 (+2) 5 (+3) ...",
        "kafka-java/cooperative-sticky... 7 yes yes 0 2 ...",
    ],
    "What do three moves buy?": [" 0 4 ...", " 1 2 ...", " 2 0 ..."],
    "By how many moves can the lag": [
        "static-d: peak_lag 1,356 for 0 moves, 900 for 3 moves. 1 move gives 99% of what 3 would.",
        " 1 906 5-6 1 450 99% knee exhaustion",
        "an assignment with 1 move, in full: assay solve groups.txt --group static-d "
        "--assume-equal --objective 'peak_lag > moves' --at-most moves=1",
    ],
    "What would move if a consumer left?": [
        "scenario coop-a: 1 rebalance from the assignment as it is now, ...",
        "what happens: coop-1-... leaves",
        "range 1 2 (2) 7 (0) 11 ...",
        "kafka-java/cooperative-sticky... 0 2 (2) 0 (0) 4 ...",
        "what changes hands with the optimum:",
        " 2 from coop-1-... to coop-2-...: t0: 2-3",
    ],
    "What does a deploy stop, if consumers restart one after the other?": [
        "scenario coop-a: 8 rebalances from the assignment as it is now, ...",
        "what happens: coop-0-... leaves, coop-0-... joins, coop-1-... leaves and 5 more",
        "range 7 48 (24) 33 (12) 46 8 112 112 ...",
        "kafka-java/cooperative-sticky... 0 24 (24) 12 (12) 27 12 27 15 ...",
        "stopped: partitions revoked before the group joined, so that nobody read them meanwhile",
    ],
    "Why can it not be better?": [
        "14 partitions for 2 members are 7 each ...",
        f"- {FULL} owns 9 partitions and holds at most 7: 2 must go.",
    ],
    "Who lost what since yesterday?": [
        "kpr-c: 1 partition moved; loads were 6-8 and are 5-9.",
        f"{EMPTIER} 6 5 1 -",
    ],
    "Does my own plan hold?": ["plan 7 yes yes 0 2 ..."],
    "How do I fail a build on imbalance?": ["Nobody reads 1 of 11 groups: ..."],
    "And how do I fail a build on lag": [
        "assay: kpr-c: current: balance exceeds the optimum by 4, more than 0 (...",
        "assay: static-d: current: peak_lag exceeds the optimum by 456, more than 400, if ...",
    ],
    "How many consumers do I need to cut the lag of the busiest one to 70%?": [
        "kpr-c: 14 partitions, 2 members now. 2 members are enough for a peak lag of at most "
        "967 with balanced loads if the assignor looks at lag; with 1 it is 1,625, and with 3 "
        "it is 900. The 2 members of now need another assignment for that: as assigned, the peak "
        "lag is 1,382. 2 moves are enough, 1 if loads may be uneven (--objective moves). assay "
        "solve groups.txt --group kpr-c --assume-equal --objective 'balance > moves' --at-most "
        "peak_lag=967 prints who gives what to whom.",
        "Who makes the moves: none of the 5 assignors tried; roundrobin comes nearest, to 1,356. "
        "An assignor that looks at lag can, ...",
    ],
    "With how many pods": [
        "kpr-c: 14 partitions, pods of 2 threads. Threads are even with 1 and 7 pods. ...",
    ],
    "What should I change first?": [
        "kpr-c: the busiest of 2 members holds 9 of 14 partitions; ...",
        "Verdict of assay score (balance > moves): improvable.",
        "1. Let cooperative-sticky 4.4.0 assign: the busiest member then holds 7 instead of 9; 2 "
        "partitions move.",
        " Tried on this group: it gets there by as few moves as the optimum. ...",
        " The moves are those of the last rebalance; each restart on the way may move more.",
    ],
    "What if one member read t0 too?": [
        "aio-f: improvable for sure. Moving 1 of 9 partitions ...",
    ],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A user's folder: console text of today and yesterday, and a plan."""
    folder = tmp_path_factory.mktemp("questions")
    shutil.copy(CAPTURE, folder / "groups.txt")
    lines = CAPTURE.read_text("utf-8").splitlines(keepends=True)
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


def test_there_are_seventeen_questions_as_the_readme_says():
    assert len(ASKED) == len(ANSWERS) == 17
