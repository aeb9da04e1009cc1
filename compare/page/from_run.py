"""From a run: a page of the tables that `assay run` left."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from compare.page.composition import composed, made_now, unlike_names
from compare.page.trials import Trial
from compare.runs.rows import stored_score
from compare.runs.tables.latest_run import latest_run
from compare.runs.tables.stored import read_table
from compare.score import CURRENT, score_current
from compare.verdict import ALL_ALIKE, judge
from groups.columnar.rows import of_row
from groups.importers import Failure
from groups.tiers import parse_objective

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

    from compare.page.contents import Page
    from compare.runs.tables.latest_run import Run
    from compare.score import Score
    from compare.verdict import Judged

# For what the members hold now; the optima of the tables had the time that the run was given.
JUDGE_SECONDS = 1.0
_TAKEN = "unknown, taken as"


def page_of_run(folder: Path, benchmark: Sequence[str], command: str) -> Page:
    """Return the page of the latest run under a folder.

    What the members hold now is judged anew, from the snapshots in the tables: so it is sure, or
    says on what it depends. What assignors make of the groups is as the run scored it.

    Parameters
    ----------
    benchmark : sources whose groups are not the reader's
    command : that makes the page

    Raises
    ------
    BadInput
        Where the folder holds no run.
    """
    run = latest_run(folder)
    tiers = parse_objective(run.objective.split(" > "))
    apart = {path(source) for source in benchmark for path in (os.path.normpath, os.path.realpath)}
    known = run.groups[run.groups["key"].isin(set(run.optima["group_key"]))]
    # What a run in another folder calls its sources need not be there from here.
    is_apart = known["source"].map(
        lambda source: bool(apart & {os.path.normpath(source), os.path.realpath(source)})
    )
    yours = known[~is_apart]
    judged = _judged(yours, run.objective)
    rows = _rows(run)
    runs = read_table(folder, "runs").sort_values("run")
    return composed(
        judged,
        {
            id(one): _scores(one, rows.get(key, []))
            for one, key in zip(judged, yours["key"], strict=True)
        },
        sources=sorted(set(runs["input"])),
        unread=[
            Failure(row["source"], row["place"], row["reason"], row["group"])
            for _, row in run.failures.iterrows()
        ],
        benchmark=_trials(known[is_apart], rows),
        made=made_now(command, tiers, float(runs["time_limit_seconds"].iloc[-1]), _told(runs)),
        tiers=tiers,
    )


def _judged(groups: pd.DataFrame, objective: str) -> list[Judged]:
    found = [of_row(row) for row in groups.to_dict("records")]
    judged = judge(found, objective.split(" > "), time_limit=JUDGE_SECONDS)
    return [
        replace(one, verdict=replace(one.verdict, sure=False, condition=ALL_ALIKE))
        if one.best is not None and any(_TAKEN in line for line in one.group.assumed)
        else one
        for one in judged
    ]


def _rows(run: Run) -> dict[str, list[Score]]:
    """Return the scores of each group, by its key: now first, then as assignors are listed."""
    rank = {name: i for i, name in enumerate(run.assignors)}
    found: dict[str, list[Score]] = {}
    for row in run.scores.to_dict("records"):
        found.setdefault(row["group_key"], []).append(stored_score(row))
    for scores in found.values():
        scores.sort(key=lambda score: rank[score.assignor])
    return found


def _scores(judged: Judged, stored: Sequence[Score]) -> list[Score]:
    """Return the rows of a group; where it is not known who reads what, only that of now."""
    if judged.group.subscription_known.all():
        return list(stored)
    reference = judged.reference
    return [] if reference is None else [score_current(reference.group, reference)]


def _trials(groups: pd.DataFrame, rows: dict[str, list[Score]]) -> list[Trial]:
    names = unlike_names(list(zip(groups["group"], groups["captured_at"], strict=True)))
    columns = zip(names, groups["key"], groups["n_members"], groups["n_partitions"], strict=True)
    return [
        Trial(name, int(members), int(partitions), score)
        for name, key, members, partitions in columns
        for score in rows.get(key, [])
        if score.assignor != CURRENT
    ]


def _told(runs: pd.DataFrame) -> list[str]:
    return [
        f"assay run {row['input']}, {row['started_at']}, version {row['version']}, "
        f"{row['groups']:,} groups in {row['seconds']:.0f} s"
        for _, row in runs.iterrows()
    ]
