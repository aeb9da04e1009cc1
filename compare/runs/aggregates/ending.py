"""Ending: what a run has found of its groups, read from the tables in portions."""

from __future__ import annotations

from collections import Counter
from heapq import nsmallest
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from compare.overview import NAMED, Glance, Overview
from compare.runs.aggregates.not_scored import not_scored
from compare.runs.aggregates.resting import rest_on_guesses
from compare.runs.aggregates.worst import first_of_each, measured, worst_first
from compare.runs.found import Ending, Unread
from compare.runs.tables.chosen import chosen
from compare.scores import CURRENT
from compare.sentences import spread
from compare.verdict import EMPTY, Verdict
from groups.wording import MOST_NAMED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from compare.runs.job import Job

MOST_LINES = 20
COLUMNS = ("key", "group_key", "group", "captured_at", "assumed", "status", "verdict", "loads")


def ending_of(job: Job, group_keys: Sequence[str], failure_keys: Sequence[str]) -> Ending:
    """Return what the tables say of the groups of a run, each of which is looked at once.

    Parameters
    ----------
    group_keys, failure_keys : of the rows of ``groups`` and ``failures`` that the input came to
    """
    names: list[pa.Table] = []
    worst = None
    proved, questions, guessed = 0, 0, Counter[str]()
    for rows in chosen(job.out, "optima", job.optimum_keys(group_keys), COLUMNS):
        verdicts = rows["verdict"].combine_chunks()
        names.append(pa.table({"says": verdicts.field("says"), "group": rows["group"]}))
        proved += pc.sum(pc.equal(rows["status"], "optimal")).as_py() or 0
        questions += len(rows) - verdicts.field("question").null_count
        lists = rows["assumed"].combine_chunks()
        lines, of_row = lists.flatten(), pc.list_parent_indices(lists)
        for said, rests in rest_on_guesses(lines, of_row, len(lists)):
            guessed[said] += int(rests.sum())
        ranked = _ranked(rows, verdicts)
        worst = _worst(ranked if worst is None else pa.concat_tables([worst, ranked]))
    found = pa.concat_tables(names).combine_chunks() if names else None
    return Ending(
        groups=0 if found is None else pc.count_distinct(found["group"]).as_py(),
        overview=_overview(job, found, worst, questions, guessed),
        proved=proved,
        not_judged=_not_judged(found),
        unread=_unread(job.out, failure_keys),
        not_scored=not_scored(job, group_keys),
    )


def _overview(
    job: Job,
    found: pa.Table | None,
    worst: pa.Table | None,
    questions: int,
    guessed: Mapping[str, int],
) -> Overview:
    if found is None or worst is None:
        return Overview(0, 0, {})
    judged = found.filter(pc.is_valid(found["says"]))
    counted = judged.group_by("says").aggregate([([], "count_all"), ("group", "count_distinct")])
    told = {row["says"]: row for row in counted.to_pylist()}
    return Overview(
        captured=len(judged),
        groups=pc.count_distinct(judged["group"]).as_py(),
        says={says: row["count_all"] for says, row in told.items()},
        names={says: row["group_count_distinct"] for says, row in told.items()},
        questions=questions,
        guessed=guessed,
        worst=glances(job, worst.to_pylist()),
    )


def _not_judged(found: pa.Table | None) -> tuple[int, tuple[str, ...]]:
    if found is None:
        return 0, ()
    names = found.filter(pc.is_null(found["says"]))["group"]
    first = pc.unique(names).sort().slice(0, MOST_LINES).to_pylist()
    return len(names), tuple(first)


def _unread(folder: Path, keys: Sequence[str]) -> tuple[int, tuple[Unread, ...]]:
    first: list[Unread] = []
    count = 0
    for rows in chosen(folder, "failures", keys, ("place", "group", "reason")):
        count += len(rows)
        some = rows.take(pc.sort_indices(rows, sort_keys=[("place", "ascending")])[:MOST_LINES])
        for row in some.to_pylist():
            first.append(Unread(row["place"], row["group"] or "", row["reason"]))
        first = nsmallest(MOST_LINES, first)
    return count, tuple(first)


def glances(job: Job, optima: Sequence[Mapping[str, Any]]) -> list[Glance]:
    """Return rows of ``optima`` as lines show them.

    Parameters
    ----------
    optima : rows with the columns `COLUMNS`
    """
    keys = [row["group_key"] for row in optima]
    sizes = by_key(job.out, "groups", keys, ("key", "n_members", "n_partitions"))
    score_keys = job.score_keys(keys, CURRENT)
    loads = by_key(job.out, "scores", score_keys, ("key", "loads"))
    return [
        glance(row, sizes.get(row["group_key"], {}), loads.get(score_key, {}).get("loads"))
        for row, score_key in zip(optima, score_keys, strict=True)
    ]


def verdict_in(stored: Mapping[str, Any]) -> Verdict:
    """Return a verdict as it was stored."""
    told = {name: value for name, value in stored.items() if name != "to_move"}
    return Verdict(**told)


def glance(row: Mapping[str, Any], size: Mapping[str, Any], loads: Sequence[int] | None) -> Glance:
    """Return a row of ``optima`` as a line shows it.

    Parameters
    ----------
    row : with the columns `COLUMNS`
    size : `n_members` and `n_partitions`
    loads : of each member now; None where they are not known
    """
    verdict = verdict_in(row["verdict"])
    there = verdict.says not in EMPTY
    best = row["loads"] if there and verdict.question is None else None
    now = loads if there else None
    return Glance(
        name=row["group"],
        captured_at=row["captured_at"],
        members=size.get("n_members", 0),
        # The optimum holds just those that somebody reads.
        partitions=sum(row["loads"]) if there and row["loads"] else size.get("n_partitions", 0),
        verdict=verdict,
        now=None if now is None else spread(now),
        best=None if best is None else spread(best),
        to_move=row["verdict"]["to_move"],
        idle=0 if now is None else sum(load == 0 for load in now),
        loads=tuple(now or ()),
    )


def by_key(
    folder: Path, name: str, keys: Sequence[str], columns: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Return the rows of some keys by their keys; the key is among the columns."""
    found = chosen(folder, name, keys, columns)
    return {row["key"]: row for table in found for row in table.to_pylist()}


def _ranked(rows: pa.Table, verdicts: pa.StructArray) -> pa.Table:
    """Return the rows that have a verdict, with what they are sorted by."""
    for name, column in measured(verdicts).items():
        rows = rows.append_column(name, column)
    ranked = rows.append_column("optimum_key", rows["key"])
    return ranked.filter(pc.is_valid(ranked["label"]))


def _worst(rows: pa.Table) -> pa.Table:
    """Return the first rows, and of each verdict that a sentence names the first ones."""
    rows = rows.take(worst_first(rows))
    of_verdict = first_of_each(rows["label"], MOST_NAMED)
    named = np.asarray(pc.is_in(rows["label"], value_set=pa.array(NAMED, pa.string())), bool)
    return rows.filter(pa.array((np.arange(len(rows)) < MOST_LINES) | named & of_verdict))
