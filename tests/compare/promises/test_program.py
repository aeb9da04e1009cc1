"""Programs: each finding on a shipped assignor, in its client's language, run by its tools."""

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from compare.promises.findings import Finding, read_findings
from compare.promises.program import program
from compare.promises.promise import PROMISES
from compare.promises.rerun import Rerun, rerun, rerun_in_java
from groups import Failed, Group
from heuristics import WRITTEN, assignor_named
from heuristics.shipped import CLIENTS
from tests.clients import called
from tests.optimal.small_groups import document
from tests.processes import in_python

pytestmark = pytest.mark.clients

IN_RACKS = document(
    {"t": {"partitions": 2, "racks": [["a", "b"], ["b"]]}, "u": 1},
    {
        "m0": {"subscription": ["t", "u"], "owned": {"t": [1], "u": [0]}, "generation": 1,
               "rack": "a", "instance_id": "i-1"},
        "m1": {"subscription": ["t", "u"], "rack": "b", "instance_id": "i-0"},
    },
)  # fmt: skip
FILE = Path(__file__).parents[3] / "corpus" / "findings.jsonl"
FINDINGS = [found for found in read_findings(FILE) if found.assignor not in WRITTEN]


def language(finding) -> str:
    return CLIENTS[finding.assignor.partition("/")[0]].language


@pytest.mark.parametrize(
    "finding", [pytest.param(f, id=f.id) for f in FINDINGS if language(f) in ("go", "node")]
)
def test_each_finding_is_reproduced_by_a_program_in_the_language_of_its_client(tmp_path, finding):
    called(finding.assignor)
    tells_what_breaks(finding, rerun(program(finding), finding.assignor, tmp_path))


def test_each_finding_in_python_is_reproduced_by_its_program_and_one_pytest_runs_all(tmp_path):
    found = [finding for finding in FINDINGS if language(finding) == "python"]
    # An assignor that never returns runs on in its thread until Python ends, so it comes last.
    found.sort(key=lambda finding: finding.promise == "terminates")
    for finding in found:
        called(finding.assignor)
        (tmp_path / program(finding).file).write_text(program(finding).text, "utf-8")
    options = ("-q", "-p", "no:cacheprovider", "--rootdir", tmp_path, "--junitxml", "report.xml")
    run = in_python("-m", "pytest", *options, *(program(f).file for f in found), cwd=tmp_path)
    assert not re.search("warning", run.stdout, re.IGNORECASE)
    cases = ElementTree.parse(tmp_path / "report.xml").iter("testcase")
    said = {case.get("classname"): case.findtext("failure") for case in cases}
    assert len(said) == len(found)
    for finding in found:
        failure = said[Path(program(finding).file).stem]
        tells_what_breaks(finding, Rerun(failure is not None, failure or ""))


@pytest.mark.parametrize("client", ["kafka-java", "kafka-broker"])
def test_each_finding_in_java_is_reproduced_by_its_program_and_all_run_in_one_jvm(
    tmp_path, client
):
    found = [finding for finding in FINDINGS if finding.assignor.partition("/")[0] == client]
    # An assignor that never returns runs on in its thread until the JVM ends, so it comes last.
    found.sort(key=lambda finding: finding.promise == "terminates")
    called(found[0].assignor)
    programs = [program(finding) for finding in found]
    came = rerun_in_java(programs, found[0].assignor, tmp_path)
    for finding, one in zip(found, came, strict=True):
        tells_what_breaks(finding, one)


def tells_what_breaks(finding, came):
    assert came.reproduced, came.output
    assert "made:" in came.output or finding.promise in ("terminates", "answers", "settles")
    assert finding.promise != "terminates" or "no answer within 5 seconds; it is" in came.output
    assert finding.promise != "terminates" or "a second later it is" in came.output
    assert finding.promise != "settles" or came.output.count("round:") >= 3
    assert "better:" in came.output or finding.promise == "idempotent"
    assert not re.search("warning|SLF4J|deprecated", came.output, re.IGNORECASE)


@pytest.mark.parametrize("finding", [pytest.param(f, id=f.id) for f in FINDINGS])
def test_a_program_needs_nothing_of_ours_and_says_what_is_expected_and_what_happens(finding):
    made = program(finding)
    ours = r"\b(import|from) (assay|compare|groups|heuristics|live|optimal)\b"
    assert not re.search(ours, made.text)
    head = " ".join(line.removeprefix("//").strip() for line in made.text.splitlines()[:40])
    assert f"Expected: {PROMISES[finding.promise].text}. Happens: " in head
    assert f"Run: {made.command} " in head
    assert " member reads owns " in " ".join(head.split())


@pytest.mark.parametrize("finding", [pytest.param(f, id=f.id) for f in FINDINGS if f.why])
def test_the_head_of_a_program_tells_which_turns_repeat_or_which_moves_are_missed(finding):
    lines = [line.removeprefix("//").rstrip() for line in program(finding).text.splitlines()]
    first = next(at for at, line in enumerate(lines) if line.strip().startswith("Why: "))
    last = lines.index("", first)
    assert lines[first - 1].endswith(".")
    said = " ".join(" ".join(lines[first:last]).split())
    assert said == f"Why: {' - '.join(finding.why)}"
    assert all(len(line) <= 99 for line in program(finding).text.splitlines()[:last])


def test_a_folder_holds_the_build_file_of_its_language_with_the_version_of_the_client():
    beside = {}
    for finding in FINDINGS:
        client, version = finding.assignor.split("/")[0], finding.assignor.split("@")[1]
        files = program(finding).beside
        beside[client] = sorted(files)
        assert client == "librdkafka" or version in files[beside[client][0]]
    assert beside["librdkafka"] == beside["aiokafka"] == ["requirements.txt"]
    assert beside["sarama"] == beside["franz-go"] == ["go.mod", "go.sum"]
    assert beside["kafkajs"] == ["package.json"]
    assert beside["kafka-java"] == beside["kafka-broker"] == ["pom.xml"]
    java = next(finding for finding in FINDINGS if finding.assignor.startswith("kafka-java"))
    pom = ElementTree.fromstring(program(java).beside["pom.xml"])
    assert pom.findtext("dependencies/dependency/artifactId") == "kafka-clients"


@pytest.mark.parametrize(
    ("name", "has"),
    [
        ("kafka-java/cooperative-sticky", ("INSTANCE", "RACK", "REPLICAS")),
        ("kafka-broker/uniform", ("INSTANCE", "RACK", "REPLICAS")),
        ("librdkafka/cooperative-sticky", ("INSTANCE", "RACK", "REPLICAS")),
        ("kafka-python/roundrobin", ("INSTANCE",)),
        ("franz-go/sticky", ("instance",)),
    ],
)
def test_racks_and_instance_ids_reach_the_clients_that_look_at_them(tmp_path, name, has):
    """On a group where the promise holds: the program runs, and passes."""
    group = Group.from_dict(IN_RACKS)
    finding = Finding.of(assignor_named(called(name)).name, "valid", group, {"violations": 0})
    made = program(replace(finding, affected=("1",)))
    for constant in has:
        assert re.search(rf"\b{constant}\b.* = ", made.text)
    came = rerun(made, finding.assignor, tmp_path)
    assert not came.reproduced, came.output


@pytest.mark.parametrize(
    "throws", ["raise ValueError('no plan')", "pytest.fail('no plan', pytrace=False)"]
)
def test_a_program_whose_client_throws_in_the_thread_that_is_waited_for_fails(tmp_path, throws):
    """Both what the client throws and what the program itself says there."""
    finding = next(f for f in FINDINGS if f.id == "aiokafka-sticky-terminates")
    called(finding.assignor)
    made = program(finding)
    thrown = f"def throws(*_):\n    {throws}\n\n\nStickyPartitionAssignor.assign = throws\n"
    came = rerun(replace(made, text=f"{made.text}\n\n{thrown}"), finding.assignor, tmp_path)
    assert came.reproduced
    assert "no plan" in came.output
    assert "1 failed" in came.output
    assert "warning" not in came.output


def test_a_program_in_java_whose_client_throws_in_its_thread_fails(tmp_path):
    finding = next(f for f in FINDINGS if f.id == "kafka-java-cooperative-sticky-terminates")
    called(finding.assignor)
    made = program(finding)
    start = "private static Cluster cluster() {"
    assert start in made.text
    thrown = f'{start}\n        if (true) throw new IllegalStateException("no plan");'
    broken = replace(made, text=made.text.replace(start, thrown))
    (came,) = rerun_in_java([broken], finding.assignor, tmp_path)
    assert came.reproduced
    assert "IllegalStateException: no plan" in came.output


def test_a_program_that_hangs_says_what_stops_in_its_own_client():
    heads = {}
    for finding in (f for f in FINDINGS if f.promise == "terminates"):
        lines = (line.removeprefix("//").strip() for line in program(finding).text.splitlines())
        heads[finding.assignor.partition("/")[0]] = " ".join(list(lines)[:40])
    assert "waits for the lock that the assigning thread holds" in heads["kafka-java"]
    assert "session timeout (45 s by default)" in heads["kafka-java"]
    assert "blocks the event loop, and the heartbeats with it" in heads["aiokafka"]
    assert "session timeout (10 s by default)" in heads["aiokafka"]
    assert "sarama's consumers was not measured" in heads["sarama"]
    assert "session timeout" not in heads["sarama"]


def test_a_program_that_does_not_come_to_its_test_reproduces_nothing(tmp_path):
    finding = next(f for f in FINDINGS if f.id == "kafka-python-sticky-optimal-balance")
    called(finding.assignor)
    made = program(finding)
    broken = replace(made, text=made.text + "\n)")
    with pytest.raises(Failed, match="does not come to its test"):
        rerun(broken, finding.assignor, tmp_path)
