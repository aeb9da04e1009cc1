"""Answers: rows of groups to rows of optima and scores, many groups at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from compare.fleet.tables import TABLES, VERDICT, content_key
from compare.fleet_scores import optimum_columns, score_columns, score_fleet, score_fleet_current
from compare.judged import judge, judged_by
from compare.scores import (
    CURRENT,
    OPTIMUM,
    Score,
    outcome_of,
    score_many,
    score_outcome,
    score_without_subscriptions,
)
from compare.verdict import ALL_ALIKE
from groups.arrays import NOBODY
from groups.assignment import Assignment
from groups.columnar.batch import each_of
from groups.columnar.layout import joined
from groups.columns.segments import some
from groups.errors import AssayError
from groups.fleet import Fleet
from groups.group import Group
from groups.portions import in_portions
from groups.tiers import MOVES, is_flow, values_in
from heuristics.time_limit import TimeLimit
from optimal.solution import Status
from optimal.solve import solve, solve_fleet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from compare.fleet.job import Job, Lack
    from compare.fleet_scores import FleetScores
    from compare.judged import Judged
    from groups.arrays import Bools
    from groups.columnar.layout import BadRow
    from groups.errors import Failure
    from heuristics.assignor import Outcome
    from optimal.solution import Solution
    from optimal.solutions import Solutions

Row = dict[str, object]
# A solve of more members leaves the processor's cache; one of more partitions takes long.
MOST_MEMBERS = 5_000
MOST_PARTITIONS = 200_000
MOST_GROUPS = 1_024
# A group of the input, or why a part of it holds none; and what is answered of the group.
ANSWERS = pa.schema(
    [
        ("key", pa.string()),
        ("is_group", pa.bool_()),
        ("groups", pa.struct(TABLES["groups"])),
        ("failures", pa.struct(TABLES["failures"])),
        ("optima", pa.struct(TABLES["optima"])),
        ("scores", pa.list_(pa.struct(TABLES["scores"]))),
    ]
)
# What is read of it, before anything is answered.
READ = pa.schema([ANSWERS.field(name) for name in ("key", "is_group", "groups", "failures")])


def answered(job: Job, rows: pa.RecordBatch, lack: Lack) -> pa.RecordBatch:
    """Solve and score groups; return rows of `ANSWERS`, in their order.

    Parameters
    ----------
    rows : of ``groups``, each key once
    """
    optima, scores = [], []
    limit = _limit(job)
    for portion in _portions(rows, job):
        together, others = _sorted_out(job, portion)
        if len(together.solution):
            now = score_fleet_current(together.solution)
            if lack.optimum:
                optima.append(together.optima(now))
            if CURRENT in lack.assignors:
                scores.append(together.scores(score_columns(now), CURRENT))
            scores += together.asked(lack.others, limit)
        ones = [
            _solved(job, *one) for one in zip(captures_in(others), each_of(others), strict=True)
        ]
        if lack.optimum:
            optima.append(batch("optima", (optimum_row(job, one) for one in ones)))
        scores.append(_scores_of(job, ones, lack.assignors, limit))
    return nested(rows, joined(optima, TABLES["optima"]), joined(scores, TABLES["scores"]))


def read(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows of ``groups`` as rows of `READ`."""
    nothing = pa.nulls(len(rows), READ.field("failures").type)
    is_group = pa.repeat(pa.scalar(True), len(rows))
    columns = [rows.column("key"), is_group, _structs(rows), nothing]
    return pa.RecordBatch.from_arrays(columns, schema=READ)


def whole(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows of `READ` as rows of `ANSWERS`, of which nothing is answered."""
    columns = [
        rows.column(field.name) if field.name in READ.names else pa.nulls(len(rows), field.type)
        for field in ANSWERS
    ]
    return pa.RecordBatch.from_arrays(columns, schema=ANSWERS)


def nested(
    rows: pa.RecordBatch, optima: pa.RecordBatch | None, scores: pa.RecordBatch | None
) -> pa.RecordBatch:
    """Return rows of `ANSWERS` of groups, their optima and scores, in the order of the groups."""
    keys = rows.column("key")
    optimum = pa.nulls(len(rows), ANSWERS.field("optima").type)
    if optima is not None and len(optima):
        at = pc.index_in(keys, value_set=optima.column("group_key"))
        optimum = _structs(optima).take(at)
    listed = pa.nulls(len(rows), ANSWERS.field("scores").type)
    if scores is not None and len(scores):
        listed = _listed(keys, _structs(scores), scores.column("group_key"))
    columns = {
        "key": keys,
        "is_group": pa.repeat(pa.scalar(True), len(rows)),
        "groups": _structs(rows.select(TABLES["groups"].names)),
        "failures": pa.nulls(len(rows), ANSWERS.field("failures").type),
        "optima": optimum,
        "scores": listed,
    }
    return pa.RecordBatch.from_arrays([columns[name] for name in ANSWERS.names], schema=ANSWERS)


def with_scores(rows: pa.RecordBatch, more: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Return rows of `ANSWERS` with the scores of others of the same groups behind their own."""
    parts = [one.column("scores").flatten() for one in (rows, *more)]
    scores = pa.concat_arrays(parts)
    listed = _listed(rows.column("key"), scores, scores.field("group_key"))
    columns = {**dict(zip(rows.schema.names, rows.columns, strict=True)), "scores": listed}
    return pa.RecordBatch.from_arrays([*columns.values()], schema=ANSWERS)


def _listed(keys: pa.Array, scores: pa.StructArray, of_group: pa.Array) -> pa.ListArray:
    """Return the scores of each key as a list, in their order."""
    of_row = np.asarray(pc.index_in(of_group, value_set=keys))
    order = np.argsort(of_row, kind="stable")
    ends = np.searchsorted(of_row[order], np.arange(len(keys) + 1)).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), scores.take(pa.array(order)))


def failed(failures: Sequence[Failure]) -> pa.RecordBatch:
    """Return rows of `READ` of parts of the input that hold no group."""
    columns = ("source", "place", "reason", "captured_at", "group")
    rows = []
    for failure in failures:
        said: Row = {column: getattr(failure, column) for column in columns}
        key = content_key(said)
        rows.append({"key": key, "is_group": False, "failures": {"key": key, **said}})
    return pa.RecordBatch.from_pylist(rows, READ)


def lost(job: Job, rows: pa.RecordBatch, lack: Lack, reason: str) -> pa.RecordBatch:
    """Return rows of `ANSWERS` of groups that could not be solved, and why."""
    ones = [One(capture, None, reason, reason) for capture in captures_in(rows)]
    optima = batch("optima", (optimum_row(job, one) for one in ones if lack.optimum))
    return nested(rows, optima, _scores_of(job, ones, lack.assignors, job.time_limit))


def unscored(
    job: Job, rows: pa.RecordBatch, assignors: Sequence[str], reason: str
) -> pa.RecordBatch:
    """Return rows of `ANSWERS` of groups on which assignors could not be asked, and why."""
    scores = [
        score_row(job, capture, Score(name, "failed", reason))
        for capture in captures_in(rows)
        for name in assignors
    ]
    return nested(rows, None, batch("scores", scores))


class Capture(NamedTuple):
    """A capture of a group: what ``optima`` and ``scores`` repeat of its row in ``groups``."""

    group_key: str
    group: str
    captured_at: str | None
    source: str
    n_members: int
    n_partitions: int
    lag: int | None
    subscriptions_known: bool
    assumed: Sequence[str]


def captures_in(rows: pa.RecordBatch) -> list[Capture]:
    """Return the capture of each row of ``groups``."""
    columns = [column.to_pylist() for column in repeated(rows).values()]
    return [Capture(*values) for values in zip(*columns, strict=True)]


def repeated(rows: pa.RecordBatch) -> dict[str, pa.Array]:
    """Return the columns of `Capture` of rows of ``groups``."""
    named = {name: rows.column(name) for name in Capture._fields if name in rows.schema.names}
    more = {
        "group_key": rows.column("key"),
        "lag": _known_lag(rows.column("lag")),
        "subscriptions_known": pa.array(
            [all(known or ()) for known in rows.column("subscription_known").to_pylist()]
        ),
        "assumed": rows.column("assumed").fill_null([]),
    }
    return {name: (named | more)[name] for name in Capture._fields}


def _known_lag(lags: pa.ListArray) -> pa.Array:
    """(groups,) the records of all partitions of which the lag is known, null where none is."""
    of_row = np.asarray(pc.list_parent_indices(lags))
    records = np.asarray(lags.flatten())
    is_known = records >= 0
    found = np.zeros(len(lags), np.int64)
    np.add.at(found, of_row[is_known], records[is_known])
    known = np.bincount(of_row[is_known], minlength=len(lags)) > 0
    return pa.array(found, mask=~known)


def batch(name: str, rows: Iterator[Row] | Sequence[Row]) -> pa.RecordBatch:
    """Return rows as a batch of a table."""
    return pa.RecordBatch.from_pylist(list(rows), TABLES[name])


@dataclass(frozen=True)
class One:
    """A group by itself: the best that can be had, or why nothing can, and what it has now."""

    capture: Capture
    group: Group | None
    answer: Solution | str
    judged: Judged | str


def _solved(job: Job, capture: Capture, group: Group | BadRow) -> One:
    if not isinstance(group, Group):
        return One(capture, None, group.reason, group.reason)
    answer: Solution | str
    try:
        answer = solve(group, job.objective, time_limit=job.time_limit)
    except AssayError as error:
        answer = str(error)
    judged = judged_one(group, answer, job)
    if not group.subscription_known.all() and not isinstance(judged, str):
        answer = judged.reference or answer
    return One(capture, group, answer, judged)


def judged_one(group: Group, answer: Solution | str, job: Job) -> Judged | str:
    """Return what is known of a group, or why nothing is.

    Parameters
    ----------
    answer : its optimum, or why it has none; where it is not known who reads what, that is not
        looked at: the group is judged between its two optima
    """
    if group.subscription_known.all():
        return answer if isinstance(answer, str) else as_taken(judged_by(group, answer))
    try:
        (judged,) = judge([group], job.objective, time_limit=job.time_limit)
    except AssayError as error:
        return str(error)
    return judged


def as_taken(judged: Judged) -> Judged:
    """Return the verdict with its condition, where members were taken to read the same topics."""
    if judged.best is None or not any(map(is_taken, judged.group.assumed)):
        return judged
    return replace(judged, verdict=replace(judged.verdict, sure=False, condition=ALL_ALIKE))


def is_taken(assumed: str) -> bool:
    """Return whether a line of what was assumed is that members read the same topics."""
    return assumed.startswith("subscription of ") and " unknown, taken as " in assumed


def verdict_row(judged: Judged | str) -> Row | None:
    """Return the ``verdict`` of a row in ``optima``; None where nothing is known."""
    if isinstance(judged, str):
        return None
    target = judged.target
    return vars(judged.verdict) | {"to_move": None if target is None else len(target.moved)}


def optimum_row(job: Job, one: One) -> Row:
    """Return the row of a group in ``optima``."""
    capture, answer = one.capture, one.answer
    row = _common(job, capture, job.optimum_made_by) | {
        "key": job.optimum_keys([capture.group_key])[0],
        "verdict": verdict_row(one.judged),
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
            told = {"value": term.value, "excess": exact, "excess_from": low, "excess_to": high}
            terms.append({"name": term.name, **told})
    row = _common(job, capture, job.score_made_by(score.assignor))
    row |= {"key": job.score_keys([capture.group_key], score.assignor)[0]}
    row |= {column: getattr(score, column) for column in columns}
    return row | {"terms": terms, "loads": score.loads}


def _common(job: Job, capture: Capture, made_by: str) -> Row:
    return {**capture._asdict(), "made_by": made_by, "objective": job.tiers}


def _scores_of(
    job: Job, found: Sequence[One], assignors: Sequence[str], limit: TimeLimit | float
) -> pa.RecordBatch:
    """Return rows in ``scores``; assignors are not tried where subscriptions are unknown."""
    rows: list[Sequence[Score]] = []
    for group, answer in ((one.group, one.answer) for one in found):
        if isinstance(answer, str) or group is None:
            rows.append([Score(name, "failed", f"no optimum: {answer}") for name in assignors])
        elif not group.subscription_known.all():
            rows.append([score_without_subscriptions(answer, name) for name in assignors])
        else:
            rows += score_many([group], [answer], assignors, limit)
    pairs = zip(found, rows, strict=True)
    return batch("scores", (score_row(job, one.capture, s) for one, made in pairs for s in made))


@dataclass(frozen=True, eq=False)
class _Together:
    """Groups that were solved together.

    Attributes
    ----------
    rows : of ``groups``, in the order of the fleet
    """

    job: Job
    rows: pa.RecordBatch
    solution: Solutions

    def optima(self, now: FleetScores) -> pa.RecordBatch:
        """Return the rows in ``optima``; `now` is what the members hold, against the solution."""
        job = self.job
        columns = self._common(job.optimum_made_by)
        columns["key"] = pa.array(job.optimum_keys(columns["group_key"].to_pylist()), pa.string())
        columns["verdict"] = self._verdicts(now)
        return _batch("optima", columns | optimum_columns(self.solution))

    def scores(self, columns: Mapping[str, pa.Array], assignor: str) -> pa.RecordBatch:
        """Return the rows of an assignor in ``scores``; `columns` is what it was scored."""
        common = self._common(self.job.score_made_by(assignor))
        keys = self.job.score_keys(common["group_key"].to_pylist(), assignor)
        return _batch("scores", {**common, "key": pa.array(keys, pa.string()), **columns})

    def asked(self, assignors: Sequence[str], limit: TimeLimit) -> Iterator[pa.RecordBatch]:
        """Yield the rows in ``scores`` of assignors that have to be asked."""
        groups = (
            [self.solution.fleet.alone(at) for at in range(len(self.solution))]
            if assignors
            else []
        )
        for name in assignors:
            yield from self._scored(self._outcomes(groups, name, limit), name)

    def _outcomes(
        self, groups: Sequence[Group], assignor: str, limit: TimeLimit
    ) -> list[Outcome | None]:
        """Return what an assignor makes of each group; None of one that has no optimum."""
        good = [at for at in range(len(groups)) if at not in self.solution.errors]
        if assignor == OPTIMUM:
            made = [outcome_of(self.solution.solution(at, groups[at])) for at in good]
        else:
            made = limit.plan_many([groups[at] for at in good], assignor)
        found: list[Outcome | None] = [None] * len(groups)
        for at, outcome in zip(good, made, strict=True):
            found[at] = outcome
        return found

    def _scored(
        self, outcomes: Sequence[Outcome | None], assignor: str
    ) -> Iterator[pa.RecordBatch]:
        fleet = self.solution.fleet
        owner = np.full(fleet.group.n_partitions, NOBODY, np.int32)
        by_columns = np.ones(len(outcomes), bool)
        others = []
        captures = captures_in(self.rows)
        for at, outcome in enumerate(outcomes):
            if outcome is None:
                continue
            if outcome.plan is None or outcome.plan.assignment.strays:
                by_columns[at] = False
                answer = self.solution.solution(at)
                score = score_outcome(answer.group, outcome, answer, assignor)
                others.append(score_row(self.job, captures[at], score))
            else:
                held = outcome.plan.assignment.owner
                owner[fleet.partitions(at)] = fleet.owner_through(at, held)
        columns = score_columns(score_fleet(self.solution, owner, assignor))
        plans = [None if outcome is None else outcome.plan for outcome in outcomes]
        took = [0.0 if outcome is None else outcome.seconds for outcome in outcomes]
        columns["rounds"] = pa.array([1 if plan is None else plan.rounds for plan in plans])
        columns["revoked"] = pa.array([0 if plan is None else plan.revoked for plan in plans])
        columns["seconds"] = pa.array(took, pa.float64())
        yield self.scores(columns, assignor).filter(pa.array(by_columns))
        yield batch("scores", others)

    def _common(self, made_by: str) -> dict[str, pa.Array]:
        told = {"made_by": made_by, "objective": self.job.tiers}
        return {
            **repeated(self.rows),
            **{name: pa.repeat(pa.scalar(text), len(self.rows)) for name, text in told.items()},
        }

    def _verdicts(self, now: FleetScores) -> pa.Array:
        """(groups,) what :func:`compare.judged.judged_by` says, of proved optima by columns."""
        fleet, groups = self.solution.fleet, len(self.solution)
        plain = self.solution.status == str(Status.OPTIMAL)
        plain[[*self.solution.errors, *now.reasons]] = False
        plain &= ~fleet.other_claims
        holds = some(fleet.group.owner >= 0, fleet.partition_start)
        there = np.diff(fleet.member_start) > 0
        differs = now.value != self.solution.value
        better = np.argmax(differs, axis=1)
        worse = holds & now.valid & differs.any(axis=1)
        above = (now.value - self.solution.value)[np.arange(groups), better]
        moves = values_in(fleet, Assignment(fleet.group, self.solution.owner), (MOVES,))[:, 0]
        lag = _known_lag(self.rows.column("lag"))
        waiting = np.asarray(lag.fill_null(0))
        says = np.select(
            [~there & (waiting > 0), ~there, ~holds, ~now.valid, worse],
            ["nobody reads", "no members", "nothing assigned yet", "not valid", "improvable"],
            "as good as can be",
        )
        taken = holds & self._taken()
        columns = {
            "says": pa.array(says),
            "sure": pa.array(~taken),
            "tier": pa.array(self.solution.objective).take(pa.array(better, mask=~worse)),
            "at_least": pa.array(above, mask=~worse),
            "at_most": pa.array(above, mask=~worse),
            "moves": pa.array(np.where(worse, moves, 0), mask=~(now.valid & holds)),
            "condition": pa.array(np.full(groups, ALL_ALIKE), mask=~taken),
            "question": pa.nulls(groups, pa.string()),
            "to_move": pa.array(moves, mask=~holds),
            "waiting": pc.if_else(pa.array(holds), None, lag),
        }
        arrays = [columns[field.name].cast(field.type) for field in VERDICT]
        found = pa.StructArray.from_arrays(arrays, fields=list(VERDICT))
        if plain.all():
            return found
        verdicts = found.to_pylist()
        for at in np.flatnonzero(~plain).tolist():
            verdicts[at] = self._verdict(at)
        return pa.array(verdicts, VERDICT)

    def _verdict(self, at: int) -> Row | None:
        if at in self.solution.errors:
            return None
        answer = self.solution.solution(at)
        return verdict_row(judged_one(answer.group, answer, self.job))

    def _taken(self) -> Bools:
        """(groups,) bool: whether members were taken to read the same topics."""
        assumed = self.rows.column("assumed").to_pylist()
        return np.array([any(map(is_taken, lines or ())) for lines in assumed], bool)


def _sorted_out(job: Job, rows: pa.RecordBatch) -> tuple[_Together, pa.RecordBatch]:
    """Return the groups that are solved together, and the rows of the others.

    Those are all where a tier is a search, else those of which it is not known who reads what,
    and rows that are no group.
    """
    is_plain = pc.is_null(rows.column("subscription_known"))
    if not is_flow(job.objective):
        is_plain = pc.and_(is_plain, False)
    plain, others = rows.filter(is_plain), rows.filter(pc.invert(is_plain))
    fleet, bad = Fleet.from_arrow(plain)
    if bad:
        unfit = plain.take(pa.array([one.row for one in bad]))
        others = joined([others, unfit], rows.schema)
    solution = solve_fleet(fleet, job.objective, time_limit=job.time_limit * max(len(fleet), 1))
    return _Together(job, plain.take(pa.array(fleet.place)), solution), others


def _portions(rows: pa.RecordBatch, job: Job) -> Iterator[pa.RecordBatch]:
    """Yield rows in portions that are solved together."""
    members, partitions = (
        np.asarray(pc.list_value_length(rows.column(name)).fill_null(0)).tolist()
        for name in ("members", "owner")
    )
    share = MOST_PARTITIONS // MOST_MEMBERS

    def size(at: int) -> int:
        return int(max(share * members[at], partitions[at]))

    for some_rows in in_portions(range(len(rows)), size, most=MOST_PARTITIONS, count=MOST_GROUPS):
        yield rows.slice(some_rows[0], len(some_rows))


def _batch(name: str, columns: Mapping[str, pa.Array]) -> pa.RecordBatch:
    schema = TABLES[name]
    arrays = [columns[field.name].cast(field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _structs(rows: pa.RecordBatch) -> pa.StructArray:
    return pa.StructArray.from_arrays(rows.columns, fields=list(rows.schema))


@cache
def _limit(job: Job) -> TimeLimit:
    """Return the processes of the assignors, which live as long as this one."""
    limit = TimeLimit(job.time_limit)
    for guest in job.guests:
        limit.know(guest)
    return limit
