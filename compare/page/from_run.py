"""From a run: a page made from the summaries of `assay run` and its worst groups."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from compare.fleet.aggregates import Aggregates
from compare.fleet.ending import OF_GLANCE, glance, verdict_in
from compare.fleet.facts import MOST_WORST
from compare.fleet.tables import read_table, stored
from compare.judged import judge
from compare.page.comparison import comparison_in
from compare.page.composition import composed, made_now
from compare.page.contents import Material
from compare.page.over_time import over_time, whole_time
from compare.scores import CURRENT, STORED, UNKNOWN, ScoredGroup, stored_score
from groups.collection import file_order
from groups.errors import BadInput, Failure
from groups.table.layout import LAYOUT
from groups.table.rows import of_row
from groups.tiers import is_flow, parse_objective
from groups.wording import counted
from heuristics import assignors

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    import pandas as pd

    from compare.overview import Glance
    from compare.page.contents import Page
    from compare.scores import Score

# Time limit for solving a group that is shown in full; its verdict is that of the run.
JUDGE_SECONDS = 1.0
# Most groups in full if a flow solves them, and if a search does; and their partitions together.
MOST_IN_FULL, MOST_SEARCHED = 200, 20
MOST_PARTITIONS = 200_000
MOST_UNREAD = 300
MOST_RUNS = 20


def page_of_run(folder: str, benchmark: Sequence[str], command: str) -> Page:
    """Return the page of the latest run under a folder.

    Only the summaries and the worst groups are read, so that the page of a large fleet takes as
    long as that of some hundred groups.

    Parameters
    ----------
    benchmark : sources whose groups are a benchmark, not the reader's
    command : the command line that makes the page

    Raises
    ------
    BadInput
        If the folder holds no run, or a source of `benchmark` is only part of an input.
    """
    runs = read_table(folder, "runs")
    if runs.empty:
        raise BadInput(f"{folder}: no run in it, assay run fills it")
    runs = runs.sort_values("run")
    objective = str(runs["objective"].iloc[-1])
    tiers = parse_objective(objective.split(" > "))
    found = Aggregates.stored(folder, objective)
    apart = families_apart(found, benchmark)
    yours = found.of([family for family in found.families if family not in apart])
    glances, scored = _sample(folder, objective, yours)
    unread = _unread(folder)
    material = Material(
        made=made_now(
            command, tiers, float(runs["time_limit_seconds"].iloc[-1]), _run_lines(runs, found)
        ),
        sources=_sources(runs["input"], benchmark),
        times=[whole_time(row["captured_at"]) for row in yours.rows("trend", "captured_at")],
        unread=unread[:MOST_UNREAD],
        unread_count=len(unread),
        assumed=_assumed(yours),
        yours=comparison_in(yours, tiers),
        benchmark=comparison_in(found.of(sorted(apart)), tiers, without=[CURRENT]),
        unknown=yours.counts("groups").get("unknown", 0),
        trend=over_time(folder, objective, yours, glances),
    )
    own = [one for one in unread if not _is_apart(one, apart)]
    overview = yours.overview(glances).with_missed(_missed(folder, own))
    return composed(overview, scored, material, tiers=tiers)


def _sources(inputs: Iterable[str], benchmark: Sequence[str]) -> list[str]:
    """Return the inputs for the title: without those of the benchmark, unless all are."""
    apart = {os.path.realpath(source) for source in benchmark}
    own = [one for one in sorted(set(inputs)) if os.path.realpath(one) not in apart]
    return own or sorted(set(inputs))


def families_apart(found: Aggregates, benchmark: Sequence[str]) -> set[str]:
    """Return the families (inputs) of the benchmark.

    They are compared as paths, because the run's inputs need not exist here.

    Raises
    ------
    BadInput
        If a source is only part of a family.
    """
    apart: set[str] = set()
    for source in benchmark:
        names = {path(source) for path in (os.path.normpath, os.path.realpath)}
        same = {
            family
            for family in found.families
            for path in {os.path.normpath(family), os.path.realpath(family)}
            if any(path == name or path.startswith(f"{name}{os.sep}") for name in names)
        }
        folders = {os.path.dirname(name) or "." for name in names}
        if not same and folders & {os.path.normpath(family) for family in found.families}:
            raise BadInput(
                f"benchmark {source}: of a run only files of many groups and whole folders can "
                "be set apart"
            )
        apart |= same
    return apart


def _sample(
    folder: str, objective: str, found: Aggregates
) -> tuple[list[Glance], list[ScoredGroup]]:
    """Return a glance at each of the worst groups, and the first of them in full with scores."""
    worst = found.worst(MOST_WORST)
    shown = (*OF_GLANCE, "subscriptions_known")
    optima = _by_key(folder, "optima", [row["optimum_key"] for row in worst], shown)
    kept = [row for row in worst if row["optimum_key"] in optima]
    keys = [row["group_key"] for row in kept]
    sizes = [optima[row["optimum_key"]]["n_partitions"] for row in kept]
    whole = many_in_full(sizes, objective)
    scores = _scores(folder, objective, keys, keys[:whole])
    stored = [optima[row["optimum_key"]] for row in kept]
    now = [{one.assignor: one.loads for one in scores.get(key, [])} for key in keys]
    glances = [glance(row, of.get(CURRENT)) for row, of in zip(stored, now, strict=True)]
    rows = _by_key(folder, "groups", keys[:whole], LAYOUT.names)
    groups = [
        group.with_equal_subscriptions() if row["subscriptions_known"] else group
        for group, row in zip((of_row(rows[key]) for key in keys[:whole]), stored, strict=False)
    ]
    judged = [
        replace(one, verdict=verdict_in(row["verdict"]))
        for one, row in zip(
            judge(groups, objective.split(" > "), time_limit=JUDGE_SECONDS), stored, strict=False
        )
    ]
    rank = {name: i for i, name in enumerate([CURRENT, *assignors()])}
    of_each = [
        sorted(
            (one for one in scores.get(key, []) if one.reason != UNKNOWN),
            key=lambda one: (rank.get(one.assignor, len(rank)), one.assignor),
        )
        for key in keys[:whole]
    ]
    made = zip(judged, of_each, strict=True)
    return glances, [ScoredGroup(one, one.reference, rows) for one, rows in made]


def many_in_full(partitions: Sequence[int], objective: str) -> int:
    """Return how many groups to show in full, at least one.

    Parameters
    ----------
    partitions : number of partitions of each group, in the order in which they are shown
    """
    flows = is_flow(objective.split(" > "))
    most = MOST_IN_FULL if flows else MOST_SEARCHED
    fitting = sum(total <= MOST_PARTITIONS for total in accumulate(partitions))
    return min(most, max(1, fitting), len(partitions))


def _scores(
    folder: str, objective: str, keys: Sequence[str], in_full: Sequence[str]
) -> dict[str, list[Score]]:
    """Return scores by group key: of the present assignment, and all for groups in full."""
    columns = ("group_key", "objective", *STORED)
    found: dict[str, dict[str, Score]] = {}
    whole = pa.array(in_full, pa.string())
    rows = stored(folder, "scores", columns, by="group_key", keys=keys)
    wanted = pc.or_(
        pc.is_in(rows["group_key"], value_set=whole), pc.equal(rows["assignor"], CURRENT)
    )
    wanted = pc.and_(wanted, pc.equal(rows["objective"], objective))
    for row in rows.filter(wanted).to_pylist():
        found.setdefault(row["group_key"], {}).setdefault(row["assignor"], stored_score(row))
    return {key: [*scores.values()] for key, scores in found.items()}


def _assumed(found: Aggregates) -> list[tuple[str, tuple[str, ...], int]]:
    """Return (line, (name of one group,), number of groups) of what was assumed."""
    rows = sorted(found.rows("assumed", "label"), key=lambda row: (-row["count"], row["label"]))
    return [(row["label"], (row["group"],), row["count"]) for row in rows]


def _by_key(
    folder: str, name: str, keys: Sequence[str], columns: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Return the rows of a table with some keys, by key."""
    rows = stored(folder, name, ["key", *columns], keys=keys)
    return {row["key"]: row for row in rows.to_pylist()}


def _unread(folder: str) -> list[Failure]:
    """Return the inputs that could not be read, by source and line."""
    rows = stored(folder, "failures", ["source", "place", "reason", "group"]).to_pylist()
    return sorted(
        (Failure(**row) for row in rows),
        key=lambda one: (file_order(one.source, one.place), one.reason),
    )


def _is_apart(failure: Failure, apart: Collection[str]) -> bool:
    """Return whether an input belongs to families of the benchmark."""
    source = failure.source.partition(", ")[0]
    return source in apart or (os.path.dirname(source) or ".") in apart


def _missed(folder: str, unread: Sequence[Failure]) -> dict[str, str]:
    """Return the groups that failed and have no snapshot, each with the reason."""
    named = {one.group: one.reason for one in unread if one.group is not None}
    rows = stored(folder, "optima", ["group"], by="group", keys=[*named])
    known = {*rows["group"].to_pylist()}
    return {name: reason for name, reason in named.items() if name not in known}


def _run_lines(runs: pd.DataFrame, found: Aggregates) -> list[str]:
    lines = [
        f"assay run {row['input']}, {row['started_at']}, version {row['version']}, "
        # A run that failed has not counted its captures, and pandas has floats beside a null.
        + (
            f"{counted(int(row['groups']), 'capture')} in {row['seconds']:.0f} s"
            if row["ended"] == "done"
            else f"failed: {row['reason']}"
        )
        for _, row in runs.tail(MOST_RUNS).iterrows()
    ]
    if len(runs) > MOST_RUNS:
        lines.append(f"and {counted(len(runs) - MOST_RUNS, 'run')} before")
    stale = "A run has added to the tables since, and has not come to its end: run it again."
    return lines if found.current else [*lines, stale]
