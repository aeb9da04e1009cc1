"""Variation: what may be chosen about a rolling upgrade."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from compare.members import members_matching, members_named
from groups import BadInput
from groups.wording import few
from heuristics.protocol import AS_WRITTEN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from groups import Group

# What each member lists at one time.
Lists = dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Variation:
    """What is chosen about a rollout; what is left out is as the name of the rollout says.

    Members go by their ids, or by a client id for all members that have it.

    Attributes
    ----------
    order : members that restart first, in this order; the others follow by name
    misses : the member that misses a rebalance
    stays : members that are not restarted, and so keep the list that they have
    start : the list of assignors that members have at the start: of ``missed``, the one that
        misses a rebalance; left out, what the group says that they list, if it does
    starts : of single members, by a glob on their ids and client ids
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

    def fitted(self, group: Group, rollout: str) -> Variation:
        """Return the same by ids of members; refuse what does not fit the rollout or the group.

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
        late = () if self.misses is None else _ids(group, (self.misses,), "misses")
        if len(late) > 1:
            raise BadInput(
                f"misses: {len(late):,} members have client id {self.misses!r}: {few(late)}"
            )
        starts: dict[str, tuple[str, ...]] = {}
        for pattern, listed in self.starts.items():
            meant = members_matching(group, pattern)
            if not meant:
                raise BadInput(f"start {pattern}: no member's id or client id matches")
            starts |= {group.members[m]: listed for m in meant}
        for place, listed in (
            ("start", self.start or ()),
            *((f"start {pattern}", listed) for pattern, listed in self.starts.items()),
            ("to", self.to or ()),
        ):
            _require_assignors(listed, place)
        order, stays = _ids(group, self.order, "order"), _ids(group, self.stays, "stays")
        return replace(
            self, order=order, stays=stays, misses=next(iter(late), None), starts=starts
        )

    def in_order(self, members: Sequence[str]) -> list[str]:
        """Return the members as they restart."""
        every = [*self.order, *(m for m in members if m not in self.order)]
        return [m for m in every if m not in self.stays]

    def lists(self, known: Lists) -> Lists:
        """Return what each member lists at the start: the last glob that matches, or as known."""
        return {**known, **self.starts}


def _ids(group: Group, named: Sequence[str], place: str) -> tuple[str, ...]:
    """Return the ids of the members that are named by id or client id, in that order."""
    found: list[str] = []
    for name in named:
        meant = [group.members[m] for m in members_named(group, name)]
        if not meant:
            expected = ", ".join(group.members)
            raise BadInput(f"{place}: no member {name!r}, expected one of {expected}")
        if {*meant} & {*found}:
            raise BadInput(f"{place}: {name!r} appears twice")
        found += meant
    return tuple(found)


def _require_assignors(listed: Sequence[str], place: str) -> None:
    for i, assignor in enumerate(listed):
        if assignor not in AS_WRITTEN:
            expected = ", ".join(AS_WRITTEN)
            raise BadInput(f"{place}: assignor {assignor!r}, expected one of {expected}")
        if assignor in listed[:i]:
            raise BadInput(f"{place}: {assignor!r} appears twice")
