"""An assignor of your own on the command line: --assignor module:function."""

import json
import re
from pathlib import Path

import pytest

from tests.assay.calling import LOPSIDED, document_of, one_after_the_other, one_line, started

MINE = """
def deal(group):
    print("a line for whoever debugs it")
    counts = zip(group.topics, group.partitions, strict=True)
    return {group.members[0]: {topic: range(count) for topic, count in counts}}

def wrong(group):
    return [0]
"""
EVENTS = {
    "format": "assay-scenario/1", "name": "one leaves", "group": LOPSIDED,
    "events": [{"leave": ["c1"]}],
}  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    (folder / "mine.py").write_text(MINE)
    (folder / "orders.json").write_text(json.dumps(LOPSIDED))
    (folder / "events.json").write_text(json.dumps(EVENTS))
    return folder


@pytest.fixture(scope="module")
def runs(place) -> dict:
    own = ("--assignor", "mine:deal")
    as_json = ("--format", "json")
    calls = {
        "score": ("score", "orders.json", *own, "--assignor", "mine:wrong", *as_json),
        "table": ("score", "orders.json", *own, "--assignor", "mine:wrong"),
        "gate": ("score", "orders.json", *own, "--fail-above", "balance=3"),
        "scenario": ("scenario", "events.json", *own, *as_json),
        "hunt": ("hunt", "mine:deal", "--promise", "balanced", "--groups", "1", *as_json),
        "typo": ("score", "orders.json", "--assignor", "mine:dael"),
        "no module": ("hunt", "mien:deal"),
    }
    score = {"score": started(*calls.pop("score"), cwd=place)}
    return score | one_after_the_other(calls, place)


def test_it_is_scored_as_any_other_and_its_own_lines_go_to_standard_error(runs):
    run = runs["score"]
    assert (run.returncode, run.stderr) == (0, "a line for whoever debugs it\n")
    rows = {row["assignor"]: row for row in document_of(run)["scores"]}
    deal, wrong = rows["mine:deal"], rows["mine:wrong"]
    assert (deal["status"], deal["valid"]) == ("scored", True)
    assert deal["terms"][0] == {"name": "balance", "value": 5, "excess": 4}
    assert (wrong["status"], wrong["reason"]) == (
        "failed", "it returned a list, expected an Assignment",
    )  # fmt: skip


def test_it_goes_through_a_scenario(runs):
    journeys = document_of(runs["scenario"])["journeys"]
    assert [journey["assignor"] for journey in journeys] == ["optimum", "mine:deal"]


def test_its_promises_are_hunted(runs):
    found = json.loads(runs["hunt"].stdout)
    assert (found["assignor"], found["promise"]) == ("mine:deal", "balanced")
    assert len(found["group"]["members"]) == 2


def test_a_gate_judges_it(runs):
    assert runs["gate"].returncode == 1
    assert (
        "orders: mine:deal: balance exceeds the optimum by 4, more than 3" in runs["gate"].stderr
    )


def test_what_is_not_there_is_bad_usage(runs):
    assert re.match(r"--assignor: mine:dael: there is no 'dael' in", one_line(runs["typo"], 2))
    line = one_line(runs["no module"], 2)
    assert line.endswith("there is no module mien in this folder, nor is one installed")
