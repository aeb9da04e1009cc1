"""Verdict: whether what a group has now is as good as can be, and on what that depends.

Where subscriptions are unknown, the true optimum lies between two that can be computed: the one
where whoever is unknown reads all that is in demand, and the one where it reads just what it
holds (DESIGN section 8). What both say is sure, whoever reads what.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypedDict

import numpy as np

from groups import Assignment, Group, values
from groups.tiers import TIERS, parse_objective
from groups.unknown import reading_least, reading_most
from optimal import solve, solve_many
from optimal.solution import Proof, ProofKind, Status, Term

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.tiers import Objective
    from optimal.solution import Solution

Says = Literal[
    "not valid",
    "improvable",
    "depends on who reads what",
    "not proved",
    "nothing assigned yet",
    "as good as can be",
    "no members",
]
WORST_FIRST: tuple[Says, ...] = (
    "not valid",
    "improvable",
    "depends on who reads what",
    "not proved",
    "nothing assigned yet",
    "as good as can be",
    "no members",
)
DEPENDS: Says = "depends on who reads what"
MOST_ASKED = 12
ALL_ALIKE = "all members read the same topics"

VerdictDocument = TypedDict(
    "VerdictDocument",
    {
        "says": str,
        "sure": bool,
        "at_least": int | None,
        "at_most": int | None,
        "moves": int | None,
        "if": str | None,
    },
)


@dataclass(frozen=True)
class Verdict:
    """What is known of the assignment that a group has now.

    Attributes
    ----------
    says : the verdict in the words of the format
    sure : whether it holds whoever reads what, and was proved
    tier : the first tier in which now and the best differ, or may differ; None where none does
    at_least, at_most : how far above the optimum that tier is, None where it is not known
    moves : partitions that the optimum moves, None where that is not sure
    condition : what was assumed for it, None where nothing was
    question : what would decide it, as in "does c-2 read t1?"; None where nothing is open
    """

    says: Says
    sure: bool
    tier: str | None = None
    at_least: int | None = None
    at_most: int | None = None
    moves: int | None = None
    condition: str | None = None
    question: str | None = None

    def to_dict(self) -> VerdictDocument:
        """Return the ``verdict`` of the ``assay-scores/1`` document."""
        return {
            "says": self.says,
            "sure": self.sure,
            "at_least": self.at_least,
            "at_most": self.at_most,
            "moves": self.moves,
            "if": self.condition,
        }


@dataclass(frozen=True, eq=False)
class Judged:
    """A group, what it has now, the best there is, and the verdict.

    Attributes
    ----------
    now : what the members hold, raw claims as they are
    best : the solution where each member reads at most what is known or it holds; whatever is
        true, this one can be had. None where nothing can be solved
    lowest : the solution where whoever is unknown reads all that is in demand; the same object
        as `best` where all subscriptions are known
    """

    group: Group
    now: Assignment
    best: Solution | None
    lowest: Solution | None
    verdict: Verdict

    @property
    def target(self) -> Assignment | None:
        """The assignment to go for: the best that can be had, or under the condition of it."""
        solution = self.lowest if self.verdict.condition else self.best
        return None if solution is None else solution.assignment

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


def judge(
    groups: Sequence[Group],
    objective: str | Sequence[str] = "kip-54",
    *,
    time_limit: float | None = None,
    assume_equal: bool = False,
) -> list[Judged]:
    """Judge what each of some groups has now, in their order; all are solved together.

    Parameters
    ----------
    time_limit : seconds for each solve
    assume_equal : where the verdict depends on who reads what, give the one that holds if all
        members whose subscription is unknown read every topic in demand, with that condition

    Raises
    ------
    BadInput
        Where the objective is not known, or a group lacks what a tier needs.
    """
    tiers = parse_objective(objective)
    judged = _between(groups, tiers, time_limit)
    if assume_equal:
        return [_conditional(one) for one in judged]
    asked = _questions([one for one in judged if one.verdict.says == DEPENDS], tiers, time_limit)
    return [
        replace(one, verdict=replace(one.verdict, question=asked[one.group]))
        if one.group in asked
        else one
        for one in judged
    ]


def _between(groups: Sequence[Group], tiers: Objective, time_limit: float | None) -> list[Judged]:
    """Judge what is sure, between the most and the least that members may read."""
    least, most = map(reading_least, groups), map(reading_most, groups)
    worlds = {
        i: (low, high)
        for i, (low, high) in enumerate(zip(least, most, strict=True))
        if low.members and len(low.claims.member)
    }
    lows = [low for low, _ in worlds.values()]
    highs = [high for low, high in worlds.values() if high is not low]
    solved = iter(_solved([*lows, *highs], tiers, time_limit))
    best = dict(zip(worlds, solved, strict=False))
    judged = []
    for i, group in enumerate(groups):
        if i not in worlds:
            now = Assignment.current(group)
            says: Says = "nothing assigned yet" if group.members else "no members"
            judged.append(Judged(group, now, None, None, Verdict(says, sure=True)))
            continue
        low, high = worlds[i]
        now = Assignment.current(low)
        lowest = best[i] if high is low else next(solved)
        judged.append(Judged(group, now, best[i], lowest, _verdict(now, best[i], lowest)))
    return judged


def _verdict(now: Assignment, best: Solution, lowest: Solution) -> Verdict:
    """Compare what is there with two optima between which the true one lies.

    A bound stands for an optimum that is not proved, and what a solver found for one that is not
    reached: whatever is true, the first is not above the optimum, the second not below it.
    """
    if not now.is_valid:
        return Verdict("not valid", sure=True)
    tiers = best.objective
    found = values(now, tiers)
    bounds = [term.bound for term in lowest.terms] or [None] * len(tiers)
    reached = [term.value for term in best.terms]
    open_tier = next((i for i, bound in enumerate(bounds) if found[i] != bound), None)
    if open_tier is None:
        return Verdict("as good as can be", sure=True, moves=0)
    at_most = _above(found[open_tier], bounds[open_tier])
    if reached and tuple(reached) < found:
        better = next(i for i, value in enumerate(reached) if value != found[i])
        # An earlier tier may turn out lower still; then there is no excess in this one.
        same = better == open_tier
        return Verdict(
            "improvable",
            sure=True,
            tier=tiers[better],
            at_least=found[better] - reached[better] if same else None,
            at_most=at_most if same else None,
            moves=_moves(best) if _same(best, lowest) else None,
        )
    says: Says = "not proved"
    if best is not lowest and tuple(term.value for term in lowest.terms) < found:
        says = DEPENDS
    return Verdict(says, sure=False, tier=tiers[open_tier], at_least=0, at_most=at_most)


def _conditional(judged: Judged) -> Judged:
    """Return the verdict that holds if all read alike, where the sure one depends on that."""
    lowest = judged.lowest
    if judged.verdict.says != DEPENDS or lowest is None:
        return judged
    now = Assignment.current(lowest.group)
    verdict = replace(_verdict(now, lowest, lowest), sure=False, condition=ALL_ALIKE)
    return replace(judged, verdict=verdict)


def _above(value: int, bound: int | None) -> int | None:
    return None if bound is None else value - bound


def _same(best: Solution, lowest: Solution) -> bool:
    """Say whether the optimum and what it moves are the same whoever reads what."""
    proved = best.status == lowest.status == Status.OPTIMAL
    alike = [t.value for t in best.terms] == [t.value for t in lowest.terms]
    return proved and (best is lowest or (alike and "stickiness" in best.objective))


def _moves(solution: Solution) -> int:
    """Return how many partitions leave a valid owner."""
    assignment = solution.assignment
    if assignment is None:
        return 0
    before = assignment.group.owner
    return int(((before >= 0) & (before != assignment.owner)).sum())


def _solved(groups: Sequence[Group], tiers: Objective, time_limit: float | None) -> list[Solution]:
    if all(TIERS[tier].is_flow for tier in tiers):
        return solve_many(groups, tiers, time_limit=time_limit)
    return [solve(group, tiers, time_limit=time_limit) for group in groups]


def _questions(
    judged: Sequence[Judged], tiers: Objective, time_limit: float | None
) -> dict[Group, str]:
    """Return for each group what would make it improvable for sure, if the answer is yes.

    First one subscription that lets a partition move to a member with two fewer; where that does
    not decide, as few as can be found of those that the lowest optimum uses.
    """
    single = {one.group: pair for one in judged if (pair := _widest_step(one)) is not None}
    groups = [reading_least(group, [pair]) for group, pair in single.items()]
    better = {
        group: solution
        for group, solution in zip(single, _solved(groups, tiers, time_limit), strict=True)
    }
    asked = {}
    for one in judged:
        found = values(one.now, tiers)
        solution = better.get(one.group)
        pairs = [single[one.group]] if solution is not None and _less(solution, found) else []
        if not pairs:
            pairs = _fewest(one, found, tiers, time_limit)
        asked[one.group] = _question(one.group, pairs)
    return asked


def _less(solution: Solution, found: tuple[int, ...]) -> bool:
    return bool(solution.terms) and tuple(term.value for term in solution.terms) < found


def _widest_step(judged: Judged) -> tuple[int, int] | None:
    """(member, topic) not known to be read, where a partition could step down furthest."""
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


def _fewest(
    judged: Judged, found: tuple[int, ...], tiers: Objective, time_limit: float | None
) -> list[tuple[int, int]]:
    """Subscriptions that the lowest optimum uses and nobody has shown, less those not needed."""
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
        (solution,) = _solved([reading_least(group, rest)], tiers, time_limit)
        if _less(solution, found):
            pairs = rest
    return pairs


def _question(group: Group, pairs: Sequence[tuple[int, int]]) -> str:
    if not pairs:
        return "which topics do the members read?"
    first, *rest = (f"{group.members[m]} read {group.topics[t]}" for m, t in pairs)
    return f"does {first}{''.join(f', and {other}' for other in rest)}?"
