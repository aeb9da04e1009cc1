"""Records of the findings: each run again, with its plan, a better plan, and what it ran on.

``python -m studies.recorded_findings`` writes them into ``corpus/findings.jsonl``. A finding whose
assignor cannot be called here keeps the record that it has. With ``--how`` those that do not say
how they were found get that sentence, and today.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from compare.promises.findings import Finding, as_lines, read_findings
from compare.promises.record import Found
from compare.promises.trial import runner_of
from heuristics import WRITTEN, assignor_named
from heuristics.time_limit import TimeLimit

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
        found = Found(datetime.now(UTC).date().isoformat(), asked.how)
        made = [replace(finding, found=finding.found or found) for finding in made]
    asked.findings.write_text(as_lines(made), encoding="utf-8")
    without = [finding.id for finding in made if finding.record is None]
    sys.stderr.write(f"{len(made) - len(without)} findings recorded\n")
    for name in without:
        sys.stderr.write(f"{name}: no record, its assignor cannot be called here\n")


if __name__ == "__main__":
    main()
