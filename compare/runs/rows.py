"""Rows: what a run says of a group, as rows of its tables, and back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from compare.limits import too_far
from compare.runs.tables.keys import content_key
from compare.runs.tables.stored import read_table
from compare.runs.verdicts import judged_all, verdict_row
from compare.score import (
    Excess,
    Score,
    ScoreTerm,
    score_assignors,
    score_without_subscriptions,
)
from groups.files import Found
from groups.importers import Failure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compare.runs.job import Job
    from groups.group import Group
    from heuristics.time_limit import TimeLimit
    from optimal.solution import Solution

Row = dict[str, object]


def found_row(found: Found | Failure) -> Row:
    """Return what was found as the row that a run begins with."""
    row: Row = dict.fromkeys(("text", "reason", "group", "captured_at"))
    row |= {"source": found.source, "place": found.place}
    if isinstance(found, Failure):
        told = {"reason": found.reason, "group": found.group, "captured_at": found.captured_at}
        return row | told
    return row | {"text": found.text}


def group_row(job: Job, found: Mapping[str, Any]) -> Row:
    """Return the row of a snapshot in ``groups``, or, with a reason, that in ``failures``.

    Parameters
    ----------
    found : what :func:`found_row` returned
    """
    read = _read(found)
    if isinstance(read, Failure):
        columns = ("source", "place", "reason", "captured_at")
        said = {column: getattr(read, column) for column in columns}
        return {"group": read.group, "key": content_key({"text": found["text"], **said}), **said}
    group = read.with_reset(job.reset)
    if job.assume_equal:
        group = group.with_equal_subscriptions()
    document = group.to_dict()
    lists = {tuple(m["subscription"] or ()) for m in document["members"].values()}
    return {
        "group": group.name,
        "key": content_key(document),
        "captured_at": group.captured_at,
        "source": found["source"],
        "place": found["place"],
        "members": len(group.members),
        "topics": len(group.topics),
        "partitions": group.n_partitions,
        "equal_subscriptions": len(lists) <= 1,
        "assumed": list(group.assumed),
        "snapshot": json.dumps(document, ensure_ascii=False),
    }


def _read(found: Mapping[str, Any]) -> Group | Failure:
    source, place = found["source"], found["place"]
    if found["text"] is not None:
        return Found(source, place, found["text"]).group()
    at = found["captured_at"]
    return Failure(source, place, found["reason"], found["group"], captured_at=at)


def rows_of(
    job: Job,
    task: Mapping[str, Any],
    group: Group,
    answer: Solution | str,
    limit: TimeLimit,
) -> dict[str, list[Row]]:
    """Return the rows of a group in ``optima`` and ``scores``, as many as the task wants.

    Parameters
    ----------
    task : `group_key`, `needs_optimum`, and the `assignors` to score
    answer : the reference solution, or why there is none; of a group of which it is not known who
        reads what, that is made here
    """
    common = {
        "group": group.name,
        "captured_at": group.captured_at,
        "group_key": task["group_key"],
        "objective": " > ".join(job.objective),
    }
    known = bool(group.subscription_known.all())
    (judged,) = judged_all([group], [answer], job.objective, job.time_limit)
    if not known and not isinstance(judged, str) and judged.reference is not None:
        answer = judged.reference
    optimum = {**common, "key": job.optimum_key(task["group_key"]), "verdict": verdict_row(judged)}
    if isinstance(answer, str):
        optimum |= {"status": "failed", "reason": answer, "assumed": list(group.assumed)}
        rows = [Score(name, "failed", f"no optimum: {answer}") for name in task["assignors"]]
    else:
        optimum |= _optimum_row(answer)
        rows = (
            score_assignors(group, answer, task["assignors"], limit)
            if known
            else [score_without_subscriptions(answer, name) for name in task["assignors"]]
        )
    scores = [
        {**common, "key": job.score_key(task["group_key"], row.assignor), **_score_row(row)}
        for row in rows
    ]
    return {"optima": [optimum] if task["needs_optimum"] else [], "scores": scores}


def _optimum_row(solution: Solution) -> Row:
    found = solution.assignment
    return {
        "status": str(solution.status),
        "stopped": str(solution.stopped),
        "method": solution.method,
        "seconds": solution.seconds,
        "terms": [vars(term) for term in solution.terms],
        "proof": str(solution.proof.kind),
        "assumed": list(solution.group.assumed),
        "loads": None if found is None else found.loads.tolist(),
    }


def _score_row(row: Score) -> Row:
    columns = ("assignor", "status", "reason", "valid", "balanced", "rounds", "revoked", "seconds")
    terms = None
    if row.terms is not None:
        terms = []
        for term in row.terms:
            low, high = term.excess if isinstance(term.excess, tuple) else (None, None)
            exact = None if isinstance(term.excess, tuple) else term.excess
            terms.append(
                {
                    "name": term.name,
                    "value": term.value,
                    "excess": exact,
                    "excess_from": low,
                    "excess_to": high,
                }
            )
    return {**{c: getattr(row, c) for c in columns}, "terms": terms, "loads": row.loads}


def worse_rows(
    job: Job, keys: Sequence[str], assignors: Sequence[str], limits: Mapping[str, int]
) -> list[str]:
    """Return a line for each row of a run that is worse than the limits allow.

    The rule is that of one group: :func:`compare.limits.too_far`.
    """
    wanted = {job.score_key(key, name) for key in keys for name in assignors}
    scores = read_table(job.out, "scores").sort_values(["group", "assignor", "key"])
    lines = []
    for _, row in scores[scores["key"].isin(wanted)].iterrows():
        lines += [f"{row['group']}: {line}" for line in too_far([stored_score(row)], limits)]
    return lines


def stored_score(row: Mapping[str, Any]) -> Score:
    """Return a row of the table ``scores`` as it was scored; its violations are not stored."""
    return Score(
        assignor=row["assignor"],
        status=row["status"],
        reason=row["reason"],
        valid=_truth(row["valid"]),
        terms=None if row["terms"] is None else tuple(map(_stored_term, row["terms"])),
        balanced=_truth(row["balanced"]),
        rounds=int(row["rounds"]),
        revoked=int(row["revoked"]),
        seconds=float(row["seconds"]),
        loads=None if row["loads"] is None else tuple(map(int, row["loads"])),
    )


def _truth(value: object) -> bool | None:
    return None if value is None else bool(value)


def _stored_term(term: Mapping[str, Any]) -> ScoreTerm:
    low, high = term["excess_from"], term["excess_to"]
    excess: Excess = None if term["excess"] is None else int(term["excess"])
    if low is not None:
        excess = (int(low), None if high is None else int(high))
    return ScoreTerm(term["name"], int(term["value"]), excess)
