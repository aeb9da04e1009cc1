"""Task program: a finding on an assignor of tasks, and the JUnit test of it."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import Struct, to_builtins

from compare.promises.description import COLUMNS
from compare.promises.findings import read_lines
from compare.promises.program import Program, camel, maven, templates
from compare.promises.record import ARTIFACTS
from groups import BadInput
from groups.documents.assay_group import pairs
from groups.documents.assay_streams import StreamsDocument, held
from groups.documents.decoding import Format

if TYPE_CHECKING:
    from groups.documents.assay_group import Partitions

FORMAT: Final = "assay-task-finding/1"
# In the folder of the findings on assignors of partitions.
TASK_FINDINGS = Path(__file__).parents[2] / "corpus" / "task-findings.jsonl"
TESTED_OF = "kafka-streams/sticky"
# Promises of `task_promises`, and "stays": nothing moves if nothing changes.
TESTED = (
    "threads-even", "processes-even", "stateful-even", "standbys-even", "fewest-restores", "stays",
)  # fmt: skip


class TaskFinding(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """One broken promise of an assignor of tasks.

    Attributes
    ----------
    assignor, promise : names of the assignor, without version, and of the promise that it breaks
    promised : the promise in one line
    history : the events that led to the group
    measured : as in the judgement on the group
    affected : the releases in which it breaks on this group, oldest first
    before, after : the smallest group known on which it breaks, and with the tasks it is given
    """

    format: Literal["assay-task-finding/1"] = FORMAT
    id: str
    assignor: str
    promise: str
    promised: str
    history: list[str]
    measured: dict[str, Any]
    affected: list[str]
    before: StreamsDocument
    after: StreamsDocument


_FORMAT = Format(FORMAT, TaskFinding)


def read_task_findings(path: Path = TASK_FINDINGS) -> list[TaskFinding]:
    """Return the findings of a file, which has one in each line.

    Raises
    ------
    BadInput
        If the file cannot be read or a line is no finding; the message names the line.
    """
    return [*read_lines(path, _FORMAT.of_mapping)]


def as_task_lines(findings: list[TaskFinding]) -> str:
    """Return findings as JSON lines."""
    return "".join(f"{json.dumps(to_builtins(one))}\n" for one in findings)


def has_program(finding: TaskFinding) -> bool:
    """Return whether `task_program` has a test for a finding."""
    return finding.assignor == TESTED_OF and finding.promise in TESTED


def task_program(finding: TaskFinding) -> Program:
    """Return a test that fails if the finding is reproduced, for the newest affected release.

    Raises
    ------
    BadInput
        If there is no test for the assignor or the promise.
    """
    if finding.assignor != TESTED_OF:
        raise BadInput(f"no program for {finding.assignor}, only for {TESTED_OF}")
    if finding.promise not in TESTED:
        known = ", ".join(TESTED)
        raise BadInput(f"no program for the promise {finding.promise}, only for {known}")
    before, version = finding.before, finding.affected[-1]
    name = f"Sticky{camel(finding.promise)}Test"
    beside, command = maven(name.lower(), ARTIFACTS["kafka-broker"], version)
    head = [
        *wrap(f"StickyTaskAssignor of {ARTIFACTS['kafka-broker']} {version}", COLUMNS),
        "",
        *wrap(f"Expected: {finding.promised}.", COLUMNS),
        *wrap(f"The group came about so: {'; '.join(finding.history)}.", COLUMNS),
        "",
        f"Run: {command}",
    ]
    members = {
        name: {
            "process": member.process,
            "active": _tasks(held(member).active),
            "standby": _tasks(held(member).standby),
        }
        for name, member in before.members.items()
    }
    rendered = (
        templates()
        .get_template("tasks")
        .render(
            head=head,
            name=name,
            promise=finding.promise,
            standbys=before.standby_replicas,
            subtopologies=before.subtopologies,
            stateful=[s for s, one in before.subtopologies.items() if one.stateful],
            members=members,
            enough=finding.measured.get("enough"),
        )
    )
    return Program(f"{name}.java", rendered, beside, command)


def _tasks(of: Partitions) -> list[str]:
    return [f"{subtopology}_{number}" for subtopology, number in pairs(of)]
