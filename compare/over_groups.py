"""Over groups: how assignors compare over several groups, and why some have no score."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from compare.remedy import is_rule, spoken
from compare.scores import COUNTED, CURRENT
from groups.wording import MOST_NAMED, agreed, counted, few, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from compare.scores import Score
    from groups.tiers import Objective


@dataclass(frozen=True, order=True)
class Standing:
    """The results over several groups of one assignor, or of assignors with equal results.

    Attributes
    ----------
    groups, unscored : number of groups with an assignment by it, and without
    optimal : number of groups in which it is proved to be as good as can be
    maybe : number of groups in which it may be as good as can be
    counted : (fact, number of groups in which it holds) for each of `compare.scores.COUNTED`
    tiers : for each tier its name, the number of groups in which it is surely above the optimum,
        the number of groups in which its excess is known, and the greatest sure excess
    assignors : names
    place : rank from 1 among those that have an assignment for every group; equal results have
        equal ranks. 0 for the others, and for the current assignment
    tied : whether another assignor has the same place
    unknown : (fact, number of groups with a valid assignment in which it is unknown)
    """

    groups: int
    unscored: int
    optimal: int
    maybe: int
    counted: tuple[tuple[str, int], ...]
    tiers: tuple[tuple[str, int, int, int], ...]
    assignors: tuple[str, ...] = ()
    place: int = 0
    tied: bool = False
    unknown: tuple[tuple[str, int], ...] = ()

    def may_hold(self, fact: str) -> int:
        """Return in how many groups a fact holds or is unknown."""
        return dict(self.counted)[fact] + dict(self.unknown).get(fact, 0)


def standings_of(rows: Iterable[Score], tiers: Objective) -> tuple[Standing, ...]:
    """Return the results of each assignor over many groups, as `ranked` sorts them."""
    return ranked(fared_in(rows, tiers))


def fared_in(rows: Iterable[Score], tiers: Objective) -> dict[str, Standing]:
    """Return the unranked results of each assignor over many groups, by its name."""
    of: dict[str, list[Score]] = {}
    for row in rows:
        of.setdefault(row.assignor, []).append(row)
    return {name: _standing(every, tiers) for name, every in of.items()}


def _standing(every: Sequence[Score], tiers: Objective) -> Standing:
    scored = [row for row in every if row.status == "scored"]
    sure = [_sure_excess(row) for row in scored]
    known = {tier: [one[tier] for one in sure if tier in one] for tier in tiers}
    return Standing(
        groups=len(scored),
        unscored=len(every) - len(scored),
        optimal=sum(row.is_optimal for row in scored),
        maybe=sum(
            row.valid is True and row.terms is not None and all(more <= 0 for more in one.values())
            for row, one in zip(scored, sure, strict=True)
        ),
        counted=tuple((fact, sum(bool(getattr(row, fact)) for row in scored)) for fact in COUNTED),
        tiers=tuple(
            (tier, sum(more > 0 for more in found), len(found), max([0, *found]))
            for tier, found in known.items()
        ),
        unknown=tuple(
            (fact, sum(row.valid is True and getattr(row, fact) is None for row in scored))
            for fact in COUNTED
        ),
    )


def _sure_excess(row: Score) -> dict[str, int]:
    """Return how far an assignor is surely above the optimum, in each tier where that is known."""
    return {
        term.name: max(term.excess[0], 0) if isinstance(term.excess, tuple) else term.excess
        for term in row.terms or ()
        if term.excess is not None
    }


class Worst(NamedTuple):
    """A group in which an assignor is above the optimum, the first such tier, and its excess."""

    group: str
    tier: str
    excess: int


def worst_groups(rows: Iterable[tuple[str, Score]], tiers: Objective) -> dict[str, Worst]:
    """Return for each assignor the group in which it is surely furthest above the optimum.

    Groups are compared tier by tier; of equal groups the first one is returned. An assignor that
    is nowhere above the optimum is left out.

    Parameters
    ----------
    rows : (group, score)
    """
    worst: dict[str, tuple[list[int], Worst]] = {}
    for group, row in rows:
        sure = _sure_excess(row)
        above = [max(sure.get(tier, 0), 0) for tier in tiers]
        if any(above) and (row.assignor not in worst or above > worst[row.assignor][0]):
            tier, excess = next(pair for pair in zip(tiers, above, strict=True) if pair[1])
            worst[row.assignor] = above, Worst(group, tier, excess)
    return {assignor: found for assignor, (_, found) in worst.items()}


def ranked(fared: Mapping[str, Standing]) -> tuple[Standing, ...]:
    """Return the results of assignors, best first, and of the current assignment last.

    The rank is by the number of groups in which an assignor is as good as can be, then balanced,
    then valid; ties have the same place. An assignor with an assignment for fewer groups than
    another has no place, and comes after those with one. Assignors with equal results share a row.
    """
    every = max((one.groups for name, one in fared.items() if name != CURRENT), default=0)
    alike: dict[tuple[tuple[int, int, int, int], Standing], list[str]] = {}
    for name in sorted(fared):
        one = fared[name]
        if name != CURRENT:
            many = dict(one.counted)
            rank = (every - one.groups, -one.optimal, -many["balanced"], -many["valid"])
            alike.setdefault((rank, one), []).append(name)
    ranks = sorted(rank for (rank, _), names in alike.items() for _ in names)
    found = []
    for (rank, one), names in sorted(alike.items(), key=lambda row: (row[0][0], row[1])):
        place, tied = 0 if rank[0] else ranks.index(rank) + 1, ranks.count(rank) > 1
        found.append(replace(one, assignors=tuple(names), place=place, tied=tied))
    if CURRENT in fared:
        found.append(replace(fared[CURRENT], assignors=(CURRENT,)))
    return tuple(found)


def best_of_all(standings: Sequence[Standing]) -> list[str]:
    """Return the assignors in the first place; empty if none is as good as can be anywhere.

    Rules that no client ships are left out unless no other assignor is among them.
    """
    first = [one for one in standings if one.place == 1 and one.maybe]
    names = [name for one in first for name in one.assignors]
    return [name for name in names if not is_rule(name)] or names


def best_in(standings: Sequence[Standing]) -> str:
    """Return the sentence that names the `best_of_all`; empty if there are none.

    Examples
    --------
    >>> counts = {"counted": (("valid", 9), ("balanced", 9)), "tiers": ()}
    >>> some, all_ = (Standing(9, 0, good, good, **counts) for good in (4, 9))
    >>> best_in(ranked({"a": all_, "b": some}))
    'Of 2 assignors tried, a is best: as good as can be in 9 of 9 groups.'
    >>> best_in(ranked({"kafka-java/range@4.4.0": some}))
    'range 4.4.0 is as good as can be in 4 of 9 groups.'
    >>> best_in(ranked({name: Standing(1, 0, 1, 1, **counts) for name in ("a", "b")}))
    'Of 2 assignors tried, a and b are best: as good as can be.'
    """
    tried = sum(len(one.assignors) for one in standings if one.assignors != (CURRENT,))
    named = [spoken(name) for name in best_of_all(standings)]
    first = [one for one in standings if one.place == 1 and one.groups]
    if not first:
        return ""
    optimal, maybe, groups = first[0].optimal, first[0].maybe, first[0].groups
    if not named:
        where = "" if groups == 1 else f" in any of {groups:,} groups"
        return f"No assignor that was tried is as good as can be{where}."
    who = few(named) if len(named) > MOST_NAMED else listed(named)
    least = "at least " if maybe > optimal else ""
    good = f"as good as can be in {least}{optimal:,} of {groups:,} groups"
    if groups == 1:
        good = "as good as can be, as far as is known" if least else "as good as can be"
    said = f"{who} {agreed(len(named), 'are')} {'' if tried == 1 else 'best: '}{good}"
    now = [one for one in standings if one.assignors == (CURRENT,) and one.groups == groups > 1]
    then = "".join(f" What members hold now is as good in {one.optimal:,}." for one in now)
    return f"{'' if tried == 1 else f'Of {tried:,} assignors tried, '}{said}.{then}"


class NotScored(NamedTuple):
    """Assignors without a score for the same number of groups, for the same reason.

    Attributes
    ----------
    assignors : names
    groups : how many groups
    status : as in :class:`~compare.scores.Score`
    reason : the most frequent reason, as an example: reasons name members and topics
    """

    assignors: tuple[str, ...]
    groups: int
    status: str
    reason: str

    @property
    def names(self) -> str:
        """The assignors in a few words."""
        first, *more = self.assignors
        return f"{first} and {len(more)} more" if len(more) > 1 else ", ".join(self.assignors)


def unscored_rows(counts: Mapping[tuple[str, str, str], int]) -> tuple[NotScored, ...]:
    """Return the reasons why assignors have no score, most frequent first.

    Parameters
    ----------
    counts : number of groups by assignor, status and reason
    """
    reasons: dict[tuple[str, str], Counter[str]] = {}
    for (assignor, status, reason), groups in counts.items():
        reasons.setdefault((assignor, status), Counter())[reason] += groups
    alike: dict[tuple[int, str, str], list[str]] = {}
    for (assignor, status), found in sorted(reasons.items()):
        example = min(found, key=lambda reason: (-found[reason], reason))
        alike.setdefault((found.total(), status, example), []).append(assignor)
    rows = [NotScored(tuple(names), *of) for of, names in alike.items()]
    return tuple(sorted(rows, key=lambda one: (-one.groups, one.assignors, one.status)))


def unscored_of(rows: Iterable[Score]) -> tuple[NotScored, ...]:
    """Return the reasons why assignors have no score, from their scores on many groups."""
    without = (row for row in rows if row.status != "scored")
    return unscored_rows(Counter((r.assignor, r.status, r.reason or r.status) for r in without))


def in_a_line(found: Sequence[NotScored]) -> str:
    """Return the line that says how many assignors are not scored on every group.

    Examples
    --------
    >>> in_a_line([NotScored(("a", "b"), 3, "refused", "subscriptions differ")])
    '2 assignors are not scored on every group:'
    """
    names = {name for one in found for name in one.assignors}
    many = len(names)
    return f"{counted(many, 'assignor')} {agreed(many, 'are')} not scored on every group:"
