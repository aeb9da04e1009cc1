"""Judged: a group, what it has now, the best there is, and the verdict on it.

Where subscriptions are unknown, the true optimum lies between two that can be computed: the one
where whoever is unknown reads all that is in demand, and the one where it reads just what it
holds. What both say is sure, whoever reads what.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, SupportsIndex, overload

import numpy as np

from compare.hosts import UnevenHosts, uneven_hosts
from compare.lag.behind import known_lag, lag_without_owner
from compare.lag.fall import Fall, fall_by_few_moves, fall_to, lag_falls, moves_in
from compare.lag.lowest import ROUNDS, SECONDS, least_lagging, rounds_each
from compare.verdict import (
    ALL_ALIKE,
    DEPENDS,
    NOTHING,
    Says,
    Verdict,
    between,
    distance,
    may_rebalance,
    urgency,
)
from groups import Assignment, Group, values
from groups.arrays import UNKNOWN as NO_BOUND
from groups.collection import newest_named
from groups.framed import Framed
from groups.tiers import LAG_PEAKS, Objective, parse_objective
from groups.unknown import reading_least
from optimal import solve, solve_many
from optimal.proof import Proof, ProofKind
from optimal.solution import Solution, Status, Term
from optimal.time_left import TimeLeft

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


# Subscriptions that a question names, at most.
MOST_ASKED = 12
# Seconds for each solve of a question beside the verdict.
ASKED_SECONDS = 1.0
# Groups that are solved alone once more, which takes a millisecond each.
MOST_ALONE = 200
# Verdicts on groups that need another assignment.
OTHERS = ("improvable", "not valid")


@dataclass(frozen=True, eq=False)
class Judged(Framed):
    """A group, what it has now, the best there is, and the verdict.

    Attributes
    ----------
    now : what the members hold, raw claims as they are
    best : the solution where each member reads at most what is known or it holds; whatever is
        true, this one can be had. None where nothing can be solved
    lowest : the solution where whoever is unknown reads all that is in demand; the same object
        as `best` where all subscriptions are known
    least_lag : whether it is proved that `target` has the least peak lag of all that are as good;
        None where none was searched
    asks : (member, topic) of which the question of the verdict asks whether the one reads the
        other; empty where it names none
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
        verdict as tables have it, ``even, lag could fall`` where a few moves take a tenth or more
        off the lag of the busiest member of a group whose `says` is ``as good as can be``.
        """
        for row in self.verdict.to_rows():
            told = {"group": self.group.name, "captured_at": self.group.captured_at, **row}
            yield told | {"shown": self.shown}

    @property
    def shown(self) -> str:
        """The verdict in the few words of tables, which tell apart where lag could fall."""
        may = may_rebalance(self.group.assumed)
        return self.verdict.shown(self.fall, may_rebalance=may)

    @property
    def target(self) -> Assignment | None:
        """The assignment to go for: the best that can be had, or under the condition of it."""
        solution = self.lowest if self.verdict.condition else self.best
        return None if solution is None else solution.assignment

    @property
    def to_move(self) -> int | None:
        """How many partitions move to the target; None where there is none."""
        return None if self.target is None else len(self.target.moved)

    @cached_property
    def fall(self) -> Fall | None:
        """How far the lag of the busiest member could fall, whoever reads what.

        By the moves to the target where the group is improvable, else by a few moves that leave
        loads as even as they are. None where it falls by less than a tenth, a lag is not known, or
        the last member takes longer to catch up then.
        """
        if self.best is None or self.best.objective[0] != "balance":
            return None
        if not self.now.is_valid or {*LAG_PEAKS} & {*self.best.objective}:
            return None
        target = self.target if self.verdict.says == "improvable" else None
        found = fall_by_few_moves(self.now) if target is None else fall_to(self.now, target)
        return found if found is not None and lag_falls(self.now, found) else None

    @cached_property
    def further(self) -> Judged | None:
        """The best that is sure, as if it were there: its question decides how good the best is.

        None where the group is not improvable for sure, the best is known, or was not found in the
        time given.
        """
        best, lowest = self.best, self.lowest
        if self.verdict.says != "improvable" or not self.verdict.sure:
            return None
        if best is None or lowest is None or best.assignment is None:
            return None
        if not best.status == lowest.status == Status.OPTIMAL:
            return None
        return asked_about(self.group, best.assignment, best, lowest, ASKED_SECONDS)

    @property
    def further_question(self) -> str | None:
        """What would decide how good the best is, where it is sure only that now is improvable."""
        return None if self.further is None else self.further.verdict.question

    @property
    def reads_asked(self) -> tuple[tuple[str, str], ...]:
        """(member, topic) of the question that is open, be it on the verdict or on the best."""
        return self.asks if self.further is None else self.further.asks

    @cached_property
    def uneven_hosts(self) -> UnevenHosts | None:
        """Which hosts have most and least for a member; None where they cannot be more even."""
        if self.best is None or self.target is None:
            return None
        return uneven_hosts(self.now, self.target, self.best.objective)

    @property
    def plan(self) -> Assignment | None:
        """The assignment that the verdict says to go for; None where there is none.

        The target where the group is improvable, else the one with less lag on one member.
        """
        if self.verdict.says == "improvable":
            return self.target
        return None if self.fall is None else self.fall.assignment

    @property
    def reference(self) -> Solution | None:
        """The best that can be had, with bounds that hold whoever reads what."""
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
    """What groups have now, each as a `Judged`, in their order; ``verdicts["orders"]`` is one."""

    @overload
    def __getitem__(self, key: SupportsIndex | str) -> Judged: ...

    @overload
    def __getitem__(self, key: slice) -> list[Judged]: ...

    def __getitem__(self, key: SupportsIndex | str | slice) -> Judged | list[Judged]:
        """Return one by its place or its group's name: of several captures of one, the newest."""
        if isinstance(key, str):
            key = newest_named([one.group for one in self], key)
        return super().__getitem__(key)

    def to_rows(self) -> Iterator[dict[str, object]]:
        """Return a row a group, with the columns of `Judged.to_rows`."""
        for judged in self:
            yield from judged.to_rows()


def judge(
    groups: Sequence[Group],
    objective: str | Sequence[str] = "kip-54",
    *,
    time_limit: float | None = None,
    assume_equal: bool = False,
) -> Verdicts:
    """Judge what each of some groups has now, in their order; all are solved together.

    Parameters
    ----------
    time_limit : seconds for each solve
    assume_equal : where the verdict depends on who reads what, give the one that holds if all
        members whose subscription is unknown read every topic in demand, with that condition

    Raises
    ------
    BadInput
        Where the objective is not known, or a group lacks what a tier needs; the message names it.

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
    judged = as_solved(groups, objective, time_limit=time_limit, assume_equal=assume_equal)
    return with_least_lag(judged, assume_equal=assume_equal)


def with_least_lag(judged: Sequence[Judged], *, assume_equal: bool = False) -> Verdicts:
    """Return verdicts that go, of all assignments that are as good, for one with least lag.

    Without lag each goes for what is found where its group is solved alone, if no more than 200
    need another assignment: of those as good, a flow for several groups may find another one.

    Parameters
    ----------
    assume_equal : as of :func:`judge`
    """
    # Groups that need another assignment share the rounds of search, and a minute at the most.
    others = sum(one.verdict.says in OTHERS for one in judged)
    rounds, time_left = rounds_each(ROUNDS, others), TimeLeft.of(SECONDS)
    return Verdicts(
        _going_for_least_lag(
            one,
            rounds,
            time_left,
            alone=others <= MOST_ALONE and (len(judged) > 1 or one.best is not one.lowest),
            assume_equal=assume_equal,
        )
        for one in judged
    )


def as_solved(
    groups: Sequence[Group],
    objective: str | Sequence[str],
    *,
    time_limit: float | None = None,
    assume_equal: bool = False,
) -> list[Judged]:
    """Judge as :func:`judge` does, by the optima as they were found: no less lag is looked for."""
    tiers = parse_objective(objective)
    judged = _between(groups, tiers, time_limit)
    if assume_equal:
        return [_conditional(one) for one in judged]
    return _with_questions(judged, tiers, time_limit)


def _going_for_least_lag(
    judged: Judged, rounds: int, time_left: TimeLeft, *, alone: bool, assume_equal: bool
) -> Judged:
    """Return a verdict with, of all that is equally good, the assignment that has least lag.

    Where members are taken to read the same, the assignment may use it if it is no better
    otherwise.
    """
    best, lowest = judged.best, judged.lowest
    target = lowest if assume_equal else best
    if judged.verdict.says not in OTHERS or target is None:
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


def judged_by(group: Group, best: Solution) -> Judged:
    """Judge what a group has now by its optimum; who reads what is known of all its members."""
    if _is_idle(group):
        return _of_idle(group)
    now = Assignment.current(group)
    return Judged(group, now, best, best, _verdict(now, best, best))


def asked_about(
    group: Group, now: Assignment, best: Solution, lowest: Solution, time_limit: float | None
) -> Judged:
    """Return a group judged by two optima, with what would decide the verdict.

    Parameters
    ----------
    now, best, lowest : as of `Judged`
    time_limit : seconds for each solve
    """
    judged = Judged(group, now, best, lowest, _verdict(now, best, lowest))
    (asked,) = _with_questions([judged], lowest.objective, time_limit)
    return asked


def worst_first(judged: Sequence[Judged]) -> list[int]:
    """Return the numbers of groups in the order in which people want to see them."""

    def order(i: int) -> tuple[object, ...]:
        one = judged[i]
        says, above = one.verdict.says, one.verdict.at_least or one.verdict.waiting or 0
        to_move = distance(says, one.to_move) or 0
        less = 0 if one.fall is None else one.fall.now - one.fall.then
        return urgency(says, above, to_move, less, one.group.name, one.group.captured_at or "")

    return sorted(range(len(judged)), key=order)


def _between(groups: Sequence[Group], tiers: Objective, time_limit: float | None) -> list[Judged]:
    """Judge what is sure, between the most and the least that members may read."""
    worlds = [
        (reading_least(one), one.with_equal_subscriptions()) for one in groups if not _is_idle(one)
    ]
    solved = iter(solved_between(worlds, tiers, time_limit))
    judged = []
    for group in groups:
        if _is_idle(group):
            judged.append(_of_idle(group))
            continue
        best, lowest = next(solved)
        now = Assignment.current(best.group)
        judged.append(Judged(group, now, best, lowest, _verdict(now, best, lowest)))
    return judged


def solved_between(
    worlds: Sequence[tuple[Group, Group]], tiers: Objective, time_limit: float | None
) -> list[tuple[Solution, Solution]]:
    """Return the optima of groups where members read the least, and the most, that they may.

    Both are the same object where both groups are.

    Parameters
    ----------
    time_limit : seconds for each solve
    """
    more = [most for least, most in worlds if most is not least]
    solved = iter(solve_many([*(one for one, _ in worlds), *more], tiers, time_limit=time_limit))
    first = [next(solved) for _ in worlds]
    return [
        (best, best if most is least else next(solved))
        for best, (least, most) in zip(first, worlds, strict=True)
    ]


def _is_idle(group: Group) -> bool:
    """Return whether nobody claims anything, so that there is nothing to judge."""
    return not group.members or not len(group.claims.member)


def _of_idle(group: Group) -> Judged:
    waiting = known_lag(group)
    says: Says = "nothing assigned yet"
    if not group.members:
        says = "nobody reads" if waiting else "no members"
    verdict = Verdict(says, sure=True, waiting=waiting)
    return Judged(group, Assignment.current(group), None, None, verdict)


def _verdict(now: Assignment, best: Solution, lowest: Solution) -> Verdict:
    """Compare what is there with two optima between which the true one lies."""
    if not now.is_valid:
        return Verdict("not valid", sure=True, waiting=lag_without_owner(now) or None)
    tiers, found = best.objective, values(now, best.objective)
    reached = tuple(term.value for term in best.terms) or found
    bounds = [NO_BOUND if term.bound is None else term.bound for term in lowest.terms]
    rows = (found, reached, bounds or [NO_BOUND] * len(tiers))
    depends = best is not lowest and tuple(term.value for term in lowest.terms) < found
    held = between(*(np.array([row], object) for row in rows), depends=depends)
    says: Says = str(held.says[0])  # type: ignore[assignment]
    if says == "as good as can be":
        return Verdict(says, sure=True, moves=0)
    sure = says == "improvable"
    at_least, at_most = (
        None if one[0] == NOTHING else int(one[0]) for one in (held.at_least, held.at_most)
    )
    moves = moves_in(best) if sure and _same(best, lowest) else None
    return Verdict(says, sure, tiers[held.tier[0]], at_least, at_most, moves)


def _conditional(judged: Judged) -> Judged:
    """Return the verdict that holds if all read alike, where the sure one depends on that.

    So it does where the optimum is another one if all read alike: then what is sure is no
    measure of it.
    """
    best, lowest = judged.best, judged.lowest
    if best is None or lowest is None or best is lowest:
        return judged
    other = [term.value for term in best.terms] != [term.value for term in lowest.terms]
    if judged.verdict.says != DEPENDS and not (judged.verdict.says == "improvable" and other):
        return judged
    now = Assignment.current(lowest.group)
    verdict = replace(_verdict(now, lowest, lowest), sure=False, condition=ALL_ALIKE)
    return replace(judged, verdict=verdict)


def _same(best: Solution, lowest: Solution) -> bool:
    """Return whether the optimum and what it moves are the same whoever reads what."""
    proved = best.status == lowest.status == Status.OPTIMAL
    alike = [t.value for t in best.terms] == [t.value for t in lowest.terms]
    return proved and (best is lowest or (alike and "stickiness" in best.objective))


def _with_questions(
    judged: Sequence[Judged], tiers: Objective, time_limit: float | None
) -> list[Judged]:
    """Return verdicts with, where they depend on who reads what, the question that decides.

    If the answer is yes, the group is improvable for sure. First one subscription is asked about
    that lets a partition move to a member with two fewer; where that does not decide, as few as
    can be found of those that the lowest optimum uses.
    """
    depend = [one for one in judged if one.verdict.says == DEPENDS]
    steps = [_widest_step(one) for one in depend]
    groups = [
        reading_least(one.group, [] if step is None else [step])
        for one, step in zip(depend, steps, strict=True)
    ]
    asked = {}
    for one, step, solution in zip(
        depend, steps, solve_many(groups, tiers, time_limit=time_limit), strict=True
    ):
        now = values(one.now, tiers)
        decides = step is not None and _less(solution, now)
        pairs = [step] if decides else _fewest(one, now, tiers, time_limit)
        asks = tuple(
            (one.group.members[pair[0]], one.group.topics[pair[1]])
            for pair in pairs
            if pair is not None
        )
        verdict = replace(one.verdict, question=_question(asks))
        asked[id(one)] = replace(one, verdict=verdict, asks=asks)
    return [asked.get(id(one), one) for one in judged]


def _less(solution: Solution, found: tuple[int, ...]) -> bool:
    return bool(solution.terms) and tuple(term.value for term in solution.terms) < found


def _widest_step(asked: Judged) -> tuple[int, int] | None:
    """(member, topic) not known to be read, where a partition could step down furthest."""
    group, loads = asked.group, asked.now.loads
    claims, topics = asked.now.holdings, group.topics_in_demand
    greatest = np.zeros(len(group.topics), np.int64)
    np.maximum.at(greatest, group.topic[claims[1]], loads[claims[0]])
    unknown = np.flatnonzero(~group.subscription_known)
    step = greatest[topics] - loads[unknown][:, None]
    held = asked.now.group.subscribes(
        np.repeat(unknown, len(topics)), np.tile(topics, len(unknown))
    )
    step[held.reshape(step.shape)] = 0
    if not step.size or step.max() < 2:
        return None
    member, topic = np.unravel_index(int(step.argmax()), step.shape)
    return int(unknown[member]), int(topics[topic])


def _fewest(
    asked: Judged, found: tuple[int, ...], tiers: Objective, time_limit: float | None
) -> list[tuple[int, int]]:
    """Subscriptions that the lowest optimum uses and nobody has shown, less those not needed."""
    if asked.lowest is None or asked.lowest.assignment is None:
        return []
    group, owner = asked.group, asked.lowest.assignment.owner
    held = np.flatnonzero(owner >= 0)
    member, topic = owner[held].astype(np.int64), group.topic[held].astype(np.int64)
    new = ~asked.now.group.subscribes(member, topic)
    used = np.unique(member[new] * len(group.topics) + topic[new]).tolist()
    pairs = [divmod(pair, len(group.topics)) for pair in used]
    if len(pairs) > MOST_ASKED:
        return []
    for pair in tuple(pairs):
        rest = [other for other in pairs if other != pair]
        (solution,) = solve_many([reading_least(group, rest)], tiers, time_limit=time_limit)
        if _less(solution, found):
            pairs = rest
    return pairs


def _question(asks: Sequence[tuple[str, str]]) -> str:
    if not asks:
        return "which topics do the members read?"
    first, *rest = (f"{member} read {topic}" for member, topic in asks)
    return f"does {first}{''.join(f', and {other}' for other in rest)}?"
