"""Any fit: twelve rules that pack partitions with speeds into members of one capacity.

These are next, first, best and worst fit of bin packing, each also with the fastest partition
first, and four "modified" rules that go through the present members and keep partitions in place.

Source: Landau, Andrade and Barbosa 2022, arXiv:2206.11170; Landau, Saurabh, Andrade and Barbosa
2025, doi:10.1016/j.jpdc.2025.105071. The papers leave open, and this file decides:

- Rules without an order of their own take partitions in the order that is passed in.
- Among equally fast partitions the first in that order wins; among members that fit equally well,
  the lowest number.
- The modified rules begin with the member of most speed, or with the fastest partition.
- A new member is the partition's present holder, if that is not open yet; else the lowest free
  number. That holds for the first member of next fit, too.
- A partition that fits nowhere gets a member of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from groups.arrays import NOBODY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Fit = Literal["next", "first", "best", "worst"]


@dataclass(frozen=True)
class Rule:
    """One of the twelve.

    Attributes
    ----------
    fit : which member with room gets a partition: the last opened, the one with the lowest
        number, the fullest or the emptiest
    decreasing : whether the fastest partition comes first
    keeps : whether members keep partitions; the first is the member with most total `speed`, or
        the one with the fastest `partition`; None: partitions are packed anew
    """

    fit: Fit
    decreasing: bool = False
    keeps: Literal["speed", "partition"] | None = None


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "NF": Rule("next"), "NFD": Rule("next", decreasing=True),
        "FF": Rule("first"), "FFD": Rule("first", decreasing=True),
        "BF": Rule("best"), "BFD": Rule("best", decreasing=True),
        "WF": Rule("worst"), "WFD": Rule("worst", decreasing=True),
        "MBF": Rule("best", keeps="speed"), "MBFP": Rule("best", keeps="partition"),
        "MWF": Rule("worst", keeps="speed"), "MWFP": Rule("worst", keeps="partition"),
    }
)  # fmt: skip


def any_fit(
    rule: Rule,
    speeds: Sequence[int],
    capacity: int,
    owner: Sequence[int],
    order: Sequence[int],
) -> list[int]:
    """Return the member of each partition by a rule.

    Parameters
    ----------
    speeds, capacity : in the same unit
    owner : (partitions,) number of the member that holds each partition now, -1 where nobody does
    order : the partitions, in the order for rules without one
    """
    bins = _Bins(rule.fit, speeds, capacity, owner)
    fastest = sorted(order, key=lambda p: -speeds[p])
    if rule.keeps is None:
        rest = fastest if rule.decreasing else list(order)
    else:
        rest = _keep(bins, fastest, rule.keeps)
    for p in rest:
        if not bins.put(p):
            bins.open(p)
    return bins.member


def _keep(bins: _Bins, fastest: Sequence[int], by: Literal["speed", "partition"]) -> list[int]:
    """Go through the present members; return the partitions without a place, fastest first.

    A member's slowest partitions go to members opened before it, until one does not fit. Then the
    member is opened and takes its others, fastest first, until one does not fit.
    """
    held: dict[int, list[int]] = {}
    for p in fastest:
        held.setdefault(bins.owner[p], []).append(p)
    left = set(held.pop(NOBODY, ()))
    measure = sum if by == "speed" else max
    for member in sorted(held, key=lambda m: (-measure(bins.speeds[p] for p in held[m]), m)):
        mine = held[member]
        while mine and bins.put(mine[-1]):
            mine.pop()
        for i, p in enumerate(mine):
            if i and not bins.has_room(member, p):
                left.update(mine[i:])
                break
            bins.add(member, p)
    return [p for p in fastest if p in left]


@dataclass
class _Bins:
    """The open members, with their loads."""

    fit: Fit
    speeds: Sequence[int]
    capacity: int
    owner: Sequence[int]
    load: dict[int, int] = field(default_factory=dict)
    member: list[int] = field(init=False)
    last: int = NOBODY

    def __post_init__(self) -> None:
        self.member = [NOBODY] * len(self.speeds)

    def has_room(self, member: int, p: int) -> bool:
        """Return whether a partition fits beside what an open member holds."""
        return self.load[member] + self.speeds[p] <= self.capacity

    def add(self, member: int, p: int) -> None:
        """Add a partition to a member, which is then open."""
        self.member[p] = self.last = member
        self.load[member] = self.load.get(member, 0) + self.speeds[p]

    def put(self, p: int) -> bool:
        """Add a partition to an open member by the rule; return whether it fits one."""
        members = sorted(self.load) if self.fit != "next" else [self.last] if self.load else []
        fits = [m for m in members if self.has_room(m, p)]
        if fits:
            sign = {"next": 0, "first": 0, "best": -1, "worst": 1}[self.fit]
            self.add(min(fits, key=lambda m: sign * self.load[m]), p)
        return bool(fits)

    def open(self, p: int) -> None:
        """Add a partition to a new member."""
        now = self.owner[p]
        free = next(m for m in range(len(self.load) + 1) if m not in self.load)
        self.add(free if now == NOBODY or now in self.load else now, p)
