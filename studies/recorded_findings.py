"""Records of the findings: each run again, with its plan, a better plan, and what it ran on.

``python -m studies.recorded_findings`` writes them into ``corpus/findings.jsonl``. A finding whose
assignor cannot be called here keeps the record that it has. With ``--how`` those that do not say
how they were found get that sentence, and today.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from compare.promises.findings import Finding, as_lines, read_findings
from compare.promises.record import Found
from compare.promises.trial import runner_of
from heuristics import WRITTEN, assignor_named
from heuristics.time_limit import TimeLimit

if TYPE_CHECKING:
    from collections.abc import Iterable

SECONDS = 5.0


def command_of(finding: Finding) -> str:
    """Return one line that runs a finding again."""
    if finding.assignor in WRITTEN:
        return f"assay hunt {finding.assignor} --promise {finding.promise}"
    return f"assay reproduce {finding.id} --run"


def recorded(finding: Finding, limit: TimeLimit) -> Finding:
    """Return the finding with the record of one more run, where the assignor can be called."""
    if assignor_named(finding.assignor).missing() is not None:
        return finding
    return finding.recorded(runner_of(finding.assignor, limit), command_of(finding))


def renewed(
    made: Iterable[Finding], before: Iterable[Finding], how: str, limit: TimeLimit
) -> list[Finding]:
    """Return findings made anew, each recorded.

    One whose group was known keeps when and how it was found, and why; another was found today.
    """
    known = {finding.id: finding for finding in before}
    found = []
    for finding in made:
        old = known.get(finding.id)
        same = old is not None and old.group.to_dict() == finding.group.to_dict()
        kept = old if same else None
        dated = None if kept is None else kept.found
        why = () if kept is None else kept.why
        anew = replace(finding, found=dated or Found.today(how), why=why)
        found.append(recorded(anew, limit))
    return found


def main() -> None:
    """Write the records anew."""
    parser = ArgumentParser(description="run the findings again and record what comes of them")
    parser.add_argument("ids", nargs="*", help="findings, all if left out")
    parser.add_argument("--how", help="one sentence: how those were found that do not say so")
    parser.add_argument("--findings", type=Path, default=Path("corpus/findings.jsonl"))
    asked = parser.parse_args()
    with TimeLimit(SECONDS) as limit:
        made = [
            finding if asked.ids and finding.id not in asked.ids else recorded(finding, limit)
            for finding in read_findings(asked.findings)
        ]
    if asked.how:
        found = Found.today(asked.how)
        made = [replace(finding, found=finding.found or found) for finding in made]
    asked.findings.write_text(as_lines(made), encoding="utf-8")
    without = [finding.id for finding in made if finding.record is None]
    sys.stderr.write(f"{len(made) - len(without)} findings recorded\n")
    for name in without:
        sys.stderr.write(f"{name}: no record, its assignor cannot be called here\n")


if __name__ == "__main__":
    main()
