"""How an assignor did on several groups, for people who ask which one to run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from compare.scores import Score


class OverGroups(NamedTuple):
    """An assignor on several groups.

    Attributes
    ----------
    groups, scored : how many there are, and on how many of them it has a score
    valid, balanced, optimal : on how many of these it is valid, balanced, proved to be optimal
    worst : its greatest proved excess in the first tier; None if there is none
    """

    assignor: str
    groups: int
    scored: int
    valid: int
    balanced: int
    optimal: int
    worst: int | None


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
    excess = [row.terms[0].excess for row in scored if row.terms]
    return OverGroups(
        name,
        len(every),
        len(scored),
        valid=sum(bool(row.valid) for row in scored),
        balanced=sum(bool(row.balanced) for row in scored),
        optimal=sum(row.is_optimal for row in scored),
        worst=max((one for one in excess if isinstance(one, int)), default=None),
    )
