"""Latest run: its tables, and what they say of one group."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from compare.runs.stored import read_table
from compare.score import CURRENT
from groups.assignment import Assignment
from groups.errors import BadInput
from groups.group import Group
from heuristics import assignors

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    import pandas as pd


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


def loads_of(run: Run, group_key: str) -> list[dict[str, object]]:
    """Return a row a member of one group: partitions now, at the optimum and per assignor."""
    snapshot = run.groups.loc[run.groups["key"] == group_key, "snapshot"].iloc[0]
    group = Group.from_dict(json.loads(snapshot))
    columns: dict[str, list[int]] = {"now": Assignment.current(group).loads.tolist()}
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
        return "not valid: a partition has no member, two, or one that does not read its topic"
    for tier in run.tiers:
        excess = row[f"excess.{tier}"]
        if excess:
            return f"{tier} {int(excess)} above the optimum"
    return "optimal"


def _excess(terms: Iterable[Mapping[str, Any]] | None, tier: str) -> float | None:
    for term in terms if terms is not None else ():
        if term["name"] == tier:
            found = term["excess"] if term["excess"] is not None else term["excess_to"]
            return None if found is None else float(found)
    return None
