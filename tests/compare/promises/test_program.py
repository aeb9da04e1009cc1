"""Programs: each finding on a shipped assignor, in its client's language, run by its tools."""

from dataclasses import replace
from pathlib import Path

import pytest

from compare.promises.findings import read_findings
from compare.promises.program import program
from compare.promises.rerun import rerun
from groups import BadInput, Failed, Group
from heuristics import WRITTEN, assignor_named

FILE = Path(__file__).parents[3] / "corpus" / "findings.jsonl"
FINDINGS = [found for found in read_findings(FILE) if found.assignor not in WRITTEN]


def called(name: str) -> str:
    reason = assignor_named(name).missing()
    if reason is not None:
        pytest.skip(reason)
    return name


@pytest.mark.parametrize("finding", [pytest.param(f, id=f.id) for f in FINDINGS])
def test_each_finding_is_reproduced_by_a_program_in_the_language_of_its_client(tmp_path, finding):
    called(finding.assignor)
    came = rerun(program(finding), finding.assignor, tmp_path)
    assert came.reproduced, came.said


def test_a_program_whose_promise_is_kept_passes(tmp_path):
    """The same program, with a group on which the promise holds."""
    finding = next(f for f in FINDINGS if f.id == "kafka-python-sticky-optimal-balance")
    called(finding.assignor)
    even = {"format": "assay-group/1", "group": "even", "topics": {"t": 2},
            "members": {"a": {"subscription": ["t"]}, "b": {"subscription": ["t"]}}}  # fmt: skip
    kept = replace(finding, group=Group.from_dict(even))
    came = rerun(program(kept), finding.assignor, tmp_path)
    assert not came.reproduced
    assert "1 passed" in came.said


def test_a_program_that_does_not_come_to_its_test_reproduces_nothing(tmp_path):
    finding = next(f for f in FINDINGS if f.id == "kafka-python-sticky-optimal-balance")
    called(finding.assignor)
    made = program(finding)
    broken = replace(made, text=made.text + "\n)")
    with pytest.raises(Failed, match="does not come to its test"):
        rerun(broken, finding.assignor, tmp_path)


def test_there_is_no_program_for_an_assignor_as_written():
    finding = next(f for f in read_findings(FILE) if f.assignor in WRITTEN)
    with pytest.raises(BadInput, match=r"no program for .*, only for kafka-java, kafka-broker"):
        program(finding)
