"""Measure: which number decides, in words, and beside it the verdict of `assay score`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compare.advice.deployed import assigns_now
from compare.overview import overview_of
from compare.remedy import spoken
from compare.sentences import captures
from compare.verdict import EMPTY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.advice.advice import Advice

LESS = {"peak_load": "fewer partitions", "peak_lag": "less lag"}
VERDICT = "Verdict of assay score (balance > moves)"


def what_decides(advice: Advice) -> str:
    """Return which number decides, and on what it depends."""
    if advice.lower == "peak_load":
        return "what decides: peak_load, the partitions of the busiest member"
    return (
        "what decides: peak_lag, the records of lag of the busiest member at this moment; "
        "for its partitions: --lower peak_load"
    )


def verdict_told(advice: Advice) -> str:
    """Return the verdict on what members hold; empty where nobody holds anything."""
    if advice.judged is None or advice.judged.verdict.says in EMPTY:
        return ""
    verdict = advice.judged.verdict
    given = f", if {verdict.condition}" if verdict.condition else ""
    return f"{VERDICT}: {verdict.says}{given}."


def not_advised(advice: Advice) -> list[str]:
    """Return for each assignor that cannot be advised why, the one that assigns now first."""
    said: list[str] = []
    for trial in advice.assignors:
        if trial.reason is None:
            continue
        why = trial.reason
        if trial.status == "timed-out":
            why += " on this group"
        group = None if advice.judged is None else advice.judged.group
        name = spoken(trial.assignor)
        if group is not None and assigns_now(trial.assignor, group):
            now = f"{advice.assigned_by} assigns this group now"
            said.insert(0, f"{now}, and {name} does not come to a valid plan: {why}.")
        else:
            said.append(f"Not advised: {name}: {why}.")
    return said


def several(advice: Sequence[Advice]) -> list[str]:
    """Return how many groups could have less, by the number that decides, and the verdicts."""
    every = captures(len(advice), len({one.group for one in advice}))
    less = [one for one in advice if one.changes and one.changes[0].before is not None]
    unlike = [word for lower, word in LESS.items() if lower in {one.lower for one in less}]
    whose = "its" if len(less) == 1 else "their"
    lead = f"{len(less):,} of {every} could have {' or '.join(unlike)} on {whose} busiest member."
    if not less:
        lead = f"Nothing that was tried gives the busiest member less in any of {every}."
    judged = [one.judged for one in advice if one.judged is not None]
    return [lead, f"{VERDICT}: {_small(overview_of(judged).sentence())}"]


def _small(sentence: str) -> str:
    return f"{sentence[0].lower()}{sentence[1:]}"
