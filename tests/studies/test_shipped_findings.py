"""What shipped assignors break: the same groups in each version, and programs of their own."""

from dataclasses import replace
from pathlib import Path

import pytest

from compare.promises.findings import Finding, read_findings, runner_of, version_order
from compare.promises.promise import PROMISES
from compare.promises.reproduce import program
from compare.promises.rerun import rerun
from groups import BadInput, Failed, Group
from heuristics import WRITTEN, assignor_named
from heuristics.time_limit import TimeLimit
from studies.shipped_findings import promises_of, search

FILE = Path(__file__).parents[2] / "corpus" / "findings.jsonl"
FINDINGS = [found for found in read_findings(FILE) if found.assignor not in WRITTEN]
VERSIONS = [
    (finding, version, version in finding.affected)
    for finding in FINDINGS
    for version in (*finding.affected, *finding.unaffected)
]


@pytest.fixture(scope="module")
def limit():
    with TimeLimit(1.0) as made:
        yield made


def called(name: str) -> str:
    reason = assignor_named(name).missing()
    if reason is not None:
        pytest.skip(reason)
    return name


def of_version(finding: Finding, version: str) -> Finding:
    return replace(finding, assignor=f"{finding.assignor.partition('@')[0]}@{version}")


@pytest.mark.parametrize(
    ("finding", "version", "breaks"), VERSIONS, ids=[f"{f.id}@{v}" for f, v, _ in VERSIONS]
)
def test_each_finding_is_what_that_version_does_today(limit, finding, version, breaks):
    other = of_version(finding, version)
    verdict = other.judge(runner_of(called(other.assignor), limit))
    assert verdict.holds is not breaks
    assert verdict.holds is not None


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda finding: finding.id)
def test_a_finding_is_of_a_version_that_it_affects_and_says_where_it_is_fixed(finding):
    assert finding.assignor.partition("@")[2] in finding.affected
    assert not set(finding.affected) & set(finding.unaffected)
    assert list(finding.affected) == sorted(finding.affected, key=version_order)
    assert finding.promise in promises_of(finding.assignor)
    assert Finding.from_dict(finding.to_dict()) == replace(finding, group=_same(finding.group))


def _same(group: Group):
    class Same:
        def __eq__(self, other):
            return group.to_dict() == other.to_dict()

    return Same()


def test_fixed_is_the_first_version_after_those_affected():
    finding = replace(FINDINGS[0], affected=("3.9.2", "4.0.2"), unaffected=("2.8.2", "4.4.0"))
    assert finding.fixed == "4.4.0"
    assert replace(finding, unaffected=("2.8.2",)).fixed is None
    assert replace(finding, affected=("4.10.0",), unaffected=("4.9.0",)).fixed is None
    assert finding.to_dict()["fixed"] == "4.4.0"


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda finding: finding.id)
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
    assert not rerun(program(kept), finding.assignor, tmp_path).reproduced


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


def test_a_search_finds_what_is_broken_and_prefers_ordinary_groups(limit):
    name = called("kafka-python/sticky")
    found = search(name, limit, groups=10)
    assert set(found) <= set(promises_of(name)) <= set(PROMISES)
    assert found["optimal-balance"].measured == {"balance": 4, "optimum": 0}
    assert len(found["optimal-balance"].group.members) == 3
