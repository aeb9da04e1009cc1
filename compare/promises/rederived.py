"""Rederived: what a finding comes to when its assignor is run on its group again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from compare.promises.findings import is_repeatable, read_findings
from compare.promises.trial import runner_of
from groups.wording import counted
from heuristics import assignor_named
from heuristics.time_limit import NOT_STARTED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from compare.promises.findings import Finding
    from compare.promises.trial import Runner, Trial
    from heuristics.time_limit import TimeLimit


@dataclass(frozen=True)
class Rederived:
    """What one finding came to.

    Attributes
    ----------
    id : of the finding
    status : "same": the promise breaks as before; "changed"; or "not-tried": nothing is known, as
        the assignor cannot be called here, or gave no answer in time
    said : what is different now, or why it was not tried, for people
    """

    id: str
    status: Literal["same", "changed", "not-tried"]
    said: str


def rederive(finding: Finding, run: Runner) -> Rederived:
    """Run the assignor of a finding on its group again.

    Raises
    ------
    BadInput
        Where no assignor or promise has the name.
    """
    reason = assignor_named(finding.assignor).missing()
    if reason is not None:
        return Rederived(finding.id, "not-tried", f"not tried: {reason}")
    trial, found = finding.tried(run)
    why = _untold(finding, trial)
    if why is not None:
        return Rederived(finding.id, "not-tried", f"not tried: {why}")
    if found.holds is None:
        said = ": ".join(filter(None, (trial.outcome.status, trial.outcome.reason)))
        told = f"the promise is not put to the test: {said}"
        return Rederived(finding.id, "changed", told)
    if found.holds:
        return Rederived(finding.id, "changed", "the promise holds")
    now, then = json.dumps(found.measured), json.dumps(dict(finding.measured))
    if now != then and is_repeatable(finding.assignor):
        return Rederived(finding.id, "changed", f"measured {now}, expected {then}")
    return Rederived(finding.id, "same", "breaks as before")


def rederive_all(path: str | Path, limit: TimeLimit) -> Iterator[Rederived]:
    """Return what each finding of a file comes to.

    Raises
    ------
    BadInput
        Where the file cannot be read, or names an assignor or promise that does not exist.
    """
    for finding in list(read_findings(path)):
        yield rederive(finding, runner_of(finding.assignor, limit))


def all_rederived(came: Sequence[Rederived]) -> str:
    """Return one line on all findings of a file, which counts what was not tried apart."""
    same, changed, untried = (
        sum(one.status == status for one in came) for status in ("same", "changed", "not-tried")
    )
    return (
        f"{counted(len(came), 'finding')}: {same:,} as before, {changed:,} changed, "
        f"{untried:,} not tried"
    )


def _untold(finding: Finding, trial: Trial) -> str | None:
    """Return why a run says nothing about the finding; None where it does."""
    outcomes = [trial.outcome]
    if finding.promise == "idempotent" and trial.again is not None:
        outcomes.append(trial.again)
    for outcome in outcomes:
        reason = outcome.reason or outcome.status
        if outcome.status == "timed-out" and finding.promise != "terminates":
            return f"{reason}; give it a longer time limit"
        if outcome.status == "unavailable":
            return reason
        if outcome.status == "failed" and reason.startswith(NOT_STARTED):
            return reason
    return None
