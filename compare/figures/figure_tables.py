"""Tables for the figures: of one group, and of assignors over many groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from compare.figures.scored import scores_of
from compare.gains import trade_offs
from compare.over_groups import fared_in
from compare.scores import CURRENT
from compare.verdict import distance
from groups.arrays import UNKNOWN
from groups.assignment import Assignment
from groups.tiers import in_words, load_of
from optimal.solution import Solution

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from compare.figures.rows import Record
    from compare.figures.scored import Scored
    from compare.judged import Judged
    from compare.scores import Score
    from groups.group import Group
    from optimal import Point


def loads_table(
    group: Group,
    best: Solution | Assignment | None = None,
    others: Mapping[str, Assignment] | None = None,
) -> list[Record]:
    """Return what each member holds of each topic: now, by assignors and in the best assignment.

    Parameters
    ----------
    best : left out if it is None, or a solution without an assignment
    others : assignments by the name of their assignor

    Returns
    -------
    rows : `member`, `whose` ("now", an assignor's name, "best"), `topic`, `partitions`; a member
        that holds nothing has one row, with None as its topic and 0 partitions
    """
    found = _assignments(group, best, others)
    return [row for whose, one in found.items() for row in _held(whose, one)]


def loads_floor(best: Solution) -> int | None:
    """Return the least load that the busiest member of any assignment can have.

    None if that is not proved, or the solution does not minimise balance first.
    """
    term = best.terms[0] if best.terms else None
    if best.assignment is None or term is None or term.name != "balance" or best.at_most:
        return None
    return int(best.assignment.loads.max(initial=0)) if term.value == term.bound else None


def lag_floor(best: Solution) -> tuple[int, str] | None:
    """Return the bound on the peak lag, and among which assignments it holds, in words.

    None if the solution does not minimise the peak lag, or has no bound of it.
    """
    before: list[str] = []
    for term in best.terms:
        if term.name == "peak_lag" and term.bound is not None:
            among = "in every assignment"
            if before == ["balance"]:
                among = "wherever loads are as even as can be,"
            elif before:
                among = f"wherever {in_words(before)} is at its best,"
            return term.bound, among
        before.append(term.name)
    return None


def moves_table(best: Solution | Assignment) -> list[Record]:
    """Return how many partitions go from whom to whom.

    Returns
    -------
    rows : `origin`, `target`, `partitions`; empty if nothing moves
    """
    assignment = best.assignment if isinstance(best, Solution) else best
    if assignment is None:
        return []
    return [
        {"origin": origin, "target": target, "partitions": count}
        for (origin, target), count in assignment.moves_by_pair().items()
    ]


def lag_table(
    group: Group,
    best: Solution | Assignment | None = None,
    others: Mapping[str, Assignment] | None = None,
) -> list[Record]:
    """Return the lag of each member: now, by assignors and in the best assignment.

    Returns
    -------
    rows : `member`, `whose`, `records` (of the partitions whose lag is known), `unknown` (number
        of partitions with an unknown lag); empty if the group has no lag
    """
    if group.lag_records is None:
        return []
    rows: list[Record] = []
    for whose, one in _assignments(group, best, others).items():
        member, partition = one.holdings
        missing = member[group.lag_records[partition] == UNKNOWN]
        unknown = np.bincount(missing, minlength=len(group.members)).tolist()
        lags = load_of(one, group.lag_records)
        rows += [
            {"member": name, "whose": whose, "records": records, "unknown": open_}
            for name, records, open_ in zip(group.members, lags, unknown, strict=True)
        ]
    return rows


def costs_table(best: Solution | None, scores: Sequence[Score]) -> list[Record]:
    """Return what assignors cost in each tier, beside the best.

    Parameters
    ----------
    scores : a row per assignor, as `score` returns it; those without terms are left out

    Returns
    -------
    rows : `assignor`, `tier`, `value`, `valid`; last the solution, if given, as "best"
    """
    rows: list[Record] = [
        {
            "assignor": score.assignor,
            "tier": term.name,
            "value": term.value,
            "valid": bool(score.valid),
        }
        for score in scores
        for term in score.terms or ()
    ]
    rows += [
        {"assignor": "best", "tier": term.name, "value": term.value, "valid": True}
        for term in (best.terms if best else ())
    ]
    return rows


def trade_off_table(tiers: tuple[str, str], points: Sequence[Point]) -> list[Record]:
    """Return the trade-offs that `frontier` found, cheapest first.

    The tier that is paid is the one about moves, if there is one, else the second.

    Returns
    -------
    rows : `paid`, `bought` (values of the two tiers), `proved`, `knee`, `bound` (the least that
        `bought` can be at this price; None if not known)
    """
    return [
        {
            "paid": one.spent,
            "bought": one.bought,
            "proved": one.point.proved,
            "knee": one.is_knee,
            "bound": one.bound,
        }
        for one in trade_offs(tiers, points)
    ]


def trend_table(
    judged: Iterable[Judged], of: Literal["excess", "moves"] = "excess"
) -> list[Record]:
    """Return how far each capture is from the best, by time.

    Parameters
    ----------
    judged : captures as `judge` returns them; those without a time of capture are left out
    of : "excess": of the tier that decides; "moves": partitions that have to move

    Returns
    -------
    rows : `captured_at`, `group`, `value`; 0 if the capture is as good as can be, None if that is
        not sure or not known
    """
    return [
        {
            "captured_at": one.group.captured_at,
            "group": one.group.name,
            "value": distance(
                one.verdict.says, one.verdict.moves if of == "moves" else one.verdict.at_least
            ),
        }
        for one in judged
        if one.group.captured_at is not None
    ]


def shares_table(scored: Scored) -> list[Record]:
    """Return in how many groups each assignor is valid, balanced and as good as can be.

    Parameters
    ----------
    scored : pairs of a group and its scores, ``[(group, score_assignors(group, ...)), ...]``; or
        the table ``scores`` of `fleet.tables`, of Arrow, as a DataFrame or as records

    Returns
    -------
    rows : `assignor` and numbers of groups: `groups` (it gave an assignment), `unscored` (it gave
        none), `valid`, `balanced` (as KIP-54 defines it), `optimal` (every tier proved optimal)
    """
    fared = fared_in((score for *_, score in scores_of("shares_table", scored)), ())
    return [
        {
            "assignor": name,
            "groups": one.groups,
            "unscored": one.unscored,
            **dict(one.counted),
            "optimal": one.optimal,
        }
        for name, one in fared.items()
    ]


def excess_table(scored: Scored, tier: str = "balance") -> list[Record]:
    """Return how far above the optimum each assignor is in a tier, group by group.

    Parameters
    ----------
    scored : pairs of a group and its scores, ``[(group, score_assignors(group, ...)), ...]``; or
        the table ``scores`` of `fleet.tables`, of Arrow, as a DataFrame or as records
    tier : a tier of the objective

    Returns
    -------
    rows : `assignor`, `group`, `excess`, `excess_most`: the excess lies between the two, which are
        equal if the optimum is proved. Both are None if there is none: not scored, not valid, or
        worse in an earlier tier; `excess_most` is also None if no bound is known
    """
    rows: list[Record] = []
    for group, _, _, score in scores_of("excess_table", scored):
        terms = {term.name: term.excess for term in score.terms or ()}
        excess = terms.get(tier)
        least, most = excess if isinstance(excess, tuple) else (excess, excess)
        rows.append(
            {
                "assignor": score.assignor,
                "group": group,
                # An assignor may beat an unproved incumbent; the excess is then at least 0.
                "excess": None if least is None else max(least, 0),
                "excess_most": most,
            }
        )
    return rows


def seconds_table(scored: Scored) -> list[Record]:
    """Return how long each assignor took, group by group.

    Parameters
    ----------
    scored : as in `excess_table`

    Returns
    -------
    rows : `assignor`, `group`, `members`, `partitions`, `seconds`; without the present
        assignment, and without rows that have no score or 0 seconds
    """
    return [
        {
            "assignor": score.assignor,
            "group": group,
            "members": members,
            "partitions": partitions,
            "seconds": score.seconds,
        }
        for group, members, partitions, score in scores_of("seconds_table", scored)
        if score.status == "scored" and score.seconds > 0 and score.assignor != CURRENT
    ]


def _assignments(
    group: Group, best: Solution | Assignment | None, others: Mapping[str, Assignment] | None
) -> dict[str, Assignment]:
    last = best.assignment if isinstance(best, Solution) else best
    return {
        "now": Assignment.current(group),
        **(others or {}),
        **({} if last is None else {"best": last}),
    }


def _held(whose: str, assignment: Assignment) -> list[Record]:
    group = assignment.group
    member, partition = assignment.holdings
    pair = member * max(len(group.topics), 1) + group.topic[partition]
    pairs, counts = np.unique(pair, return_counts=True)
    rows: list[Record] = [
        {
            "member": group.members[one // len(group.topics)],
            "whose": whose,
            "topic": group.topics[one % len(group.topics)],
            "partitions": count,
        }
        for one, count in zip(pairs.tolist(), counts.tolist(), strict=True)
    ]
    rows += [
        {"member": member, "whose": whose, "topic": None, "partitions": 0}
        for member in assignment.idle
    ]
    return rows
