"""How assignors did on several groups, and of how many they have no score, and why."""

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
    """How assignors that fared the same did over some groups; counts, and of each tier the excess.

    Attributes
    ----------
    groups : in which it gave an assignment; `unscored`: in which it gave none
    optimal : in which it is proved to be as good as can be
    maybe : in which it may be as good as can be, for all that is proved
    counted : in which a fact holds, by its name, as of `compare.scores.COUNTED`
    tiers : of each tier the number of groups where it is known to be above the optimum, of how
        many it has an excess in that tier, and the worst that is sure
    assignors : names
    place : from 1 among those that gave an assignment of every group; equal for those that are
        equal in what they are ranked by. 0 for the others, and for what is there now
    tied : whether another row has the same place
    unknown : in how many groups with a valid assignment a fact of `counted` is not known
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
        """Return in how many groups a fact holds, for all that is known."""
        return dict(self.counted)[fact] + dict(self.unknown).get(fact, 0)


def standings_of(rows: Iterable[Score], tiers: Objective) -> tuple[Standing, ...]:
    """Return how each assignor did, of its rows on many groups, as `ranked` has it."""
    return ranked(fared_in(rows, tiers))


def fared_in(rows: Iterable[Score], tiers: Objective) -> dict[str, Standing]:
    """Return how each assignor did, of its rows on many groups, by its name and unranked."""
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
    """Return by how much an assignor is above the optimum for sure, in each tier that is known."""
    return {
        term.name: max(term.excess[0], 0) if isinstance(term.excess, tuple) else term.excess
        for term in row.terms or ()
        if term.excess is not None
    }


class Worst(NamedTuple):
    """A group in which an assignor is above the optimum, in which tier first, and by how much."""

    group: str
    tier: str
    excess: int


def worst_groups(rows: Iterable[tuple[str, Score]], tiers: Objective) -> dict[str, Worst]:
    """Return of each assignor the group in which it is furthest above the optimum for sure.

    The first tier decides, of groups that are equal in it the next; of equal groups it is the
    first. An assignor that is nowhere above the optimum is left out.

    Parameters
    ----------
    rows : each with the name of its group
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
    """Return how each assignor fared, best first; what is there now stands apart, at the end.

    They are ranked by the number of groups in which they are as good as can be, then balanced,
    then valid; equal ones have the same place. Only those have a place that gave an assignment of
    as many groups as any; the others follow. Assignors of which all counts are equal share a row.
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
    """Return the assignors to run, by how often they are as good as can be; none if none did it.

    A rule that no client brings is one only where it is better than all that can be run.
    """
    first = [one for one in standings if one.place == 1 and one.groups]
    names = [name for one in first for name in one.assignors]
    return [name for name in names if not is_rule(name)] or names


def best_in(standings: Sequence[Standing]) -> str:
    """Return in a sentence which assignors are `best_of_all`; empty if none is.

    Examples
    --------
    >>> counts = {"counted": (("valid", 9), ("balanced", 9)), "tiers": ()}
    >>> some, all_ = (Standing(9, 0, good, good, **counts) for good in (4, 9))
    >>> best_in(ranked({"a": all_, "b": some}))
    'Of 2 assignors tried, a is best: as good as can be in 9 of 9 groups.'
    >>> best_in(ranked({"kafka-java/range@4.4.0": some}))
    'range 4.4.0 is as good as can be in 4 of 9 groups.'
    """
    tried = sum(len(one.assignors) for one in standings if one.assignors != (CURRENT,))
    named = [spoken(name) for name in best_of_all(standings)]
    if not named:
        return ""
    first = [one for one in standings if one.place == 1]
    who = few(named) if len(named) > MOST_NAMED else listed(named)
    optimal, maybe, groups = first[0].optimal, first[0].maybe, first[0].groups
    least = "at least " if maybe > optimal else ""
    good = f"as good as can be in {least}{optimal:,} of {counted(groups, 'group')}"
    said = f"{who} {agreed(len(named), 'are')} {'' if tried == 1 else 'best: '}{good}"
    alike = (one for one in standings if one.assignors == (CURRENT,) and one.groups == groups)
    then = "".join(f" What members hold now is so in {one.optimal:,}." for one in alike)
    return f"{'' if tried == 1 else f'Of {tried:,} assignors tried, '}{said}.{then}"


class NotScored(NamedTuple):
    """Assignors that have no score of as many groups, in the same way.

    Attributes
    ----------
    assignors : names
    groups : how many groups
    status : what became of them, as of a :class:`~compare.scores.Score`
    reason : the most frequent one, as an example: reasons name members and topics
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
    """Return why assignors have no score, what holds for most groups first.

    Parameters
    ----------
    counts : groups by assignor, status and reason
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
    """Return why assignors have no score, of their rows on many groups."""
    without = (row for row in rows if row.status != "scored")
    return unscored_rows(Counter((r.assignor, r.status, r.reason or r.status) for r in without))


def in_a_line(found: Sequence[NotScored]) -> str:
    """Return how many assignors are not scored on every group.

    Examples
    --------
    >>> in_a_line([NotScored(("a", "b"), 3, "refused", "subscriptions differ")])
    '2 assignors are not scored on every group:'
    """
    names = {name for one in found for name in one.assignors}
    many = len(names)
    return f"{counted(many, 'assignor')} {agreed(many, 'are')} not scored on every group:"
