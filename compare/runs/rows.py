"""Rows: what a run says of a group, as rows of its tables, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from compare.runs.tables.keys import content_key
from compare.runs.tables.schemas import TABLES
from compare.scores import Excess, Score, ScoreTerm

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from compare.runs.job import Job
    from groups.errors import Failure
    from optimal.solution import Solution

Row = dict[str, object]


class Capture(NamedTuple):
    """A capture of a group, as it stands in ``groups``."""

    key: str
    group: str
    captured_at: str | None
    assumed: Sequence[str]


def captures_in(rows: pa.RecordBatch) -> list[Capture]:
    """Return the capture of each row of ``groups``."""
    columns = [rows.column(name).to_pylist() for name in Capture._fields]
    return [Capture(*values) for values in zip(*columns, strict=True)]


def failure_row(failure: Failure) -> Row:
    """Return the row in ``failures``."""
    columns = ("source", "place", "reason", "captured_at", "group")
    said: Row = {column: getattr(failure, column) for column in columns}
    return {"key": content_key(said), **said}


def optimum_row(
    job: Job, capture: Capture, answer: Solution | str, verdict: Row | None = None
) -> Row:
    """Return the row of a group in ``optima``.

    Parameters
    ----------
    answer : the reference solution, or why there is none
    verdict : as :func:`compare.runs.verdicts.verdict_row` returns it
    """
    row = _common(job, capture) | {
        "key": job.optimum_key(capture.key),
        "assumed": list(capture.assumed or ()),
        "verdict": verdict,
    }
    if isinstance(answer, str):
        return row | {"status": "failed", "reason": answer}
    found = answer.assignment
    return row | {
        "status": str(answer.status),
        "stopped": str(answer.stopped),
        "method": answer.method,
        "seconds": answer.seconds,
        "terms": [vars(term) for term in answer.terms],
        "proof": str(answer.proof.kind),
        "loads": None if found is None else found.loads.tolist(),
    }


def score_row(job: Job, capture: Capture, score: Score) -> Row:
    """Return a row of a group in ``scores``."""
    columns = ("assignor", "status", "reason", "valid", "balanced", "rounds", "revoked", "seconds")
    terms = None
    if score.terms is not None:
        terms = []
        for term in score.terms:
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
    row = _common(job, capture) | {"key": job.score_key(capture.key, score.assignor)}
    row |= {column: getattr(score, column) for column in columns}
    return row | {"terms": terms, "loads": score.loads}


def unscored(assignor: str, reason: str) -> Score:
    """Return the score of an assignor on a group that has no optimum."""
    return Score(assignor, "failed", f"no optimum: {reason}")


def batch(name: str, rows: Iterable[Row]) -> pa.RecordBatch:
    """Return rows as a batch of a table."""
    return pa.RecordBatch.from_pylist(list(rows), TABLES[name])


def _common(job: Job, capture: Capture) -> Row:
    return {
        "group": capture.group,
        "captured_at": capture.captured_at,
        "group_key": capture.key,
        "objective": job.tiers,
    }


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
