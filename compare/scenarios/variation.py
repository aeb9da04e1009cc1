"""Variation: what may be chosen about a rolling upgrade."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from groups import BadInput
from heuristics.protocol import AS_WRITTEN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# What each member lists at one time.
Lists = dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Variation:
    """What is chosen about a rollout; what is left out is as the name of the rollout says.

    Attributes
    ----------
    order : members that restart first, in this order; the others follow by name
    misses : the member that misses a rebalance
    stays : members that are not restarted, and so keep the list that they have
    start : the list of assignors that members have at the start: of ``missed``, the one that
        misses a rebalance; left out, what the group says that they list, if it does
    starts : of single members, by a glob on their ids
    to : the list that they are to have: of ``range-only``, that of the one that an operator starts
    back : whether the group goes there and back again
    """

    order: tuple[str, ...] = ()
    misses: str | None = None
    stays: tuple[str, ...] = ()
    start: tuple[str, ...] | None = None
    starts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    to: tuple[str, ...] | None = None
    back: bool = False

    def require_fit(self, members: Sequence[str], rollout: str) -> None:
        """Refuse what does not fit the rollout or the members of the group.

        Raises
        ------
        BadInput
            The message names what was chosen.
        """
        if self.misses is not None and rollout != "missed":
            raise BadInput(f"misses: nobody misses a rebalance in {rollout}")
        if self.back and rollout not in ("upgrade", "downgrade"):
            raise BadInput(f"back: for upgrade and downgrade, not for {rollout}")
        for chosen, listed in (("order", self.order), ("stays", self.stays)):
            if listed and rollout == "range-only":
                raise BadInput(f"{chosen}: nobody restarts in range-only")
            _require_members(listed, members, chosen)
        _require_members(() if self.misses is None else (self.misses,), members, "misses")
        for pattern in self.starts:
            if not any(fnmatchcase(member, pattern) for member in members):
                raise BadInput(f"start of {pattern}: no member's id matches")
        for place, listed in (
            ("start", self.start or ()),
            *((f"start of {pattern}", listed) for pattern, listed in self.starts.items()),
            ("to", self.to or ()),
        ):
            _require_assignors(listed, place)

    def in_order(self, members: Sequence[str]) -> list[str]:
        """Return the members as they restart."""
        every = [*self.order, *(m for m in members if m not in self.order)]
        return [m for m in every if m not in self.stays]

    def lists(self, known: Lists) -> Lists:
        """Return what each member lists at the start: the last glob that matches, or as known."""
        found = dict(known)
        for pattern, listed in self.starts.items():
            found |= {m: listed for m in known if fnmatchcase(m, pattern)}
        return found


def _require_members(named: Sequence[str], members: Sequence[str], place: str) -> None:
    for i, member in enumerate(named):
        if member not in members:
            raise BadInput(f"{place}: no member {member!r}, expected one of {', '.join(members)}")
        if member in named[:i]:
            raise BadInput(f"{place}: {member!r} appears twice")


def _require_assignors(listed: Sequence[str], place: str) -> None:
    for i, assignor in enumerate(listed):
        if assignor not in AS_WRITTEN:
            expected = ", ".join(AS_WRITTEN)
            raise BadInput(f"{place}: assignor {assignor!r}, expected one of {expected}")
        if assignor in listed[:i]:
            raise BadInput(f"{place}: {assignor!r} appears twice")
