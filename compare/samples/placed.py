"""Placed: what the members of a sample hold before something happens to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.fleet import Fleet
from groups.tiers import parse_objective

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups import Group
    from groups.arrays import Int32


def placed(groups: Sequence[Group]) -> list[Int32]:
    """Return an optimal assignment of each group: the owners, (all partitions,) int32.

    Which of those that are as good does not follow from how solutions decide between them, so
    that the groups of a seed stay what they are when that changes.
    """
    from optimal.flow.algorithm import flow

    fleet = Fleet.of(groups)
    found = flow(fleet.group, parse_objective("kip-54"), settle_ties=False).owner
    assert found is not None
    return [fleet.owner_in(number, found) for number in range(len(fleet))]
