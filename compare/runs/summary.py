"""Summary: what the tables of a run say of the assignors, in numbers and in three sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from compare.runs.latest_run import current_verdict
from compare.score import CURRENT
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from compare.runs.latest_run import Run


@dataclass(frozen=True)
class AssignorSummary:
    """How an assignor fared over all groups of a run.

    Shares are 0..1 of the groups scored; `excess` statistics are over the valid assignments and
    per tier over those that are equal in the earlier tiers.
    """

    assignor: str
    scored: int
    unscored: int
    valid: float
    balanced: float
    optimal: float
    tiers: tuple[TierExcess, ...]


@dataclass(frozen=True)
class TierExcess:
    """Excess of one tier: how many groups it is known for, share above 0, mean and worst."""

    name: str
    known: int
    above: float
    mean: float
    worst: int
    worst_group: str


def by_assignor(run: Run) -> list[AssignorSummary]:
    """Return a summary per assignor."""
    summaries = []
    for name in run.assignors:
        rows = run.scores[run.scores["assignor"] == name]
        scored = rows[rows["status"] == "scored"]
        count = max(len(scored), 1)
        valid = scored[scored["valid"] == True]  # noqa: E712 - a column, and it may hold None
        zero = [valid[f"excess.{tier}"] == 0 for tier in run.tiers]
        optimal = sum(all(flags) for flags in zip(*zero, strict=True)) if len(valid) else 0
        summaries.append(
            AssignorSummary(
                assignor=name,
                scored=len(scored),
                unscored=len(rows) - len(scored),
                valid=len(valid) / count,
                balanced=int((valid["balanced"] == True).sum()) / count,  # noqa: E712
                optimal=optimal / count,
                tiers=tuple(_tier(valid, tier) for tier in run.tiers),
            )
        )
    return summaries


def headlines(run: Run) -> list[str]:
    """Return what matters most, in three sentences.

    What members own now against the optimum; the assignors closest to it and farthest from it;
    how often an assignment that KIP-54 calls balanced can still be improved by a chain of moves.
    """
    summaries = [one for one in by_assignor(run) if one.assignor != CURRENT and one.scored]
    lines = [_on_current(run)]
    if summaries:
        best = max(summaries, key=lambda one: (one.optimal * one.scored, one.optimal))
        worst = min(summaries, key=lambda one: (one.optimal, -one.scored))
        excess = max(worst.tiers, key=lambda t: t.above, default=None)
        detail = ""
        if excess is not None and excess.worst:
            detail = f", at worst {excess.worst} above the optimal {excess.name} "
            detail += f"({excess.worst_group})"
        lines.append(
            f"Closest to the optimum: {best.assignor}, optimal on {_percent(best.optimal)} of "
            f"{counted(best.scored, 'group')}; farthest: {worst.assignor}, on "
            f"{_percent(worst.optimal)} of {worst.scored}{detail}."
        )
    if "balance" in run.tiers:
        lines.append(_on_balanced(run))
    return lines


def _on_current(run: Run) -> str:
    source = run.groups.set_index("key")["source"]
    solved = [key for key in run.optima["group_key"] if key in source.index]
    captured = [key for key in solved if not source[key].endswith(".jsonl")]
    others = sorted(set(solved) - set(captured))
    parts = [
        _standing(run, keys, what)
        for keys, what in ((captured, "captured group"), (others, "other group"))
        if keys
    ]
    return " ".join(parts) or "No group was solved."


def _standing(run: Run, keys: Sequence[str], what: str) -> str:
    """Return a sentence on what the members of some groups own now."""
    words = [current_verdict(run, key) for key in keys]
    owned = [w for w in words if w not in ("nothing owned yet", "not scored")]
    good = sum(w == "optimal" for w in owned)
    invalid = sum(w.startswith("not valid") for w in owned)
    better = len(owned) - good - invalid
    rest = f", {invalid} not valid (just joined, contested)" if invalid else ""
    own = "owns" if len(owned) == 1 else "own"
    return (
        f"Of {counted(len(owned), what)} that {own} something now, as good as can be: {good}, "
        f"could be better: {better}{rest}."
    )


def _on_balanced(run: Run) -> str:
    rows = run.scores[(run.scores["balanced"] == True) & (run.scores["assignor"] != CURRENT)]  # noqa: E712
    short = rows[rows["excess.balance"] > 0]
    return (
        f"KIP-54's definition calls {counted(len(rows), 'assignment')} balanced; {len(short):,} "
        f"of them {'is' if len(short) == 1 else 'are'} not as balanced as possible: chains of "
        "moves still improve them."
    )


def _tier(valid: pd.DataFrame, tier: str) -> TierExcess:
    known = valid[valid[f"excess.{tier}"].notna()]
    column = known[f"excess.{tier}"].astype(float)
    if known.empty:
        return TierExcess(tier, 0, 0.0, 0.0, 0, "")
    at = column.idxmax()
    return TierExcess(
        name=tier,
        known=len(known),
        above=float((column > 0).mean()),
        mean=float(column.mean()),
        worst=int(column.max()),
        worst_group=str(known.loc[at, "group"]),
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"
