"""The commands around shipped assignors: what is missing, how it comes, findings as programs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from heuristics import assignor_named

ASSAY = Path(sys.executable).with_name("assay")
CORPUS = Path(__file__).parents[2] / "corpus"
GROUP = {
    "format": "assay-group/1", "group": "g", "topics": {"t": 2},
    "members": {"a": {"subscription": ["t"]}, "b": {"subscription": ["t"]}},
}  # fmt: skip


def assay(*arguments, **environment) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(ASSAY), *map(str, arguments)],
        input=json.dumps(GROUP),
        capture_output=True,
        text=True,
        timeout=180,
        env=os.environ | environment,
        check=False,
    )


def refused(run: subprocess.CompletedProcess) -> str:
    assert (run.returncode, run.stderr.count("\n")) == (2, 1), run.stderr
    return run.stderr


def test_without_jars_kafkas_classes_are_unavailable_with_the_command_that_brings_them(tmp_path):
    nothing = {"KAFKA_ASSAY_CACHE": str(tmp_path)}
    listed = json.loads(assay("assignors", "--format", "json", **nothing).stdout)["assignors"]
    row = next(row for row in listed if row["name"] == "kafka-java/sticky@4.4.0")
    assert row["available"] is False
    assert row["reason"].endswith(": assay fetch kafka-java@4.4.0")
    name = ("--assignor", "kafka-java/sticky@4.4.0")
    run = assay("score", "-", *name, "--format", "json", **nothing)
    scored = json.loads(run.stdout)["scores"][1]
    assert (run.returncode, scored["status"], scored["terms"]) == (0, "unavailable", None)
    assert scored["reason"] == row["reason"]
    failing = assay("score", "-", *name, "--fail-above", "balance=0", **nothing)
    assert failing.returncode == 1
    assert (
        "kafka-java/sticky@4.4.0: the jars of kafka-clients 4.4.0 are not here" in failing.stderr
    )


def test_a_command_in_brackets_is_printed_as_it_is(tmp_path):
    """Rich takes brackets for markup, and would leave the extra's name out."""
    program = (
        "from assay.printing import print_assignors\n"
        "row = dict.fromkeys(('name', 'kind', 'source', 'version'), 'x')\n"
        "print_assignors([row | {'available': False, 'reason': 'pip install kafka-assay[java]'}])"
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
        ("kafka-jaba", "assay: client: unknown name 'kafka-jaba', expected one of kafka-java, "),
        ("kafka-java@../x", "assay: assignor: 'kafka-java@../x' has no version after the @"),
        ("aiokafka@0.1.0", "assay: aiokafka@0.1.0: aiokafka "),
    ],
)
def test_what_cannot_be_fetched_is_refused_in_one_line(name, said):
    assert refused(assay("fetch", name)).startswith(said)


def test_a_finding_is_printed_as_a_program_or_written_under_its_own_name(tmp_path):
    finding = ("kafka-java-sticky-terminates", "--findings", CORPUS / "findings.jsonl")
    printed = assay("reproduce", *finding)
    assert printed.returncode == 0, printed.stderr
    assert "class KafkaJavaStickyTerminatesTest {" in printed.stdout
    assert "assertTimeoutPreemptively" in printed.stdout
    written = assay("reproduce", *finding, "-o", tmp_path / "new")
    file = tmp_path / "new" / "KafkaJavaStickyTerminatesTest.java"
    assert written.stdout == f"{file}\n"
    assert file.read_text() == printed.stdout


def test_running_a_program_says_whether_it_reproduces_the_finding(tmp_path):
    name = "kafka-python/sticky"
    if assignor_named(name).missing() is not None:
        pytest.skip(assignor_named(name).missing())
    identity = "kafka-python-sticky-optimal-balance"
    lines = (CORPUS / "findings.jsonl").read_text().splitlines()
    finding = next(found for found in map(json.loads, lines) if found["id"] == identity)
    (tmp_path / "f.jsonl").write_text(
        json.dumps(finding) + "\n" + json.dumps(finding | {"id": "kept", "group": GROUP}) + "\n"
    )
    asked = ("--findings", tmp_path / "f.jsonl", "--run")
    run = assay("reproduce", identity, *asked)
    assert (run.returncode, run.stdout) == (0, f"{identity}: reproduced\n")
    assert "1 failed" in run.stderr
    run = assay("reproduce", "kept", *asked)
    assert (run.returncode, run.stdout) == (1, "kept: not reproduced: the test passes\n")


def test_a_finding_that_is_not_there_or_has_no_program_is_refused_in_one_line():
    file = ("--findings", CORPUS / "findings.jsonl")
    assert "no finding 'nothing', only " in refused(assay("reproduce", "nothing", *file))
    said = refused(assay("reproduce", "range-balanced", *file))
    assert said.startswith("assay: range-balanced: no program for range, only for kafka-java, ")
