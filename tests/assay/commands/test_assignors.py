import json
import subprocess
import sys

import pytest

from heuristics import assignor_named, assignors
from tests.assay.calling import EVEN, assay, document_of, good, one_line, side_by_side, started


def test_assignors_lists_what_score_takes_with_the_keys_of_the_format():
    runs = side_by_side(
        {"json": (("assignors", "--format", "json"), {}), "table": (("assignors",), {})}
    )
    document = document_of(good(runs["json"]))
    assert list(document) == ["format", "assignors"]
    assert document["format"] == "assay-assignors/1"
    assert [row["name"] for row in document["assignors"]] == list(assignors())
    for row in document["assignors"]:
        assert list(row) == ["name", "kind", "source", "version", "available", "reason"]
        assert row["kind"] in ("written", "shipped")
        assert row["available"] == (row["reason"] is None)
        assert row["available"] or row["kind"] == "shipped"
    lines = good(runs["table"]).stdout.splitlines()
    assert lines[0].split() == ["name", "kind", "version", "available", "source"]
    count = len(assignors())
    assert [line.split()[0] for line in lines[1 : count + 1]] == list(assignors())
    reasons = {row["reason"] for row in document["assignors"]} - {None}
    assert {line.partition(": ")[2] for line in lines[count + 1 :]} == reasons


def test_without_jars_kafkas_classes_are_unavailable_with_the_command_that_brings_them(tmp_path):
    nothing = {"stdin": json.dumps(EVEN), "KAFKA_ASSAY_CACHE": str(tmp_path)}
    listed = json.loads(started("assignors", "--format", "json", **nothing).stdout)["assignors"]
    row = next(row for row in listed if row["name"] == "kafka-java/sticky@4.4.0")
    assert row["available"] is False
    assert row["reason"].endswith(": assay fetch kafka-java@4.4.0")
    name = ("--assignor", "kafka-java/sticky@4.4.0")
    run = started("score", "-", *name, "--format", "json", **nothing)
    scored = json.loads(run.stdout)["scores"][1]
    assert (run.returncode, scored["status"], scored["terms"]) == (0, "unavailable", None)
    assert scored["reason"] == row["reason"]
    failing = started("score", "-", *name, "--fail-above", "balance=0", **nothing)
    assert failing.returncode == 1
    assert (
        "kafka-java/sticky@4.4.0: the jars of kafka-clients 4.4.0 are not here" in failing.stderr
    )


def test_a_command_in_brackets_is_printed_as_it_is(tmp_path):
    """Rich takes brackets for markup, and would leave the extra's name out."""
    program = (
        "from assay.terminal import Column, show_table\n"
        "show_table(['pip install kafka-assay[java]'], Column('available', str))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "kafka-assay[java]" in run.stdout


def test_what_is_there_is_ready_at_once():
    if assignor_named("kafka-java/sticky@4.4.0").missing() is not None:
        pytest.skip(assignor_named("kafka-java/sticky@4.4.0").missing())
    run = assay("fetch", "kafka-java@4.4.0")
    assert (run.returncode, run.stdout) == (0, "kafka-java@4.4.0: ready\n")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("kafka-jaba", "client: unknown name 'kafka-jaba'; nearest: kafka-java, kafka"),
        ("kafka-java@../x", "assignor: 'kafka-java@../x' has no version after the @"),
        ("aiokafka@0.1.0", "aiokafka@0.1.0: aiokafka "),
    ],
)
def test_what_cannot_be_fetched_is_refused_in_one_line(name, said):
    assert one_line(assay("fetch", name), 2).startswith(said)


def test_fetch_of_all_leaves_with_2_where_something_cannot_be_had(tmp_path):
    """Without a Java, Go and Node on the PATH, in a cache that cannot be written."""
    nothing = {"PATH": str(tmp_path), "JAVA_HOME": "", "KAFKA_ASSAY_CACHE": "/dev/null/x"}
    run = started("fetch", **nothing)
    assert run.returncode == 2
    lines = run.stderr.splitlines()
    assert lines
    assert all(line.startswith("assay: ") for line in lines)
    assert len({line.partition(": ")[2].partition(": ")[2] for line in lines}) == len(lines)


def test_an_assignor_as_people_know_it_is_scored_under_its_full_name(tmp_path):
    row = assignor_named("CooperativeStickyAssignor")
    for name in ("cooperative-sticky", "CooperativeStickyAssignor"):
        run = assay("score", "-", "--assignor", name, "--format", "json", stdin=json.dumps(EVEN))
        scored = document_of(good(run))["scores"][1]
        assert scored["assignor"] == row.name
        assert scored["status"] == ("scored" if row.missing() is None else "unavailable")
