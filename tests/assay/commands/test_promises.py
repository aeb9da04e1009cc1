import json
from pathlib import Path

from tests.assay.calling import EVEN, assay
from tests.clients import called

CORPUS = Path(__file__).parents[3] / "corpus"


def test_a_finding_is_printed_as_a_program_or_written_under_its_own_name(tmp_path):
    finding = ("kafka-java-sticky-terminates",)
    printed = assay("reproduce", *finding)
    assert printed.returncode == 0, printed.stderr
    assert "class KafkaJavaStickyTerminatesTest {" in printed.stdout
    assert "no answer within 5 seconds" in printed.stdout
    written = assay("reproduce", *finding, "-o", tmp_path / "new")
    file = tmp_path / "new" / "KafkaJavaStickyTerminatesTest.java"
    assert written.stdout == f"cd {tmp_path / 'new'} && mvn -q test\n"
    assert {one.name for one in file.parent.iterdir()} == {file.name, "pom.xml"}
    assert file.read_text() == printed.stdout


def test_running_a_program_says_whether_it_reproduces_the_finding(tmp_path):
    called("kafka-python/sticky")
    identity = "kafka-python-sticky-optimal-balance"
    lines = (CORPUS / "findings.jsonl").read_text().splitlines()
    finding = next(found for found in map(json.loads, lines) if found["id"] == identity)
    (tmp_path / "f.jsonl").write_text(
        json.dumps(finding) + "\n" + json.dumps(finding | {"id": "kept", "group": EVEN}) + "\n"
    )
    asked = ("--findings", tmp_path / "f.jsonl", "--run")
    run = assay("reproduce", identity, *asked)
    assert (run.returncode, run.stdout) == (0, f"{identity}: reproduced\n")
    assert "1 failed" in run.stderr
    run = assay("reproduce", "kept", *asked)
    assert (run.returncode, run.stdout) == (1, "kept: not reproduced: the test passes\n")
