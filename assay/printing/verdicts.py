"""Verdicts for people: one group with its members and assignors, and as a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.printing.loads import print_loads
from assay.printing.moves import print_moves
from assay.printing.one_group import print_rows, reason_of
from assay.printing.terminal import tell
from compare.gains import early_gain
from compare.lag.without_reader import without_reader
from compare.lag.words import lag_told, not_compared
from compare.remedy import remedy
from compare.scores import scores_document
from compare.sentences import assigned_by, sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.judged import Judged
    from compare.lag.lowest import LowestPeak
    from compare.scores import Score
    from groups.tiers import Objective
    from optimal.solution import Solution


def document(
    judged: Judged,
    reference: Solution | None,
    rows: Sequence[Score],
    tiers: Objective,
    assumed: Sequence[str],
) -> dict[str, object]:
    """Return the ``assay-scores/1`` document of a group, with its verdict."""
    if reference is None:
        found: dict[str, object] = {
            "format": "assay-scores/1",
            "group": judged.group.name,
            "objective": list(tiers),
            "optimum": {"status": "unknown", "terms": []},
            "scores": [row.to_dict() for row in rows],
        }
    else:
        found = scores_document(judged.group, reference, rows)
    waiting, plan = without_reader(judged.group), judged.plan
    return {
        **found,
        "captured_at": judged.group.captured_at,
        "verdict": judged.verdict.to_dict(),
        "question": judged.verdict.question,
        "plan": None if plan is None else plan.moves,
        "assumed": list(assumed),
        "without_reader": None if waiting is None else waiting.to_dict(),
    }


def print_group(
    judged: Judged,
    reference: Solution | None,
    rows: Sequence[Score],
    lowest: LowestPeak | None = None,
    chosen: LowestPeak | None = None,
) -> None:
    """Print what is known of one group, its members' loads, and a row for each assignor.

    Parameters
    ----------
    lowest : the lowest peak lag, None where it is not known
    chosen : why it is this one of all as good, None where nothing was searched
    """
    tell(sentence(judged))
    if assignor := assigned_by(judged.group):
        tell(f"Assigned by: {assignor}.")
    if gain := early_gain(judged):
        tell(gain)
    for said in lag_told(judged.now, lowest):
        tell(said)
    if waiting := without_reader(judged.group):
        tell(waiting.sentence())
    if lowest is None and (said := not_compared([judged.group])):
        tell(said)
    if rows and reference is not None:
        print_plan(judged, rows)
        print_loads(judged)
        if chosen is not None:
            least = "least peak lag" if chosen.proved else "least peak lag that was found"
            tell(f"of all as good it has the {least}: {' > '.join((*chosen.before, 'peak_lag'))}")
        print_rows(reference, rows, lowest)
    elif reference is None:
        for row in rows:
            tell(f"{row.assignor}: {reason_of(row)}")


def print_plan(judged: Judged, rows: Sequence[Score]) -> None:
    """Print the moves that a verdict is about, and what makes them; nothing where it names none.

    Parameters
    ----------
    rows : what was scored of the assignors that were tried
    """
    plan = judged.plan
    if plan is not None:
        tell("To do:" if judged.verdict.says == "improvable" else "For less lag on one member:")
        print_moves(plan)
        tell(remedy(judged, rows))
