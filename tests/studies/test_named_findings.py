"""What the README and the pages tell of single findings is what the findings say."""

import json
from pathlib import Path

from compare.promises.findings import read_findings

ROOT = Path(__file__).parents[2]
FINDINGS = {found.id: found for found in read_findings(ROOT / "corpus" / "findings.jsonl")}


def test_the_group_of_the_first_screen_is_that_of_the_finding():
    shown = json.loads((ROOT / "docs/findings/never-returns.json").read_text("utf-8"))
    found = FINDINGS["kafka-java-cooperative-sticky-terminates"]
    assert {**shown, "group": found.id} == found.group.to_dict()


def test_the_loop_is_in_every_release_tried_and_in_the_ports_that_the_readme_names():
    java = FINDINGS["kafka-java-cooperative-sticky-terminates"]
    assert java.affected == ("2.8.2", "3.9.2", "4.0.2", "4.4.0")
    assert java.unaffected == ()
    ports = {"sarama-sticky", "sarama-cooperative-sticky", "aiokafka-sticky"}
    for port in ports:
        found = FINDINGS[f"{port}-terminates"].group.to_dict()
        assert {**found, "group": java.id} == java.group.to_dict()
