"""Measure: which number decides, in words, and beside it the verdict of `assay score`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compare.deployed import assigns_now, spoken
from compare.overview import overview_of
from compare.scores import DEPENDS
from compare.sentences import verdict_shown
from compare.verdict import EMPTY
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.advice.advice import Advice

VERDICT = "Verdict of assay score (balance > moves)"


def what_decides(advice: Advice) -> str:
    """Return which number decides, and on what it depends."""
    if advice.lower == "peak_load":
        return "what decides: peak_load, the partitions of the busiest member"
    return (
        "what decides: peak_lag, the records of lag of the busiest member at this moment; "
        "for its partitions, lower peak_load"
    )


def verdict_told(advice: Advice) -> str:
    """Return the verdict on what members hold; empty where nobody holds anything."""
    if advice.judged is None or advice.judged.verdict.says in EMPTY:
        return ""
    verdict = advice.judged.verdict
    given = f", if {verdict.condition}" if verdict.condition else ""
    idle, members = len(advice.judged.now.idle), counted(advice.members, "member")
    none = f" {idle:,} of {members} {'holds' if idle == 1 else 'hold'} nothing." if idle else ""
    return f"{VERDICT}: {verdict_shown(advice.judged)}{given}.{none}"


def not_advised(advice: Advice) -> list[str]:
    """Return for each assignor that cannot be advised why, the one that assigns now first."""
    said: list[str] = []
    for trial in advice.assignors:
        if trial.reason in (None, DEPENDS):
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


def several(advice: Sequence[Advice]) -> str:
    """Return the verdicts on several groups, in the sentence of `assay score`."""
    return overview_of([one.judged for one in advice if one.judged is not None]).sentence()
