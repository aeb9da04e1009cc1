"""Which assignors there are, how one is brought here, and one of your own."""

import json
import os
from unittest.mock import patch

from heuristics import assignors
from heuristics.shipped.java.java_client import RELEASES
from heuristics.shipped.task_assignor import task_assignors
from tests.assay.calling import (
    EVEN,
    LOPSIDED,
    assay,
    document_of,
    good,
    started,
    write,
)
from tests.clients import KEPT, called
from tests.compare.conftest import lopsided

MINE = """
def deal(group):
    print("a line for whoever debugs it")
    counts = zip(group.topics, group.partitions, strict=True)
    return {group.members[0]: {topic: range(count) for topic, count in counts}}

def wrong(group):
    return [0]
"""


def test_assignors_lists_what_score_takes_with_the_keys_of_the_format():
    document = document_of(good(assay("assignors", "--format", "json")))
    assert list(document) == ["format", "assignors"]
    assert document["format"] == "assay-assignors/1"
    rows = document["assignors"]
    names = [*assignors(), *(one.name for one in task_assignors())]
    assert [row["name"] for row in rows] == names
    assert "kafka-streams/sticky@4.4.0" in names
    for row in rows:
        assert list(row) == ["name", "kind", "source", "version", "available", "reason"]
        assert row["kind"] in ("written", "shipped")
        assert row["available"] == (row["reason"] is None)
        assert row["available"] or row["kind"] == "shipped"
    head, *lines = good(assay("assignors")).stdout.splitlines()
    assert head.split() == ["name", "kind", "version", "available", "source"]
    assert [line.split()[0] for line in lines[: len(rows)]] == names
    reasons = {row["reason"] for row in rows} - {None}
    assert {line.partition(": ")[2] for line in lines[len(rows) :]} == reasons


def test_without_jars_kafkas_classes_are_unavailable_with_the_command_that_brings_them(tmp_path):
    name = f"kafka-java/sticky@{RELEASES[0]}"
    gate = ("--format", "json", "--fail-above", "balance=0")
    nothing = patch.dict(os.environ, {"KAFKA_ASSAY_CACHE": str(tmp_path)})
    with nothing, patch.dict(KEPT, clear=True):
        listed = document_of(assay("assignors", "--format", "json"))["assignors"]
        run = assay("score", "-", "--assignor", name, *gate, stdin=json.dumps(EVEN))
        uneven = assay("score", "-", stdin=json.dumps(lopsided())).stdout
    row = next(row for row in listed if row["name"] == name)
    assert row["available"] is False
    assert row["reason"].endswith(f": assay fetch kafka-java@{RELEASES[0]}")
    scored = json.loads(run.stdout)["scores"][1]
    assert (scored["status"], scored["terms"]) == ("unavailable", None)
    assert scored["reason"] == row["reason"]
    assert run.returncode == 1
    assert f"{name}: the jars of kafka-clients {RELEASES[0]} are not here" in run.stderr
    # The text also tells which assignors were not tried before it names another one.
    assert "were not tried: assay fetch kafka-java." in uneven


def test_what_is_there_is_ready_at_once():
    called("kafka-java/sticky@4.4.0")
    assert good(assay("fetch", "kafka-java@4.4.0")).stdout == "kafka-java@4.4.0: ready\n"


def test_fetch_of_all_leaves_with_2_where_something_cannot_be_had(tmp_path):
    """Without a Java, Go and Node on the PATH, in a cache that cannot be written."""
    nothing = {"PATH": str(tmp_path), "JAVA_HOME": "", "KAFKA_ASSAY_CACHE": "/dev/null/x"}
    run = started("fetch", **nothing)
    assert run.returncode == 2
    lines = run.stderr.splitlines()
    assert lines
    assert all(line.startswith("assay: ") for line in lines)
    assert len({line.partition(": ")[2].partition(": ")[2] for line in lines}) == len(lines)


def test_one_of_your_own_is_scored_and_hunted_as_any_other(tmp_path):
    """It is played in tests/compare/test_own_assignors.py."""
    write(tmp_path, {"mine.py": MINE, "orders.json": LOPSIDED})
    own, as_json = ("--assignor", "mine:deal"), ("--format", "json")
    run = started("score", "orders.json", *own, "--assignor", "mine:wrong", *as_json, cwd=tmp_path)
    # What the assignor prints is no part of the command's output.
    assert (run.returncode, run.stderr) == (0, "a line for whoever debugs it\n")
    _, deal, wrong = document_of(run)["scores"]
    assert (deal["assignor"], deal["status"], deal["valid"]) == ("mine:deal", "scored", True)
    assert deal["terms"][0] == {"name": "balance", "value": 5, "excess": 4}
    assert wrong["status"] == "failed"
    assert wrong["reason"] == "it returned a list, expected an Assignment"
    hunt = ("hunt", "mine:deal", "--promise", "balanced", "--seconds", "2", *as_json)
    found = json.loads(assay(*hunt, cwd=tmp_path).stdout)
    assert (found["assignor"], found["promise"]) == ("mine:deal", "balanced")
    assert len(found["group"]["members"]) == 2
