"""Found: what a run has found of the groups of its input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from compare.overview import Overview
    from compare.unscored import NotScored


class Unread(NamedTuple):
    """An input that is no group: where it is, its name where it has one, and the reason."""

    place: str
    group: str
    reason: str


@dataclass(frozen=True)
class Ending:
    """What a run has found of the groups of its input.

    Attributes
    ----------
    groups : names of groups; one may be captured several times
    overview : of the captures that have a verdict, with a line for the worst of them
    proved : captures with a proved optimum
    not_judged : captures without a verdict, and the names of the first ones
    unread : inputs that are no group, and the first ones
    not_scored : why assignors have no score of some groups
    """

    groups: int
    overview: Overview
    proved: int
    not_judged: tuple[int, tuple[str, ...]]
    unread: tuple[int, tuple[Unread, ...]]
    not_scored: tuple[NotScored, ...] = ()
