"""How assignors did on several groups, and of how many they have no score, and why."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from compare.scores import COUNTED
from groups.wording import agreed, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from compare.scores import Score


class OverGroups(NamedTuple):
    """An assignor on several groups.

    Attributes
    ----------
    groups, scored : how many there are, and on how many of them it has a score
    counted : on how many of these a fact holds, by its name, as of `compare.scores.COUNTED`
    optimal : on how many of them it is proved to be optimal
    worse : of each tier, by its name, on how many it is proved to be worse there than the optimum
        and equal before, and its greatest excess; None where none is known
    """

    assignor: str
    groups: int
    scored: int
    counted: dict[str, int]
    optimal: int
    worse: dict[str, tuple[int, int] | None]


def over_groups(rows: Iterable[Score]) -> list[OverGroups]:
    """Return a row for each assignor that has a score, the most often optimal first."""
    of: dict[str, list[Score]] = {}
    for row in rows:
        of.setdefault(row.assignor, []).append(row)
    found = [_over(name, every) for name, every in of.items()]
    ranked = sorted(found, key=lambda one: (-one.optimal, one.assignor))
    return [one for one in ranked if one.scored]


def _over(name: str, every: list[Score]) -> OverGroups:
    scored = [row for row in every if row.terms is not None]
    excess: dict[str, list[int]] = {}
    for term in (term for row in scored for term in row.terms or ()):
        known = excess.setdefault(term.name, [])
        known += [term.excess] if isinstance(term.excess, int) else []
    return OverGroups(
        name,
        len(every),
        len(scored),
        counted={fact: sum(bool(getattr(row, fact)) for row in scored) for fact in COUNTED},
        optimal=sum(row.is_optimal for row in scored),
        worse={
            tier: (sum(one > 0 for one in known), max(known)) if known else None
            for tier, known in excess.items()
        },
    )


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
