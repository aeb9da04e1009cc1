"""Eleven questions about groups, each answered by one command of the README."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CAPTURE = ROOT / "corpus" / "captures" / "3.9.2" / "all-describe.txt"
FULL, EMPTIER = (
    "kpr-0-9e9480e3-fb86-495b-a540-9a7c10bdb384",
    "kpr-1-3de62e6c-0a77-44e8-9e87-737fc6f7b234",
)
PLAN = {
    FULL: {"t0": [0, 1, 2, 3, 4, 5], "t1": [0]},
    EMPTIER: {"t1": [1, 2, 3, 4], "t2": [0, 1, 2]},
}


def asked(question: str) -> str:
    """The command that stands beside a question."""
    found = re.search(rf"^\| [^|]*{re.escape(question)}[^|]* \| `([^`]*)` \|$", README, re.M)
    assert found is not None, f"the README does not ask: {question}"
    return found[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """What somebody has: console text of today and yesterday, and a plan."""
    folder = tmp_path_factory.mktemp("questions")
    shutil.copy(CAPTURE, folder / "groups.txt")
    lines = CAPTURE.read_text("utf-8").splitlines(keepends=True)
    # Yesterday the emptier member had one of the partitions that the fuller one has today.
    moved = next(i for i, line in enumerate(lines) if FULL in line)
    lines[moved] = lines[moved].replace(FULL, EMPTIER)
    (folder / "yesterday.txt").write_text("".join(lines), "utf-8")
    (folder / "plan.json").write_text(json.dumps(PLAN), "utf-8")
    return folder


@pytest.fixture(scope="module")
def answer(folder):
    def run(question: str, code: int = 0) -> list[str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-c", asked(question)],
            capture_output=True,
            text=True,
            cwd=folder,
            env=os.environ | {"PATH": path},
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done.stdout.splitlines()

    return run


def row(lines: list[str], name: str) -> list[str]:
    return next(line.split() for line in lines if line.startswith(name))


def test_is_this_group_fine(answer):
    lines = answer("Is this group fine?")
    assert lines[0].startswith(
        "kpr-c: improvable for sure. Moving 2 of 14 partitions gives everyone 7; "
    )


def test_which_of_my_groups_are_not(answer):
    lines = answer("Which of my groups are not")
    assert lines[0] == (
        "Nobody reads 1 of 11 groups: empty-e with 1,328 records waiting; 1 is improvable: kpr-c "
        "by moving 2 partitions; 2 have even partitions, but lag that could fall: static-d from "
        "1,356 to 906 (1 move), static848-d from 1,356 to 906 (1 move); 1 depends on who reads "
        "what."
    )


def test_would_cooperative_sticky_help(answer):
    lines = answer("Would changing range to cooperative-sticky help")
    assert row(lines, "range")[1:][:6] == ["6-8", "yes", "no", "2", "(+2)", "5"]
    assert row(lines, "kafka-java/cooperative-sticky")[1:6] == ["7", "yes", "yes", "0", "2"]


def test_what_do_three_moves_buy(answer):
    lines = answer("What do three moves buy?")
    points = [line.split() for line in lines if re.match(r" *[0-9]+ ", line)]
    assert [point[:2] for point in points] == [["0", "4"], ["1", "2"], ["2", "0"]]


def test_why_can_it_not_be_better(answer):
    said = " ".join(answer("Why can it not be better?"))
    assert "14 partitions for 2 members are 7 each" in said
    assert f"{FULL} owns 9 partitions and holds at most 7: 2 must go." in said


def test_who_lost_what_since_yesterday(answer):
    lines = answer("Who lost what since yesterday?")
    assert lines[0] == "kpr-c: 1 partition moved; loads were 6-8 and are 5-9."
    assert row(lines, EMPTIER)[1:] == ["6", "5", "1", "-"]


def test_does_my_own_plan_hold(answer):
    assert row(answer("Does my own plan hold?"), "plan")[1:6] == ["7", "yes", "yes", "0", "2"]


def test_a_build_fails_on_imbalance(answer):
    lines = answer("How do I fail a build on imbalance?", code=1)
    assert lines[0].startswith("Nobody reads 1 of 11 groups: ")


def test_which_consumer_has_most_lag(answer):
    lines = answer("Which consumer has most lag?")
    assert lines[1].startswith(f"Most lag: {FULL} with 1,382 of 1,625 records, if consumers ")


def test_how_many_consumers_are_needed(answer):
    lines = answer("How many consumers do I need?")
    assert lines[0] == (
        "kpr-c: 14 partitions, 2 members now. 2 members are enough for a peak lag of at most "
        "1,000 with balanced loads; with 1 it is 1,625."
    )


def test_what_if_a_member_read_another_topic_too(answer):
    lines = answer("What if one member read t0 too?")
    assert lines[0].startswith("aio-f: improvable for sure. Moving 1 of 9 partitions")


def test_what_to_change_first(answer):
    lines = answer("What should I change first?")
    assert lines[0].startswith("kpr-c: the busiest of 2 members holds 9 of 14 partitions; ")
    assert lines[1] == "Verdict of assay score (balance > moves): improvable."
    assert lines[2] == "1. Move 2 partitions: the busiest member then holds 7 instead of 9."
