"""Judged: a group, its current assignment, its optimum, and the verdict on it.

Where subscriptions are unknown, the true optimum lies between two that can be computed: `lowest`,
where members of unknown subscription read every topic in demand, and `best`, where they read only
the topics that they hold. What holds for both is sure, whatever the members read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np

from compare.hosts import UnevenHosts, uneven_hosts
from compare.lag.behind import waiting_in, waiting_without_owner
from compare.lag.fall import Fall, fall_by_few_moves, fall_to, lag_falls, moves_in
from compare.lag.lowest import ROUNDS, SECONDS, least_lagging, rounds_each
from compare.verdict import (
    ALL_ALIKE,
    BAD,
    BETTER_EXISTS,
    DEPENDS,
    GOOD,
    NO_MEMBERS,
    NOBODY_READS,
    NOT_VALID,
    NOTHING,
    NOTHING_ASSIGNED,
    Says,
    Verdict,
    between,
    distance,
    may_rebalance,
    urgency,
)
from groups import Assignment, Group, values
from groups.arrays import UNKNOWN as NO_BOUND
from groups.arrays import any_in_parts
from groups.collection import is_among, newest_named
from groups.fleet import Fleet
from groups.framed import Framed
from groups.tiers import LAG_PEAKS, Objective, parse_objective
from groups.unknown import reading_least
from optimal import solve, solve_many
from optimal.proof import Proof, ProofKind
from optimal.solution import Solution, Status, Term
from optimal.time_left import TimeLeft

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt


# A question names at most this many subscriptions.
MOST_ASKED = 12
# Seconds for each solve for the further question, which no verdict depends on.
ASKED_SECONDS = 1.0
# At most this many groups are solved alone again, which takes a millisecond each.
MOST_ALONE = 200


@dataclass(frozen=True, eq=False)
class Judged(Framed):
    """A group, its current assignment, its optimum, and the verdict.

    Attributes
    ----------
    now : what the members hold, with the raw claims
    best : the solution where members of unknown subscription read only the topics that they hold,
        so that it can be reached whatever they read; None if there is nothing to solve
    lowest : the solution where members of unknown subscription read every topic in demand; the
        same object as `best` if all subscriptions are known. Unlike `lowest` of
        `compare.scores.ScoredGroup` and `compare.overview.Glance`, it is no peak lag
    least_lag : whether it is proved that `target` has the least peak lag of all equally good
        assignments; None if no search was made
    asks : the (member, topic) pairs of the verdict's question: does this member read this topic?
        Empty if the question names none
    """

    group: Group
    now: Assignment
    best: Solution | None
    lowest: Solution | None
    verdict: Verdict
    least_lag: bool | None = None
    asks: tuple[tuple[str, str], ...] = ()

    def to_rows(self) -> Iterator[dict[str, object]]:
        """Return one row.

        The columns are `group` and `captured_at`, those of `Verdict.to_rows`, and `shown`: the
        verdict as tables show it. If `says` is ``as good as can be`` and a few moves lower the
        lag of the busiest member by a tenth or more, that is ``even, lag could fall``.
        """
        for row in self.verdict.to_rows():
            named = {"group": self.group.name, "captured_at": self.group.captured_at, **row}
            yield named | {"shown": self.shown}

    @property
    def shown(self) -> str:
        """The verdict in a few words, as tables show it."""
        may = may_rebalance(self.group.assumed)
        return self.verdict.shown(self.fall, may_rebalance=may)

    @property
    def target(self) -> Assignment | None:
        """The assignment to aim for: `best`'s, or `lowest`'s if the verdict has a condition."""
        solution = self.lowest if self.verdict.condition else self.best
        return None if solution is None else solution.assignment

    @property
    def to_move(self) -> int | None:
        """How many partitions move to reach the target; None if there is no target."""
        return None if self.target is None else len(self.target.moved)

    @cached_property
    def fall(self) -> Fall | None:
        """How far the lag of the busiest member could fall, whatever the members read.

        The moves are those to the target if the group is improvable, else a few that leave loads
        as even as they are. None if it falls by less than a tenth, if a lag is unknown, or if the
        group would take longer to catch up.
        """
        if self.best is None or self.best.objective[0] != "balance":
            return None
        if not self.now.is_valid or {*LAG_PEAKS} & {*self.best.objective}:
            return None
        target = self.target if self.verdict.is_improvable else None
        found = fall_by_few_moves(self.now) if target is None else fall_to(self.now, target)
        return found if found is not None and lag_falls(self.now, found) else None

    @cached_property
    def further(self) -> Judged | None:
        """The assignment of `best`, judged as if the members held it.

        Its question decides how far the group can improve. None unless the group is surely
        improvable and both optima are proved.
        """
        best, lowest = self.best, self.lowest
        if not self.verdict.is_improvable or not self.verdict.sure:
            return None
        if best is None or lowest is None or best.assignment is None:
            return None
        if not best.status == lowest.status == Status.OPTIMAL:
            return None
        return judge_with_question(self.group, best.assignment, best, lowest, ASKED_SECONDS)

    @property
    def further_question(self) -> str | None:
        """The question that decides how far a surely improvable group can improve, or None."""
        return None if self.further is None else self.further.verdict.question

    @property
    def reads_asked(self) -> tuple[tuple[str, str], ...]:
        """The (member, topic) pairs of the open question: `further`'s if there is one."""
        return self.asks if self.further is None else self.further.asks

    @cached_property
    def uneven_hosts(self) -> UnevenHosts | None:
        """The hosts with most and least load per member; None if they cannot be more even."""
        if self.best is None or self.target is None:
            return None
        return uneven_hosts(self.now, self.target, self.best.objective)

    @property
    def plan(self) -> Assignment | None:
        """The assignment that the verdict advises; None if it advises none.

        The target if the group is improvable, else that of `fall`.
        """
        if self.verdict.is_improvable:
            return self.target
        return None if self.fall is None else self.fall.assignment

    @property
    def reference(self) -> Solution | None:
        """The solution `best`, with bounds that hold whatever the members read."""
        if self.best is None or self.lowest is None or self.best is self.lowest:
            return self.best
        terms: list[Term] = []
        for best, lowest in zip(self.best.terms, self.lowest.terms, strict=False):
            met = all(term.bound == term.value for term in terms)
            terms.append(Term(best.name, best.value, lowest.bound if met else None))
        if terms and all(term.bound == term.value for term in terms):
            return self.best
        unknown = self.best.assignment is None
        return replace(
            self.best,
            terms=tuple(terms),
            status=Status.UNKNOWN if unknown else Status.FEASIBLE,
            proof=Proof(ProofKind.NONE),
        )


class Verdicts(Framed, list[Judged]):
    """The `Judged` of each group, in the groups' order; ``verdicts["orders"]`` is one of them."""

    @overload
    def __getitem__(self, key: SupportsIndex | str) -> Judged: ...

    @overload
    def __getitem__(self, key: slice) -> list[Judged]: ...

    def __getitem__(self, key: SupportsIndex | str | slice) -> Judged | list[Judged]:
        """Return one by index or group name; of several captures of a group, the newest."""
        if isinstance(key, str):
            key = newest_named([one.group for one in self], key)
        return super().__getitem__(key)

    def __contains__(self, asked: object) -> bool:
        """Return whether a `Judged`, or one of a group with a name, is among them."""
        return is_among(asked, self, (one.group for one in self))

    def to_rows(self) -> Iterator[dict[str, object]]:
        """Return one row for each group, with the columns of `Judged.to_rows`."""
        for judged in self:
            yield from judged.to_rows()


def judge(
    groups: Sequence[Group],
    objective: str | Sequence[str] = "kip-54",
    *,
    time_limit: float | None = None,
    assume_equal: bool = False,
) -> Verdicts:
    """Judge the current assignment of each group, in the groups' order; all are solved together.

    Parameters
    ----------
    time_limit : seconds for each solve
    assume_equal : if a verdict depends on who reads what, give the one that holds if all members
        of unknown subscription read every topic in demand, with that condition

    Raises
    ------
    BadInput
        If the objective is unknown, or a group lacks what a tier needs; the message names it.

    Examples
    --------
    >>> from assay import Group, judge
    >>> document = {"format": "assay-group/1", "group": "orders", "topics": {"t0": 2, "t1": 3}}
    >>> owned = {"t0": [0, 1], "t1": [0, 1, 2]}
    >>> c0, c1 = {"subscription": ["t0", "t1"], "owned": owned}, {"subscription": ["t1"]}
    >>> group = Group.from_dict(document | {"members": {"c0": c0, "c1": c1}})
    >>> (judged,) = judge([group])
    >>> judged.verdict.says, judged.verdict.sure, judged.verdict.moves
    ('improvable', True, 2)
    """
    judged = judge_as_solved(groups, objective, time_limit=time_limit, assume_equal=assume_equal)
    return with_least_lag(judged, assume_equal=assume_equal)


def with_least_lag(judged: Sequence[Judged], *, assume_equal: bool = False) -> Verdicts:
    """Return verdicts whose target has the least lag of all equally good assignments.

    Without lag, each target is the one found when its group is solved alone, if at most 200
    groups need another assignment: a flow for several groups may find a different one.

    Parameters
    ----------
    assume_equal : as in :func:`judge`
    """
    # Groups that need another assignment share the rounds of search, and at most a minute.
    others = sum(one.verdict.says in BAD for one in judged)
    rounds, time_left = rounds_each(ROUNDS, others), TimeLeft.of(SECONDS)
    return Verdicts(
        _with_least_lag(
            one,
            rounds,
            time_left,
            alone=others <= MOST_ALONE and (len(judged) > 1 or one.best is not one.lowest),
            assume_equal=assume_equal,
        )
        for one in judged
    )


def judge_as_solved(
    groups: Sequence[Group],
    objective: str | Sequence[str],
    *,
    time_limit: float | None = None,
    assume_equal: bool = False,
) -> list[Judged]:
    """Judge as :func:`judge` does, but do not search for targets with less lag."""
    tiers = parse_objective(objective)
    judged = _judge_between(groups, tiers, time_limit)
    if assume_equal:
        return [_under_condition(one) for one in judged]
    return _with_questions(judged, tiers, time_limit)


def _with_least_lag(
    judged: Judged, rounds: int, time_left: TimeLeft, *, alone: bool, assume_equal: bool
) -> Judged:
    """Return the verdict with the target that has the least lag of all equally good ones.

    With `assume_equal` the target may rely on unknown subscriptions, also where that gains
    nothing but lag.
    """
    best, lowest = judged.best, judged.lowest
    target = lowest if assume_equal else best
    if judged.verdict.says not in BAD or target is None:
        return judged
    found = least_lagging(target, rounds, time_left)
    if found is not None:
        chosen = replace(target, assignment=found.assignment)
    elif alone and target.proof.kind is ProofKind.CERTIFICATE:
        chosen = solve(target.group, target.objective)
    else:
        return judged
    both = lowest is best or (assume_equal and not judged.verdict.condition)
    return replace(
        judged,
        best=chosen if both or not assume_equal else best,
        lowest=chosen if both or assume_equal else lowest,
        least_lag=None if found is None else found.proved,
    )


def judge_by_optimum(group: Group, best: Solution) -> Judged:
    """Judge a group's current assignment by its optimum; all subscriptions are known."""
    return _judge_unassigned(group) or _judge_solved(group, (best, best))


def judge_with_question(
    group: Group, now: Assignment, best: Solution, lowest: Solution, time_limit: float | None
) -> Judged:
    """Judge an assignment by two optima, with the question that would decide the verdict.

    Parameters
    ----------
    now, best, lowest : as in `Judged`
    time_limit : seconds for each solve
    """
    judged = Judged(group, now, best, lowest, _verdict(now, best, lowest))
    (asked,) = _with_questions([judged], lowest.objective, time_limit)
    return asked


def worst_first(judged: Sequence[Judged]) -> list[int]:
    """Return the indices of the groups, most urgent first."""

    def order(i: int) -> tuple[object, ...]:
        one = judged[i]
        says, above = one.verdict.says, one.verdict.at_least or one.verdict.waiting or 0
        to_move = distance(says, one.to_move) or 0
        less = 0 if one.fall is None else one.fall.now - one.fall.then
        tiers = () if one.best is None else one.best.objective
        tier = tiers.index(one.verdict.tier) if one.verdict.tier in tiers else 0
        name, time = one.group.name, one.group.captured_at or ""
        return urgency(says, tier, above, to_move, less, name, time)

    return sorted(range(len(judged)), key=order)


def _judge_between(
    groups: Sequence[Group], tiers: Objective, time_limit: float | None
) -> list[Judged]:
    """Judge each group by two optima: members read the least, and the most, that they may."""
    judged = [_judge_unassigned(one) for one in groups]
    left = [one for one, nothing in zip(groups, judged, strict=True) if nothing is None]
    worlds = [(reading_least(one), one.with_equal_subscriptions()) for one in left]
    rest = map(_judge_solved, left, solved_between(worlds, tiers, time_limit))
    return [next(rest) if nothing is None else nothing for nothing in judged]


def _judge_solved(group: Group, optima: tuple[Solution, Solution]) -> Judged:
    """Judge the current assignment of a group by two optima between which the true one lies."""
    best, lowest = optima
    now = Assignment.current(best.group)
    return Judged(group, now, best, lowest, _verdict(now, best, lowest))


def solved_between(
    worlds: Sequence[tuple[Group, Group]], tiers: Objective, time_limit: float | None
) -> list[tuple[Solution, Solution]]:
    """Return the two optima of each pair of groups.

    Both are the same object if both groups are.

    Parameters
    ----------
    worlds : for each group, the one where members read the least that they may, and the one
        where they read the most
    time_limit : seconds for each solve
    """
    more = [most for least, most in worlds if most is not least]
    solved = iter(solve_many([*(one for one, _ in worlds), *more], tiers, time_limit=time_limit))
    first = [next(solved) for _ in worlds]
    return [
        (best, best if most is least else next(solved))
        for best, (least, most) in zip(first, worlds, strict=True)
    ]


def unassigned_in(fleet: Fleet) -> npt.NDArray[Any]:
    """Return verdicts on groups in which no member claims a partition, (groups,); else "".

    Members that are known to read no partition hold all that they can, unless records wait.
    """
    group, lag, members = fleet.group, fleet.group.lag_records, fleet.member_start
    has_members = np.diff(members) > 0
    of_partitions = partial(any_in_parts, start=fleet.partition_start)
    waits = of_partitions(np.zeros(len(group.owner), bool) if lag is None else lag > 0)
    may_read = of_partitions(group.readers[group.topic] > 0)
    may_read |= any_in_parts(~group.subscription_known, members)
    holds = fleet.other_claims | of_partitions(group.owner >= 0) | ~(may_read | waits)
    return np.select(
        [~has_members & waits, ~has_members, ~holds],
        [NOBODY_READS, NO_MEMBERS, NOTHING_ASSIGNED],
        "",
    )


def _judge_unassigned(group: Group) -> Judged | None:
    """Judge a group in which no member claims a partition; return None for all others."""
    (says,) = unassigned_in(Fleet.one(group)).tolist()
    if not says:
        return None
    records, unknown = waiting_in(group)
    verdict = Verdict(says, sure=True, waiting=records, waiting_unknown=unknown)
    return Judged(group, Assignment.current(group), None, None, verdict)


def _verdict(now: Assignment, best: Solution, lowest: Solution) -> Verdict:
    """Compare the current assignment with two optima between which the true one lies."""
    if not now.is_valid:
        records, unknown = waiting_without_owner(now)
        return Verdict(NOT_VALID, sure=True, waiting=records, waiting_unknown=unknown)
    tiers, found = best.objective, values(now, best.objective)
    reached = tuple(term.value for term in best.terms) or found
    bounds = [NO_BOUND if term.bound is None else term.bound for term in lowest.terms]
    rows = (found, reached, bounds or [NO_BOUND] * len(tiers))
    depends = best is not lowest and tuple(term.value for term in lowest.terms) < found
    held = between(*(np.array([row], object) for row in rows), depends=depends)
    says: Says = str(held.says[0])  # type: ignore[assignment]
    if says == GOOD:
        return Verdict(says, sure=True, moves=0)
    sure = says in BETTER_EXISTS
    at_least, at_most = (
        None if one[0] == NOTHING else int(one[0]) for one in (held.at_least, held.at_most)
    )
    moves = moves_in(best) if sure and _is_same_optimum(best, lowest) else None
    return Verdict(says, sure, tiers[held.tier[0]], at_least, at_most, moves)


def _under_condition(judged: Judged) -> Judged:
    """Return the verdict that holds if all members read the same topics, where that matters.

    It matters if the verdict depends on who reads what, or if the group is improvable and its
    optimum is another one under that condition.
    """
    best, lowest = judged.best, judged.lowest
    if best is None or lowest is None or best is lowest:
        return judged
    other = [term.value for term in best.terms] != [term.value for term in lowest.terms]
    if judged.verdict.says != DEPENDS and not (judged.verdict.is_improvable and other):
        return judged
    now = Assignment.current(lowest.group)
    verdict = replace(_verdict(now, lowest, lowest), sure=False, condition=ALL_ALIKE)
    return replace(judged, verdict=verdict)


def _is_same_optimum(best: Solution, lowest: Solution) -> bool:
    """Return whether the optimum and its number of moves hold whatever the members read."""
    proved = best.status == lowest.status == Status.OPTIMAL
    alike = [t.value for t in best.terms] == [t.value for t in lowest.terms]
    return proved and (best is lowest or (alike and "stickiness" in best.objective))


def _with_questions(
    judged: Sequence[Judged], tiers: Objective, time_limit: float | None
) -> list[Judged]:
    """Return the verdicts, with a question in those that depend on who reads what.

    If the answer is yes, the group is surely improvable. The question first tries one
    subscription that lets a partition move to a member with at least two fewer. If that does not
    decide, it names as few as can be found of the subscriptions that `lowest` uses.
    """
    undecided = [one for one in judged if one.verdict.says == DEPENDS]
    steps = [_widest_step(one) for one in undecided]
    groups = [
        reading_least(one.group, [] if step is None else [step])
        for one, step in zip(undecided, steps, strict=True)
    ]
    asking = {}
    for one, step, solution in zip(
        undecided, steps, solve_many(groups, tiers, time_limit=time_limit), strict=True
    ):
        now = values(one.now, tiers)
        decides = step is not None and _is_better(solution, now)
        pairs = [step] if decides else _fewest_pairs(one, now, tiers, time_limit)
        asks = tuple(
            (one.group.members[pair[0]], one.group.topics[pair[1]])
            for pair in pairs
            if pair is not None
        )
        verdict = replace(one.verdict, question=_question(asks))
        asking[id(one)] = replace(one, verdict=verdict, asks=asks)
    return [asking.get(id(one), one) for one in judged]


def _is_better(solution: Solution, now: tuple[int, ...]) -> bool:
    return bool(solution.terms) and tuple(term.value for term in solution.terms) < now


def _widest_step(judged: Judged) -> tuple[int, int] | None:
    """Return the unknown (member, topic) that lets a partition move down the most load, or None.

    None if no move goes to a member with at least two partitions fewer.
    """
    group, loads = judged.group, judged.now.loads
    claims, topics = judged.now.holdings, group.topics_in_demand
    greatest = np.zeros(len(group.topics), np.int64)
    np.maximum.at(greatest, group.topic[claims[1]], loads[claims[0]])
    unknown = np.flatnonzero(~group.subscription_known)
    step = greatest[topics] - loads[unknown][:, None]
    held = judged.now.group.subscribes(
        np.repeat(unknown, len(topics)), np.tile(topics, len(unknown))
    )
    step[held.reshape(step.shape)] = 0
    if not step.size or step.max() < 2:
        return None
    member, topic = np.unravel_index(int(step.argmax()), step.shape)
    return int(unknown[member]), int(topics[topic])


def _fewest_pairs(
    judged: Judged, now: tuple[int, ...], tiers: Objective, time_limit: float | None
) -> list[tuple[int, int]]:
    """Return a minimal set of unknown subscriptions with which the group is improvable.

    They are (member, topic) that `lowest` uses. Empty if it uses more than `MOST_ASKED`.
    """
    if judged.lowest is None or judged.lowest.assignment is None:
        return []
    group, owner = judged.group, judged.lowest.assignment.owner
    held = np.flatnonzero(owner >= 0)
    member, topic = owner[held].astype(np.int64), group.topic[held].astype(np.int64)
    new = ~judged.now.group.subscribes(member, topic)
    used = np.unique(member[new] * len(group.topics) + topic[new]).tolist()
    pairs = [divmod(pair, len(group.topics)) for pair in used]
    if len(pairs) > MOST_ASKED:
        return []
    for pair in tuple(pairs):
        rest = [other for other in pairs if other != pair]
        (solution,) = solve_many([reading_least(group, rest)], tiers, time_limit=time_limit)
        if _is_better(solution, now):
            pairs = rest
    return pairs


def _question(asks: Sequence[tuple[str, str]]) -> str:
    if not asks:
        return "which topics do the members read?"
    first, *rest = (f"{member} read {topic}" for member, topic in asks)
    return f"does {first}{''.join(f', and {other}' for other in rest)}?"
