"""Scores: how far assignments are from their group's optimum, a row for each assignor."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields, replace
from itertools import repeat
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from compare.lag.behind import behind
from compare.verdict import EMPTY, NOTHING
from groups.arrays import UNKNOWN as NO_BOUND
from groups.arrays import Bools
from groups.assignment import Assignment, Violation, balanced_in, valid_in
from groups.columns.places import PLACE_KINDS
from groups.errors import BadInput, SolverContradiction
from groups.fleet import Fleet
from groups.framed import Framed
from groups.tiers import values
from groups.unknown import reading_least
from groups.wording import counted, few
from heuristics import AssignorFunction, Plan, assignor_named, matching
from heuristics.assignor import GROUPS_KEPT, Outcome
from heuristics.time_limit import TimeLimit
from optimal.solve import solve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from compare.judged import Judged
    from compare.lag.lowest import LowestPeak
    from groups.group import Group
    from groups.tiers import Objective
    from optimal.solution import Solution

    Exact = npt.NDArray[Any]
    Column = np.ma.MaskedArray[Any, Any]

NO_TASKS = "it assigns partitions to consumers, not tasks to threads of Kafka Streams"
OF_TASKS = "kafka-streams/"
FORMAT = "assay-scores/1"
CURRENT = "current"
OPTIMUM = "optimum"
UNKNOWN = "subscriptions are not known"
DEPENDS = "what it does depends on who reads what"
ONLY_IF = "valid only if "
CALL_SECONDS = 10.0
Excess = int | tuple[int, int | None] | None


@dataclass(frozen=True)
class ScoreTerm:
    """The value of one tier, and how far it is from the optimum.

    `excess` is value - optimum up to and including the first tier in which they differ, and None
    after it or if the assignment is not valid. If the optimum is not proved, it is
    ``(value - incumbent, value - bound)``.
    """

    name: str
    value: int
    excess: Excess


@dataclass(frozen=True)
class Fact:
    """How a field of `Score` is computed, and where it is shown.

    Attributes
    ----------
    of : computes it from an assignment of each group of a fleet, (groups,), masked where unknown;
        None if the assignment alone does not determine it
    if_valid : whether it is None for assignments that are not valid
    in_rows, in_document, stored : whether `Score.to_rows`, the ``assay-scores/1`` document and the
        table ``scores`` of runs have it
    head : of its column in comparisons of assignors; empty: no column, or one defined elsewhere
    counted : whether comparisons over several groups count the groups in which it is not 0
    """

    of: Callable[[Assignment, Fleet], Exact] | None = None
    if_valid: bool = False
    in_rows: bool = True
    in_document: bool = True
    stored: bool = True
    head: str = ""
    counted: bool = False


def _valid_in(assignment: Assignment, fleet: Fleet) -> Bools:
    return valid_in(assignment, fleet) & (not assignment.strays)


@dataclass(frozen=True)
class Score(Framed):
    """The result of an assignor on a group.

    Attributes
    ----------
    status : "scored", "refused", "failed", "timed-out" or "unavailable"
    reason : why it is not scored; None if it is
    valid, violations, terms : None, empty and None unless scored
    balanced : KIP-54's own predicate; None unless scored and valid, or if it depends on unknown
        subscriptions
    rounds, revoked : rebalances until quiescence; partitions revoked from a member during them
    seconds : time inside the assignor
    loads : partitions per member, in the order of ids; None unless scored
    peak_lag : lag in records of the member with most; None if a lag is unknown or the assignment
        is not valid
    catch_up_seconds : how long the slowest member needs to catch up; None if a lag or a member's
        `capacity` is unknown, or the assignment is not valid
    """

    assignor: str
    status: Literal["scored", "refused", "failed", "timed-out", "unavailable"]
    reason: str | None = None
    valid: bool | None = field(
        default=None, metadata={"fact": Fact(_valid_in, head="valid", counted=True)}
    )
    balanced: bool | None = field(
        default=None,
        metadata={"fact": Fact(balanced_in, if_valid=True, head="balanced", counted=True)},
    )
    violations: tuple[Violation, ...] = field(
        default=(), metadata={"fact": Fact(in_rows=False, stored=False)}
    )
    terms: tuple[ScoreTerm, ...] | None = None
    rounds: int = 1
    revoked: int = 0
    seconds: float = 0.0
    loads: tuple[int, ...] | None = field(
        default=None, metadata={"fact": Fact(in_rows=False, in_document=False)}
    )
    peak_lag: int | None = field(default=None, metadata={"fact": Fact(stored=False)})
    catch_up_seconds: int | None = field(default=None, metadata={"fact": Fact(stored=False)})

    @property
    def is_optimal(self) -> bool:
        """Whether every tier is at its proved optimum."""
        return self.terms is not None and all(term.excess == 0 for term in self.terms)

    @property
    def is_open(self) -> bool:
        """Whether it has no score because what the assignor does depends on who reads what."""
        reason = self.reason or ""
        return reason in (UNKNOWN, DEPENDS) or reason.startswith(ONLY_IF)

    @property
    def why_not(self) -> str | None:
        """Why it has no score, or the first violation of each kind; None if scored and valid."""
        if not self.violations:
            return self.reason
        first: dict[str, Violation] = {}
        for violation in sorted(self.violations, key=lambda one: one.partition_exists):
            first.setdefault(violation.kind, violation)
        more = len(self.violations) - len(first)
        named = ", ".join(map(str, first.values()))
        return f"not valid: {named}{f' (and {more} more)' if more else ''}"

    def to_rows(self) -> Iterator[dict[str, object]]:
        """Return one row, with the columns of `Scores.to_rows`."""
        tiers: dict[str, object] = {}
        for term in self.terms or ():
            tiers[term.name] = term.value
            exact = None if isinstance(term.excess, tuple) else term.excess
            tiers[f"{term.name}_excess"] = exact
        row: dict[str, object] = {}
        for name, fact in FACTS.items():
            if name == "terms":
                row |= tiers
            elif fact.in_rows and name not in tiers:
                row[name] = getattr(self, name)
        yield row

    def to_dict(self) -> dict[str, object]:
        """Return the row of the ``assay-scores/1`` document."""
        terms = self.terms
        row = {name: getattr(self, name) for name, fact in FACTS.items() if fact.in_document}
        return row | {
            "violations": [vars(violation) for violation in self.violations],
            "terms": None if terms is None else [_term_document(term) for term in terms],
            "seconds": round(self.seconds, 6),
        }


class Scores(Framed, list[Score]):
    """The scores of assignors on a group, in the order in which they were given."""

    def to_rows(self) -> Iterator[dict[str, object]]:
        """Return one row for each assignor.

        The columns are the attributes of `Score` except `violations` and `loads`. Instead of
        `terms`, each tier has its value under its name, and ``NAME_excess``, which is None unless
        it is one number. If `peak_lag` is a tier, that column is the tier's, which has a value
        also if the assignment is not valid.
        """
        for row in self:
            yield from row.to_rows()


# The facts of a score, by field name, in the order in which every view shows them.
FACTS: dict[str, Fact] = {one.name: one.metadata.get("fact", Fact()) for one in fields(Score)}
# The types of the fields, without None.
TYPES = {one.name: str(one.type).removesuffix(" | None") for one in fields(Score)}
STORED = {name: kind for name, kind in TYPES.items() if FACTS[name].stored}
COUNTED = tuple(name for name, fact in FACTS.items() if fact.counted)
# The columns of the table ``scores`` that are not null for an assignor without a score.
UNLESS_SCORED = {
    one.name: one.default
    for one in fields(Score)
    if FACTS[one.name].stored and one.default not in (MISSING, None)
}


def stored_score(row: Mapping[str, Any]) -> Score:
    """Return the score in a row of the table ``scores``, which has no violations."""
    terms, loads = row["terms"], row["loads"]
    lists = {
        "terms": None if terms is None else tuple(map(_stored_term, terms)),
        "loads": None if loads is None else tuple(loads),
    }
    return Score(**{name: row[name] for name in STORED} | lists)


def _stored_term(term: Mapping[str, Any]) -> ScoreTerm:
    low, high = term["excess_from"], term["excess_to"]
    excess: Excess = term["excess"] if low is None else (low, high)
    return ScoreTerm(term["name"], term["value"], excess)


def facts_of(
    assignment: Assignment, fleet: Fleet, reading_most: Fleet | None = None
) -> dict[str, Column]:
    """Return the facts that an assignment determines, (groups,) each, masked where unknown.

    Parameters
    ----------
    assignment : of all groups of the fleet
    reading_most : the fleet in which members read the most that they may, if in `fleet` they read
        the least; None if all subscriptions are known
    """
    of = {name: fact.of for name, fact in FACTS.items() if fact.of is not None}
    facts = {name: np.ma.array(compute(assignment, fleet)) for name, compute in of.items()}
    if reading_most is not None:
        among_more = replace(assignment, group=reading_most.group)
        for name, compute in of.items():
            depends = facts[name].data != compute(among_more, reading_most)
            facts[name][depends] = np.ma.masked
    invalid = ~facts["valid"].data
    for name, column in facts.items():
        if FACTS[name].if_valid and invalid.any():
            column[invalid] = np.ma.masked
    return facts


def excess_of(found: Sequence[int], solution: Solution) -> tuple[Excess, ...]:
    """Return the excess of a valid assignment's values in each tier, as in `ScoreTerm`.

    Raises
    ------
    SolverContradiction
        If a value is below a bound.
    """
    if not solution.terms:
        return (None,) * len(found)
    reached = [term.value for term in solution.terms]
    bounds = [NO_BOUND if term.bound is None else term.bound for term in solution.terms]
    value, best, bound = (np.array([row], object) for row in (found, reached, bounds))
    found_excess = excess_columns(value, best, bound, np.ones(1, bool))
    if found_excess.beaten[0]:
        at = next(at for at, one in enumerate(bounds) if found[at] < one)
        term = solution.terms[at]
        raise SolverContradiction(
            f"{solution.group.name}: {term.name} is {found[at]}, below the bound {term.bound} "
            f"that {solution.method} claims"
        )
    return tuple(found_excess.excess_in(0))


class ExcessColumns(NamedTuple):
    """The excess of an assignment of each group of a fleet.

    Attributes
    ----------
    excess : (groups, tiers), NOTHING after the first tier that differs, where the optimum is not
        proved and where nothing is comparable
    low, high : (groups, tiers), the interval where the optimum is not proved, else NOTHING
    beaten : (groups,) bool, whether a value is below its bound
    """

    excess: Exact
    low: Exact
    high: Exact
    beaten: Bools

    def excess_in(self, at: int) -> Iterator[Excess]:
        """Yield the excess of one group in each tier, as in `ScoreTerm`."""
        for one, low, high in zip(self.excess[at], self.low[at], self.high[at], strict=True):
            if low == NOTHING:
                yield None if one == NOTHING else int(one)
            else:
                yield int(low), None if high == NOTHING else int(high)


def excess_columns(value: Exact, best: Exact, bound: Exact, comparable: Bools) -> ExcessColumns:
    """Compare the values of assignments with those of optima, tier by tier.

    Parameters
    ----------
    value, best, bound : (groups, tiers), integers of any size; a bound is NO_BOUND if unknown,
        and equal to `best` if that is proved
    comparable : (groups,) bool, whether there is an optimum, and the assignment is valid
    """
    excess, low, high = (np.full(value.shape, NOTHING, value.dtype) for _ in range(3))
    beaten = np.zeros(len(value), bool)
    for tier in range(value.shape[1]):
        found, least, limit = value[:, tier], best[:, tier], bound[:, tier]
        bounded = comparable & np.asarray(limit != NO_BOUND, bool)
        beaten |= bounded & np.asarray(found < limit, bool)
        proved = bounded & np.asarray(limit == least, bool)
        is_open = comparable & ~proved
        excess[proved, tier] = (found - least)[proved]
        low[is_open, tier] = (found - least)[is_open]
        high[is_open & bounded, tier] = (found - limit)[is_open & bounded]
        comparable = proved & np.asarray(found == least, bool)
    return ExcessColumns(excess, low, high, beaten)


def scores_document(
    group: Group, tiers: Objective, solution: Solution | None, rows: Sequence[Score]
) -> dict[str, object]:
    """Return the ``assay-scores/1`` document; without a solution the optimum is unknown."""
    answer = {"status": "unknown", "terms": []} if solution is None else solution.to_dict()
    return {
        "format": FORMAT,
        "group": group.name,
        "objective": list(tiers),
        "optimum": {"status": answer["status"], "terms": answer["terms"]},
        "scores": [row.to_dict() for row in rows],
    }


def _term_document(term: ScoreTerm) -> dict[str, object]:
    excess = list(term.excess) if isinstance(term.excess, tuple) else term.excess
    return {"name": term.name, "value": term.value, "excess": excess}


def score(
    group: Group,
    assignment: Assignment | AssignorFunction,
    solution: Solution,
    *,
    assignor: str = CURRENT,
    reading_most: Group | None = None,
) -> Score:
    """Score an assignment against the reference solution of its group.

    Parameters
    ----------
    assignment : an assignment of this group; or a function of yours that makes one. A function
        gets 10 seconds in a child process, and gives a row under its own name even if it fails
    assignor : name of the row; ``current`` is that of what the members hold
    reading_most : the group with members that read the most that they may, if in `group` they read
        the least; facts that differ between the two are None. Not used for a function

    Raises
    ------
    BadInput
        If the assignment or the solution is for another group, or a child process cannot import
        the function.
    SolverContradiction
        If a valid assignment is below a bound of the solution.

    Examples
    --------
    >>> from assay import Group, assign, score, solve
    >>> document = {"format": "assay-group/1", "group": "orders", "topics": {"t0": 2, "t1": 3}}
    >>> owned = {"t0": [0, 1], "t1": [0, 1, 2]}
    >>> c0, c1 = {"subscription": ["t0", "t1"], "owned": owned}, {"subscription": ["t1"]}
    >>> group = Group.from_dict(document | {"members": {"c0": c0, "c1": c1}})
    >>> row = score(group, assign(group, "range"), solve(group))
    >>> [(term.name, term.value, term.excess) for term in row.terms]
    [('balance', 3, 2), ('stickiness', 1, None)]
    """
    if not isinstance(assignment, Assignment):
        return score_assignors(group, solution, [assignment])[0]
    for other, what in ((assignment.group, "assignment"), (solution.group, "solution")):
        _require_same_question(group, other, what)
    return score_valued(group, assignment, solution, assignor, reading_most)


def score_valued(
    group: Group,
    assignment: Assignment,
    solution: Solution,
    assignor: str,
    reading_most: Group | None = None,
) -> Score:
    """Score an assignment as `score` does; members of the solution's group may read others."""
    found = values(assignment, solution.objective)
    most = None if reading_most is None else Fleet.one(reading_most)
    facts = facts_of(assignment, Fleet.one(group), most)
    valid = bool(facts["valid"][0])
    excess = excess_of(found, solution) if valid else (None,) * len(found)
    lags = behind(assignment) if valid else None
    return Score(
        assignor=assignor,
        status="scored",
        violations=assignment.violations,
        terms=tuple(map(ScoreTerm, solution.objective, found, excess)),
        loads=tuple(assignment.loads.tolist()),
        peak_lag=None if lags is None else lags.peak,
        catch_up_seconds=None if lags is None else lags.longest,
        **{name: column.tolist()[0] for name, column in facts.items()},
    )


def _require_same_question(group: Group, other: Group, what: str) -> None:
    """Raise BadInput unless two captures are of one group, with equal data for every tier.

    A member whose subscription is unknown in one of them may read anything in the other.
    """
    if other is group:
        return
    if (other.name, other.topics, other.members) != (group.name, group.topics, group.members):
        raise BadInput(f"{what}: it is for group {other.name!r}, not for {group.name!r}")
    known = np.flatnonzero(group.subscription_known & other.subscription_known).tolist()
    alike = all(np.array_equal(group.subscription(m), other.subscription(m)) for m in known)
    if not alike or not all(map(np.array_equal, _data_of(group), _data_of(other))):
        raise BadInput(
            f"{what}: it is for another state of group {group.name!r}: partitions, owners, lag, "
            "weights, subscriptions, rates, hosts or racks differ"
        )


def _data_of(group: Group) -> Iterator[Any]:
    """Yield what tiers depend on, apart from subscriptions."""
    yield from (group.partitions, group.owner, group.lag_records, group.weight, group.capacity)
    for places in map(group.places, PLACE_KINDS):
        yield from (places.names, places.member)
    for copies in (group.racks, group.copies):
        yield from (None, None) if copies is None else (copies.replicas, copies.holds)


def score_current(group: Group, solution: Solution, reading_most: Group | None = None) -> Score:
    """Score the current assignment, with the raw claims.

    Parameters
    ----------
    reading_most : as in :func:`score`
    """
    return score_valued(group, Assignment.current(group), solution, CURRENT, reading_most)


def score_without_subscriptions(group: Group, reference: Solution, assignor: str) -> Score:
    """Score the current assignment; an assignor is refused, as it depends on who reads what.

    Parameters
    ----------
    reference : the solution that can be reached, with bounds that hold whatever members read
    """
    if assignor == CURRENT:
        return score_current(reference.group, reference, group.with_equal_subscriptions())
    return Score(assignor, "refused", UNKNOWN)


def score_whoever_reads_what(
    group: Group, reference: Solution, assignors: Sequence[str], limit: TimeLimit
) -> list[Score]:
    """Score assignors on a group whose verdict is sure, though subscriptions are unknown.

    Each is called twice: members read the least, and the most, that they may. An assignor without
    the same terms in both is refused.

    Parameters
    ----------
    reference : the solution that can be reached, with bounds that hold whatever members read
    """
    rows: list[Score] = []
    reading_most = group.with_equal_subscriptions()
    of = [name for name, fact in FACTS.items() if fact.of is not None]
    for name in assignors:
        if name == CURRENT:
            rows.append(score_current(reference.group, reference, reading_most))
            continue
        if name == OPTIMUM:
            found = outcome_of(reference)
            rows.append(score_outcome(reference.group, found, reference, name, reading_most))
            continue
        least, most = (
            score_outcome(world, limit.plan(world, name), reference, name)
            for world in (reading_least(group), reading_most)
        )
        alike = least.valid and most.valid and least.terms == most.terms
        refused = Score(name, "refused", DEPENDS)
        differ = [one for one in of if getattr(least, one) != getattr(most, one)]
        open_: dict[str, Any] = dict.fromkeys(differ)
        least = replace(least, **open_)
        if (least.peak_lag, least.catch_up_seconds) != (most.peak_lag, most.catch_up_seconds):
            # Lag is no tier, so it may differ even if all terms are equal.
            least = replace(least, peak_lag=None, catch_up_seconds=None)
        # What refuses members that read different topics may plan if they read the same.
        is_open = least.status == "scored" or (least.status == "refused" != most.status)
        rows.append(refused if is_open and not alike else least)
    return rows


def score_plan(group: Group, plan: Assignment, reference: Solution, name: str) -> Score:
    """Score an assignment made elsewhere; the row holds whoever reads what.

    An assignment that is valid if members read the least that they may is valid if they read more,
    with the same values. One that is valid only if they read more is refused: the reason says who
    has to read what.

    Parameters
    ----------
    plan : an assignment of this group, whatever its members read
    reference : the solution that can be reached, with bounds that hold whatever members read
    """
    if group.subscription_known.all():
        return score_valued(group, replace(plan, group=group), reference, name)
    least, most = reading_least(group), group.with_equal_subscriptions()
    if not replace(plan, group=most).is_valid:
        return score_valued(most, replace(plan, group=most), reference, name)
    read = dict.fromkeys((one.member, one.topic) for one in replace(plan, group=least).violations)
    if read:
        needed = few([f"{member} reads {topic}" for member, topic in read])
        return Score(name, "refused", f"{ONLY_IF}{needed}")
    return score_valued(least, replace(plan, group=least), reference, name, most)


def score_judged(
    judged: Judged,
    reference: Solution,
    assignors: Sequence[str],
    limit: TimeLimit,
    *,
    assume_equal: bool,
) -> list[Score]:
    """Score assignors on a judged group.

    With unknown subscriptions, only assignors that do as well whatever members read have a score,
    and none if the verdict is not sure.

    Parameters
    ----------
    reference : the solution that can be reached, with bounds that hold whatever members read
    assume_equal : whether `reference` is for the group with equal subscriptions
    """
    if judged.group.of_streams:
        own = [a for a in assignors if a in (CURRENT, OPTIMUM) or str(a).startswith(OF_TASKS)]
        rows = score_assignors(reference.group, reference, own, limit)
        others = (name for name in assignors if name not in own)
        return [*rows, *(Score(name, "refused", NO_TASKS) for name in others)]
    if assume_equal or judged.group.subscription_known.all():
        limit.warm_up(name for name in assignors if name not in (CURRENT, OPTIMUM))
        return score_assignors(reference.group, reference, assignors, limit)
    if judged.verdict.sure:
        return score_whoever_reads_what(judged.group, reference, assignors, limit)
    return [score_without_subscriptions(judged.group, reference, name) for name in assignors]


@dataclass(frozen=True, eq=False)
class ScoredGroup:
    """A judged group, and the scores of assignors on it.

    Attributes
    ----------
    reference : the solution that they are scored against; None if there is nothing to solve
    lowest : the lowest peak lag; None if not known
    plans : assignments made elsewhere, by the names of their rows
    """

    judged: Judged
    reference: Solution | None
    rows: list[Score]
    lowest: LowestPeak | None = None
    plans: Mapping[str, Assignment] = field(default_factory=dict)


def score_all_judged(
    judged: Sequence[Judged],
    tiers: Objective,
    assignors: Sequence[str],
    seconds: float,
    *,
    asked: Sequence[str] = (),
    fresh: bool = False,
    assume_equal: bool,
    say: Callable[[str], None],
) -> list[ScoredGroup]:
    """Score assignors on judged groups, as `score_judged` does.

    Parameters
    ----------
    seconds : for each call, and for each solve
    asked : assignors that get a row even without a reference; in groups in which no member holds
        a partition, only these are scored
    fresh : whether to solve groups in which no member holds a partition, if all subscriptions are
        known
    say : is called with a line on the number of groups scored
    """
    found: list[ScoredGroup] = []
    with TimeLimit(seconds) as limit:
        for one in judged:
            say(f"{len(found):,} of {counted(len(judged), 'group')} scored")
            reference = one.lowest if assume_equal else one.reference
            group = one.group.with_equal_subscriptions() if assume_equal else one.group
            if fresh and reference is None and group.members and group.subscription_known.all():
                reference = solve(group, tiers, time_limit=seconds)
            if reference is None:
                unscored = asked if group.members else ()
                rows = [Score(name, "refused", UNKNOWN) for name in unscored]
            else:
                names = asked if asked and one.verdict.says in EMPTY else assignors
                rows = score_judged(one, reference, names, limit, assume_equal=assume_equal)
            found.append(ScoredGroup(one, reference, rows))
    return found


def score_outcome(
    group: Group,
    outcome: Outcome,
    solution: Solution,
    assignor: str,
    reading_most: Group | None = None,
) -> Score:
    """Score the outcome of an assignor's call on a group, also if it made no plan.

    Parameters
    ----------
    reading_most : as in :func:`score`
    """
    plan = outcome.plan
    if plan is None:
        return score_unplanned(outcome, assignor)
    row = score_valued(group, plan.assignment, solution, assignor, reading_most)
    return replace(row, rounds=plan.rounds, revoked=plan.revoked, seconds=outcome.seconds)


def score_unplanned(outcome: Outcome, assignor: str) -> Score:
    """Return the row of an assignor that made no plan for a group."""
    status = "failed" if outcome.status == "planned" else outcome.status
    return Score(assignor, status, outcome.reason, seconds=outcome.seconds)


def outcome_of(solution: Solution) -> Outcome:
    """Return the reference solution as if it were the outcome of an assignor."""
    if solution.assignment is None:
        reason = "the solver found nothing in time"
        return Outcome("timed-out", None, reason, solution.seconds)
    return Outcome("planned", Plan(solution.assignment), None, solution.seconds)


def score_assignors(
    group: Group,
    solution: Solution,
    assignors: Sequence[str | AssignorFunction],
    limit: TimeLimit | float = CALL_SECONDS,
) -> Scores:
    """Score assignors on a group, a row for each, in order.

    Each runs in a child process under the time limit, and gives a row even if it fails.

    Parameters
    ----------
    solution : the reference, as `solve` returns it
    assignors : names, as ``assay assignors`` lists them or ``module:function``, or functions of
        yours from a group to an assignment. ``current`` is the current assignment, ``optimum``
        the solution itself.
    limit : seconds for each call; or a TimeLimit, which keeps its processes for many groups

    Raises
    ------
    BadInput
        If the solution is for another group, an assignor's name is unknown, a child process
        cannot import a function, or a member's subscription is unknown.

    Examples
    --------
    >>> from assay import Group, score_assignors, solve
    >>> document = {"format": "assay-group/1", "group": "orders", "topics": {"t0": 2, "t1": 3}}
    >>> owned = {"t0": [0, 1], "t1": [0, 1, 2]}
    >>> c0, c1 = {"subscription": ["t0", "t1"], "owned": owned}, {"subscription": ["t1"]}
    >>> group = Group.from_dict(document | {"members": {"c0": c0, "c1": c1}})
    >>> rows = score_assignors(group, solve(group), ["current", "range", "kip-54-sticky"])
    >>> [(row.assignor, row.terms[0].excess) for row in rows]
    [('current', 4), ('range', 2), ('kip-54-sticky', 0)]
    """
    _require_same_question(group, solution.group, "solution")
    (rows,) = score_many([group], [solution], assignors, limit)
    return rows


def score_many(
    groups: Sequence[Group],
    solutions: Sequence[Solution],
    assignors: Sequence[str | AssignorFunction],
    limit: TimeLimit | float = CALL_SECONDS,
) -> list[Scores]:
    """Score assignors on many groups: for each group the rows of `score_assignors`.

    Parameters
    ----------
    solutions : the reference of each group, as `solve_many` returns them
    assignors, limit : as in `score_assignors`

    Raises
    ------
    BadInput
        As `score_assignors` does.
    """
    if not isinstance(limit, TimeLimit):
        with TimeLimit(limit) as own:
            return score_many(groups, solutions, assignors, own)
    rows = [Scores() for _ in groups]
    # Assignors' processes keep this many groups, so all assignors are called on these first.
    for start in range(0, len(groups), GROUPS_KEPT):
        part = slice(start, start + GROUPS_KEPT)
        for asked in assignors:
            name = asked if isinstance(asked, str) else assignor_named(asked).name
            answers = solutions[part]
            if asked == CURRENT:
                made = map(score_current, groups[part], answers)
            else:
                outcomes = (
                    map(outcome_of, answers)
                    if asked == OPTIMUM
                    else limit.plan_many(groups[part], asked)
                )
                made = map(score_outcome, groups[part], outcomes, answers, repeat(name))
            for of_group, row in zip(rows[part], made, strict=True):
                of_group.append(row)
    return rows


def assignors_asked(names: Sequence[str]) -> list[str]:
    """Return the names of the rows to score that match names or patterns.

    Raises
    ------
    BadInput
        If a name is neither an assignor's nor ``current`` or ``optimum``, or a pattern matches
        none.
    """
    return list(matching(names, besides=(CURRENT, OPTIMUM)))
