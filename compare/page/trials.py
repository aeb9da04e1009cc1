"""Trials: what each assignor made of each group, as rows that figures and downloads share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from compare.page.csv_text import as_csv
from compare.scores import CURRENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.scores import Score

Record = dict[str, object]


@dataclass(frozen=True)
class Trial:
    """What one assignor made of one group; `group` is unlike for different captures."""

    group: str
    members: int
    partitions: int
    score: Score


def excesses(trials: Sequence[Trial], tier: str) -> list[Record]:
    """Return of each trial how far above the optimum it is in a tier, and how far at most.

    None where it has no excess: it is not scored, not valid, or worse in an earlier tier.
    """
    rows: list[Record] = []
    for trial in trials:
        least, most = _excess(trial.score, tier)
        rows.append(
            {
                "assignor": trial.score.assignor,
                "group": trial.group,
                "excess": least,
                "excess_most": most,
            }
        )
    return rows


def times(trials: Sequence[Trial]) -> list[Record]:
    """Return of each trial that was scored how long it took.

    Not of what the members hold now, nor of groups without partitions: both take no time.
    """
    return [
        {
            "assignor": trial.score.assignor,
            "group": trial.group,
            "members": trial.members,
            "partitions": trial.partitions,
            "seconds": trial.score.seconds,
        }
        for trial in trials
        if trial.score.status == "scored"
        and trial.score.seconds > 0
        and trial.partitions > 0
        and trial.score.assignor != CURRENT
    ]


def trials_csv(trials: Sequence[Trial], tiers: Sequence[str]) -> str:
    """Return all trials as CSV."""
    heads = ["group", "members", "partitions", "assignor", "status", "valid", "balanced"]
    heads += [f"{tier}{what}" for tier in tiers for what in ("", "_excess", "_excess_most")]
    rows = []
    for trial in trials:
        row = trial.score
        values = {term.name: term.value for term in row.terms or ()}
        cells: list[object] = [trial.group, trial.members, trial.partitions, row.assignor]
        cells += [row.status, row.valid, row.balanced]
        for tier in tiers:
            cells += [values.get(tier), *_excess(row, tier)]
        rows.append([*cells, f"{row.seconds:.6f}"])
    return as_csv([*heads, "seconds"], rows)


def _excess(row: Score, tier: str) -> tuple[int | None, int | None]:
    found = next((term.excess for term in row.terms or () if term.name == tier), None)
    if isinstance(found, tuple):
        # Where an assignor beats what the solver found, nothing is sure but that it is not worse.
        return max(found[0], 0), found[1]
    return found, found
