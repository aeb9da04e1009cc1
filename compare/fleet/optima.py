"""Optima and scores of many groups at once: rows of groups in, rows of `ANSWERS` out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from compare.fleet.tables import TABLES, VERDICT, content_key, row_keys
from compare.fleet_scores import optimum_columns, score_columns, score_fleet, score_fleet_current
from compare.judged import judge_as_solved, judge_by_optimum, unassigned_in
from compare.lag.behind import WORTH
from compare.lag.lowest import least_in
from compare.scores import CURRENT, OPTIMUM, UNKNOWN, UNLESS_SCORED, outcome_of
from compare.verdict import BETTER_EXISTS, NOT_VALID, between, without_owner
from groups.arrays import any_in_parts, sums
from groups.assignment import Assignment
from groups.errors import AssayError
from groups.fleet import Fleet
from groups.group import Group
from groups.portions import in_portions
from groups.table.batch import each_of, lists_of
from groups.table.layout import joined
from groups.tiers import MOVES, is_flow, values_in
from groups.unknown import reading_least
from heuristics.time_limit import TimeLimit
from optimal.solution import Status
from optimal.solutions import Columns as SolutionColumns
from optimal.solve import solve, solve_fleet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from compare.fleet.job import Job, Lack
    from compare.fleet_scores import FleetScores
    from compare.judged import Judged
    from groups.arrays import Bools
    from groups.errors import Failure
    from optimal.solutions import Solutions

    Columns = Mapping[str, pa.Array]

Row = dict[str, object]
# Partitions, or members, that are solved together: more take more memory and gain no time.
MOST_TOGETHER = 200_000
# Each row is a row of one of these tables; the columns of the others are null.
ANSWERS = pa.schema(
    [
        ("key", pa.string()),  # of the row
        ("about", pa.string()),  # key of the group or failure that it is about
        *(
            (name, pa.struct([field.with_nullable(True) for field in TABLES[name]]))
            for name in ("groups", "failures", "optima", "scores")
        ),
    ]
)


def solve_and_score(job: Job, rows: pa.RecordBatch, lack: Lack) -> pa.RecordBatch:
    """Solve and score groups; return what they lack as rows of `ANSWERS`.

    Parameters
    ----------
    rows : of ``groups``, each key once
    """
    answers = []
    for portion in _portions(rows):
        is_known = pc.is_null(portion.column("subscription_known"))
        for kind, part_of in ((is_known, _solve_known), (pc.invert(is_known), _judge_unknown)):
            chosen = portion.filter(kind)
            if not len(chosen):
                continue
            part, unfit, reasons = part_of(job, chosen)
            if lack.optimum:
                answers.append(part.optima())
            answers += [part.scores(name) for name in lack.assignors]
            answers.append(unsolved_answers(job, unfit, lack, reasons))
    return joined(answers, ANSWERS)


def answers_in(name: str, rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows of a table as rows of `ANSWERS`."""
    of_group = "group_key" in rows.schema.names
    found = {
        "key": rows.column("key"),
        "about": rows.column("group_key" if of_group else "key"),
        name: pa.StructArray.from_arrays(rows.columns, fields=list(ANSWERS.field(name).type)),
    }
    arrays = [found.get(field.name, pa.nulls(len(rows), field.type)) for field in ANSWERS]
    return pa.RecordBatch.from_arrays(arrays, schema=ANSWERS)


def rows_in(answers: pa.RecordBatch, name: str) -> pa.RecordBatch:
    """Return the rows of a table that are among rows of `ANSWERS`."""
    structs = answers.column(name)
    columns = structs.filter(structs.is_valid()).flatten()
    return pa.RecordBatch.from_arrays(columns, schema=TABLES[name])


def unsolved_in(answers: pa.RecordBatch) -> dict[str, str]:
    """Return why groups among rows of `ANSWERS` have no optimum, by their keys."""
    optima = rows_in(answers, "optima")
    failed = optima.filter(pc.equal(optima.column("status"), "failed"))
    keys, reasons = (failed.column(name).to_pylist() for name in ("group_key", "reason"))
    return dict(zip(keys, reasons, strict=True))


def failure_answers(failures: Sequence[Failure]) -> pa.RecordBatch:
    """Return the rows of `ANSWERS` of parts of the input that hold no group."""
    columns = ("source", "place", "reason", "captured_at", "group")
    rows = [{column: getattr(failure, column) for column in columns} for failure in failures]
    keyed = [{"key": content_key(row), **row} for row in rows]
    return answers_in("failures", pa.RecordBatch.from_pylist(keyed, TABLES["failures"]))


def unsolved_answers(
    job: Job, rows: pa.RecordBatch, lack: Lack, reasons: Sequence[str]
) -> pa.RecordBatch:
    """Return the rows of `ANSWERS` of groups that could not be solved, each with its reason."""
    answers = []
    if lack.optimum:
        failed = _without_answer("optima", "failed", reasons)
        answers.append(_answers_in("optima", job, rows, failed))
    no_optimum = [f"no optimum: {reason}" for reason in reasons]
    answers.append(unscored_answers(job, rows, lack.assignors, no_optimum))
    return joined(answers, ANSWERS)


def unscored_answers(
    job: Job, rows: pa.RecordBatch, assignors: Sequence[str], reasons: Sequence[str]
) -> pa.RecordBatch:
    """Return the rows of `ANSWERS` of groups without scores, each with its reason."""
    columns = _without_answer("scores", "failed", reasons)
    return joined([_answers_in("scores", job, rows, columns, name) for name in assignors], ANSWERS)


def _without_answer(table: str, status: str, reasons: Sequence[str]) -> Columns:
    """Return the columns of ``optima`` or ``scores`` for groups without an optimum or a score."""
    count = len(reasons)
    given = {"status": status, **(UNLESS_SCORED if table == "scores" else {})}
    return {
        **{field.name: pa.nulls(count, field.type) for field in TABLES[table]},
        **{name: pa.repeat(pa.scalar(one), count) for name, one in given.items()},
        "reason": pa.array(reasons, pa.string()),
    }


def _answers_in(
    name: str, job: Job, rows: pa.RecordBatch, columns: Columns, assignor: str | None = None
) -> pa.RecordBatch:
    """Return the answers in a table: the columns, what `group_columns` gives, and their keys.

    Parameters
    ----------
    assignor : whose scores they are; None for optima

    Raises
    ------
    AssayError
        If a column of the table is in none of these.
    """
    made_by = job.optimum_made_by if assignor is None else job.score_made_by(assignor)
    found = {
        **columns,
        **group_columns(rows),
        "assignor": pa.repeat(pa.scalar(assignor, pa.string()), len(rows)),
        "key": pa.array(row_keys(made_by, rows.column("key").to_pylist()), pa.string()),
        "made_by": pa.repeat(pa.scalar(made_by), len(rows)),
        "objective": pa.repeat(pa.scalar(job.tiers), len(rows)),
    }
    empty = [column for column in TABLES[name].names if column not in found]
    if empty:
        raise AssayError(f"table {name}: nothing fills the column {', '.join(empty)}")
    arrays = [found[field.name].cast(field.type) for field in TABLES[name]]
    return answers_in(name, pa.RecordBatch.from_arrays(arrays, schema=TABLES[name]))


def group_columns(rows: pa.RecordBatch) -> dict[str, pa.Array]:
    """Return the columns of ``groups`` that ``optima`` and ``scores`` repeat."""
    same = ("group", "captured_at", "source", "place", "n_members", "n_partitions")
    known = rows.column("subscription_known").to_pylist()
    return {
        **{name: rows.column(name) for name in same},
        "group_key": rows.column("key"),
        "lag": _known_lag(rows.column("lag")),
        "subscriptions_known": pa.array([all(one or ()) for one in known], pa.bool_()),
        "assumed": rows.column("assumed").fill_null([]),
    }


def _known_lag(lags: pa.ListArray) -> pa.Array:
    """(groups,) the total lag of the partitions whose lag is known, null if none is."""
    of_groups = lists_of(lags)
    records, start = of_groups.values, of_groups.start
    is_known = records >= 0
    total = sums(np.where(is_known, records, 0), start)
    return pa.array(total, mask=~any_in_parts(is_known, start))


def _of_unknown_lag(lags: pa.ListArray) -> pa.Array:
    """(groups,) in how many partitions the lag is unknown, 0 where no lag is given."""
    of_groups = lists_of(lags)
    return pa.array(sums((of_groups.values < 0).astype(np.int64), of_groups.start))


def verdict_row(judged: Judged) -> Row:
    """Return the ``verdict`` column of a row in ``optima``."""
    target, fall = judged.target, judged.fall
    return vars(judged.verdict) | {
        "to_move": None if target is None else len(target.moved),
        "without_owner": None if judged.best is None else without_owner(judged.now),
        "lag_now": None if fall is None else fall.now,
        "lag_then": None if fall is None else fall.then,
        "lag_moves": None if fall is None else fall.moves,
    }


@dataclass(frozen=True, eq=False)
class _Answers:
    """The optima and scores of groups that are solved together.

    Attributes
    ----------
    rows : of ``groups``, in the order of the fleet
    verdicts : given for groups with unknown subscriptions; else None, and made by columns
    reading_most : those groups with members that read the most that they may; None if all
        subscriptions are known, or assumed
    open : numbers of those groups that have no optimum, as no member holds a partition
    """

    job: Job
    rows: pa.RecordBatch
    solution: Solutions
    verdicts: Sequence[Row | None] | None = None
    reading_most: Fleet | None = None
    open: Sequence[int] = ()

    @cached_property
    def now(self) -> FleetScores:
        """The scores of the current assignments."""
        refused = dict.fromkeys(self.open, UNKNOWN)
        return score_fleet_current(self.solution, self.reading_most, refused)

    @cached_property
    def groups(self) -> list[Group]:
        """The groups as objects, for assignors."""
        return [self.solution.fleet.alone(at) for at in range(len(self.solution))]

    def optima(self) -> pa.RecordBatch:
        """Return the answers in ``optima``."""
        given = self.verdicts
        verdict = self._verdicts() if given is None else pa.array(given, VERDICT)
        columns = {**optimum_columns(self.solution, self.open), "verdict": verdict}
        return _answers_in("optima", self.job, self.rows, columns)

    def scores(self, assignor: str) -> pa.RecordBatch:
        """Return the answers in ``scores`` of an assignor."""
        if assignor == CURRENT:
            columns: Columns = score_columns(self.now)
        elif self.reading_most is not None:
            columns = _without_answer("scores", "refused", [UNKNOWN] * len(self.rows))
        else:
            columns = self._called(assignor)
        return _answers_in("scores", self.job, self.rows, columns, assignor)

    def _called(self, assignor: str) -> Columns:
        """Call an assignor on all groups that have an optimum; return its columns."""
        solution = self.solution
        good = [at for at in range(len(solution)) if at not in solution.errors]
        if assignor == OPTIMUM:
            outcomes = [outcome_of(solution.solution(at, self.groups[at])) for at in good]
        else:
            outcomes = _time_limit(self.job).plan_many([self.groups[at] for at in good], assignor)
        made = dict(zip(good, outcomes, strict=True))
        return score_columns(score_fleet(solution, made, assignor))

    def _verdicts(self) -> pa.Array:
        """(groups,) the verdicts of `compare.judged.judge_by_optimum`, by columns if possible.

        The others are judged one by one: groups without a proved optimum, with claims that are not
        valid, or whose lag may fall.
        """
        fleet, groups, now = self.solution.fleet, len(self.solution), self.now
        plain = self.solution.status == str(Status.OPTIMAL)
        plain[[*now.unscored]] = False
        plain &= ~fleet.other_claims
        unassigned = unassigned_in(fleet)
        holds = unassigned == ""
        lags = self._may_lag_less()
        plain &= ~holds | (now.valid & ~lags)
        found = between(now.value, self.solution.value, self.solution.bound)
        worse = holds & now.valid & np.isin(found.says, BETTER_EXISTS)
        moves = values_in(Assignment(fleet.group, self.solution.owner), fleet, (MOVES,))[:, 0]
        says = np.select([~holds, ~now.valid], [unassigned, NOT_VALID], found.says)
        nothing = pa.nulls(groups)
        columns = {
            "says": pa.array(says),
            "sure": pa.repeat(pa.scalar(True), groups),
            "tier": pa.array(self.solution.objective).take(pa.array(found.tier, mask=~worse)),
            "at_least": pa.array(found.at_least, mask=~worse),
            "at_most": pa.array(found.at_most, mask=~worse),
            "moves": pa.array(np.where(worse, moves, 0), mask=~(now.valid & holds)),
            "to_move": pa.array(moves, mask=~holds),
            "waiting": pc.if_else(pa.array(holds), None, _known_lag(self.rows.column("lag"))),
            "waiting_unknown": pc.if_else(
                pa.array(holds), 0, _of_unknown_lag(self.rows.column("lag"))
            ),
            "without_owner": pa.array(np.zeros(groups, np.int64), mask=~holds),
            **dict.fromkeys(
                ("condition", "question", "lag_now", "lag_then", "lag_moves"), nothing
            ),
        }
        arrays = [columns[field.name].cast(field.type) for field in VERDICT]
        structs = pa.StructArray.from_arrays(arrays, fields=list(VERDICT))
        if plain.all():
            return structs
        verdicts = structs.to_pylist()
        for at in np.flatnonzero(~plain).tolist():
            verdicts[at] = self._verdict(at, alone=bool(lags[at] and worse[at]))
        return pa.array(verdicts, VERDICT)

    def _may_lag_less(self) -> Bools:
        """(groups,) bool: whether the lag of the busiest member may fall enough to matter."""
        fleet = self.solution.fleet
        group, lag = fleet.group, fleet.group.lag_records
        if lag is None or self.solution.objective[0] != "balance":
            return np.zeros(len(fleet), bool)
        held = group.owner >= 0
        peak = values_in(Assignment(group, group.owner), fleet, ("peak_lag",))[:, 0]
        unknown = any_in_parts(held & (lag < 0), fleet.partition_start)
        found: Bools = ~unknown & (peak > 0) & (WORTH * (peak - least_in(fleet)) >= peak)
        return found

    def _verdict(self, at: int, *, alone: bool) -> Row | None:
        """Return the verdict of `compare.judged.judge_by_optimum` on a group; None if it failed.

        Parameters
        ----------
        alone : solve the group alone: which of several equally good optima is found, and so its
            lag, depends on the groups that are solved together
        """
        if at in self.solution.errors:
            return None
        answer = self.solution.solution(at)
        if alone and len(self.solution) > 1:
            answer = solve(answer.group, self.job.objective, time_limit=self.job.time_limit)
        judged = judge_by_optimum(answer.group, answer)
        return verdict_row(judged)


Part = tuple[_Answers, pa.RecordBatch, list[str]]


def _solve_known(job: Job, rows: pa.RecordBatch) -> Part:
    """Solve groups with known subscriptions; return also rows that are no group, with reasons."""
    fleet, bad = Fleet.from_arrow(rows)
    together = max(len(fleet), 1) if is_flow(job.objective) else 1
    solution = solve_fleet(fleet, job.objective, time_limit=job.time_limit * together)
    unfit = rows.take(pa.array([one.row for one in bad], pa.int64()))
    answers = _Answers(job, rows.take(pa.array(fleet.place)), solution)
    return answers, unfit, [one.reason for one in bad]


def _judge_unknown(job: Job, rows: pa.RecordBatch) -> Part:
    """Judge groups with unknown subscriptions; return also rows that failed, with reasons."""
    found: dict[int, Judged] = {}
    reasons: dict[int, str] = {}
    for at, group in enumerate(each_of(rows)):
        if not isinstance(group, Group):
            reasons[at] = group.reason
            continue
        try:
            (found[at],) = judge_as_solved(
                [group],
                job.objective,
                time_limit=job.time_limit,
                assume_equal=job.assume_equal,
            )
        except AssayError as error:
            reasons[at] = str(error)
    judged = [*found.values()]
    if job.assume_equal:
        # The target may rely on what is assumed, as in `compare.judged.judge`.
        judged = [replace(one, best=one.lowest) for one in judged]
    verdicts = [verdict_row(one) for one in judged]
    known = rows.take(pa.array([*found], pa.int64()))
    most = [one.group.with_equal_subscriptions() for one in judged]
    if job.assume_equal:
        solutions = SolutionColumns(Fleet.of(most), job.objective, 0)
        for number, (one, group) in enumerate(zip(judged, most, strict=True)):
            solved = one.lowest or solve(group, job.objective, time_limit=job.time_limit)
            solutions.put_one(number, solved)
        answers = _Answers(job, _as_assumed(known, most), solutions.done(), verdicts)
    else:
        fleet = Fleet.of([reading_least(one.group) for one in judged])
        solutions, unsolved = SolutionColumns(fleet, job.objective, 0), []
        for number, one in enumerate(judged):
            if one.reference is None:
                unsolved.append(number)
            else:
                solutions.put_one(number, one.reference)
        answers = _Answers(job, known, solutions.done(), verdicts, Fleet.of(most), unsolved)
    return answers, rows.take(pa.array([*reasons], pa.int64())), [*reasons.values()]


def _as_assumed(rows: pa.RecordBatch, groups: Sequence[Group]) -> pa.RecordBatch:
    """Return rows of ``groups`` that say of their subscriptions what is assumed in `groups`."""
    lines = pa.array([[*one.assumed] for one in groups], pa.list_(pa.string()))
    said = {"assumed": lines, "subscription_known": pa.nulls(len(rows), pa.list_(pa.bool_()))}
    columns = [said.get(name, rows.column(name)) for name in rows.schema.names]
    return pa.RecordBatch.from_arrays(columns, names=rows.schema.names)


def _portions(rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield rows in portions that are solved together."""
    lengths = [pc.list_value_length(rows.column(name)) for name in ("members", "owner")]
    sizes = pc.max_element_wise(*lengths).fill_null(0).to_pylist()
    for numbers in in_portions(range(len(rows)), sizes.__getitem__, most=MOST_TOGETHER):
        yield rows.slice(numbers[0], len(numbers))


@cache
def _time_limit(job: Job) -> TimeLimit:
    """Return the processes in which assignors run; they live as long as this process."""
    limit = TimeLimit(job.time_limit)
    for guest in job.guests:
        limit.know(guest)
    return limit
