"""Verdicts: what the tables of a run say, in the numbers that people ask for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from compare.runs.stored import read_table
from groups.assignment import Assignment
from groups.errors import BadInput
from groups.group import Group
from heuristics import assignors

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

CURRENT = "current"


@dataclass(frozen=True)
class AssignorVerdict:
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


@dataclass(frozen=True, eq=False)
class Run:
    """The latest run under a folder: its objective and tables, each row once.

    `scores` has a column per tier, ``excess.<tier>``, with the greatest excess that is possible.
    """

    objective: str
    groups: pd.DataFrame
    optima: pd.DataFrame
    scores: pd.DataFrame
    failures: pd.DataFrame

    @property
    def tiers(self) -> list[str]:
        """Names of the objective's tiers, in order."""
        return self.objective.split(" > ")

    @property
    def assignors(self) -> list[str]:
        """Names of the assignors: ``current``, then in the order in which they are listed."""
        known = [CURRENT, *assignors()]
        rank = {name: i for i, name in enumerate(known)}
        return sorted(set(self.scores["assignor"]), key=lambda n: (rank.get(n, len(rank)), n))


def latest_run(folder: Path) -> Run:
    """Read the tables of the latest run under a folder.

    Raises
    ------
    BadInput
        Where the folder holds no run.
    """
    runs = read_table(folder, "runs")
    if runs.empty:
        raise BadInput(f"{folder}: no run in it; fill it with: assay run INPUT --out {folder}")
    objective = str(runs.sort_values("started_at")["objective"].iloc[-1])
    optima, scores = read_table(folder, "optima"), read_table(folder, "scores")
    optima = optima[optima["objective"] == objective].drop_duplicates("group_key", keep="last")
    scores = scores[scores["objective"] == objective]
    scores = scores.drop_duplicates(["group_key", "assignor"], keep="last").copy()
    for tier in objective.split(" > "):
        scores[f"excess.{tier}"] = [_excess(terms, tier) for terms in scores["terms"]]
    return Run(
        objective=objective,
        groups=read_table(folder, "groups"),
        optima=optima,
        scores=scores,
        failures=read_table(folder, "failures"),
    )


def by_assignor(run: Run) -> list[AssignorVerdict]:
    """Return a verdict per assignor."""
    verdicts = []
    for name in run.assignors:
        rows = run.scores[run.scores["assignor"] == name]
        scored = rows[rows["status"] == "scored"]
        count = max(len(scored), 1)
        valid = scored[scored["valid"] == True]  # noqa: E712 - a column, and it may hold None
        zero = [valid[f"excess.{tier}"] == 0 for tier in run.tiers]
        optimal = sum(all(flags) for flags in zip(*zero, strict=True)) if len(valid) else 0
        verdicts.append(
            AssignorVerdict(
                assignor=name,
                scored=len(scored),
                unscored=len(rows) - len(scored),
                valid=len(valid) / count,
                balanced=int((valid["balanced"] == True).sum()) / count,  # noqa: E712
                optimal=optimal / count,
                tiers=tuple(_tier(valid, tier) for tier in run.tiers),
            )
        )
    return verdicts


def loads_of(run: Run, group_key: str) -> list[dict[str, Any]]:
    """Return a row a member of one group: partitions now, at the optimum and per assignor."""
    snapshot = run.groups.loc[run.groups["key"] == group_key, "snapshot"].iloc[0]
    group = Group.from_dict(json.loads(snapshot))
    columns: dict[str, Any] = {"now": Assignment.current(group).loads.tolist()}
    optimum = run.optima.loc[run.optima["group_key"] == group_key, "loads"]
    if len(optimum) and optimum.iloc[0] is not None:
        columns["optimum"] = optimum.iloc[0].tolist()
    scores = run.scores[run.scores["group_key"] == group_key]
    for name, loads in zip(scores["assignor"], scores["loads"], strict=True):
        if loads is not None and name != CURRENT:
            columns[name] = loads.tolist()
    return [
        {"member": member, **{what: loads[i] for what, loads in columns.items()}}
        for i, member in enumerate(group.members)
    ]


def findings(run: Run) -> list[str]:
    """Return the three findings that matter most, a sentence each.

    What members own now against the optimum; the assignor that comes closest and the one that
    stays farthest off; and how often KIP-54 calls balanced what a chain of moves still improves.
    """
    verdicts = [v for v in by_assignor(run) if v.assignor != CURRENT and v.scored]
    lines = [_current_finding(run)]
    if verdicts:
        best = max(verdicts, key=lambda v: (v.optimal * v.scored, v.optimal))
        worst = min(verdicts, key=lambda v: (v.optimal, -v.scored))
        excess = max(worst.tiers, key=lambda t: t.above, default=None)
        detail = ""
        if excess is not None and excess.worst:
            detail = f", at worst {excess.worst} above the optimal {excess.name} "
            detail += f"({excess.worst_group})"
        lines.append(
            f"Closest to the optimum: {best.assignor}, optimal on {_percent(best.optimal)} of "
            f"{best.scored} groups; farthest: {worst.assignor}, on {_percent(worst.optimal)} of "
            f"{worst.scored}{detail}."
        )
    if "balance" in run.tiers:
        lines.append(_balanced_finding(run))
    return lines


def current_verdict(run: Run, group_key: str) -> str:
    """Return the verdict on what the members of a group own now, in a few words."""
    optimum = run.optima[run.optima["group_key"] == group_key]
    if len(optimum) and optimum["status"].iloc[0] == "failed":
        return f"not solved: {optimum['reason'].iloc[0]}"
    rows = run.scores[(run.scores["group_key"] == group_key) & (run.scores["assignor"] == CURRENT)]
    if rows.empty:
        return "not scored"
    row = rows.iloc[0]
    if row["status"] != "scored":
        return f"{row['status']}: {row['reason']}"
    if not sum(row["loads"]):
        return "nothing owned yet"
    if not row["valid"]:
        return "not valid: a partition with nobody, with two, or with a stranger"
    for tier in run.tiers:
        excess = row[f"excess.{tier}"]
        if excess:
            return f"{tier} {int(excess)} above the optimum"
    return "optimal"


def _current_finding(run: Run) -> str:
    source = run.groups.set_index("key")["source"]
    solved = [key for key in run.optima["group_key"] if key in source.index]
    captured = [key for key in solved if not source[key].endswith(".jsonl")]
    others = sorted(set(solved) - set(captured))
    parts = [
        _standing(run, keys, what)
        for keys, what in ((captured, "captured groups"), (others, "other groups"))
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
    rest = f", and {invalid} hold no valid assignment (just joined, contested)" if invalid else ""
    return (
        f"Of {len(owned)} {what} that own something now, {good} are as good as can be, "
        f"{better} could be better{rest}."
    )


def _balanced_finding(run: Run) -> str:
    rows = run.scores[(run.scores["balanced"] == True) & (run.scores["assignor"] != CURRENT)]  # noqa: E712
    short = rows[rows["excess.balance"] > 0]
    return (
        f"KIP-54's definition calls {len(rows)} assignments balanced; {len(short)} of them "
        "are not as balanced as possible: chains of moves still improve them."
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


def _excess(terms: Any, tier: str) -> float | None:
    for term in terms if terms is not None else ():
        if term["name"] == tier:
            found = term["excess"] if term["excess"] is not None else term["excess_to"]
            return None if found is None else float(found)
    return None


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"
