"""KIP-54's alternative, "sticky yet fair": stickiness before fairness."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups import Assignment
from heuristics.assignor import Plan
from heuristics.written.unassigned import hand_out

if TYPE_CHECKING:
    from groups import Group


def plan(group: Group) -> Plan:
    """Keep every valid owned partition and hand out the others, nothing more.

    "Previous valid assignments" are the valid owners: the claim of the highest generation, void
    where two claim alike, of members that still subscribe. "Towards the fairest possible
    assignment" is read as KIP-54's own second step: fewest potential consumers first, then topic
    and number, each to the potential consumer that holds fewest, then the smallest id.

    Source: KIP-54, "Alternatives".
    """
    return Plan(Assignment(group, hand_out(group, group.owner)))
