"""Network: nodes and arcs, of a group or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groups.arrays import Int64


@dataclass(frozen=True, eq=False)
class Network:
    """Arcs with bounds, and nodes that supply (more than 0) or demand (less than 0).

    Attributes
    ----------
    tail, head, lower, upper : (arcs,) int64
    supply : (nodes,) int64, sums to 0
    """

    tail: Int64
    head: Int64
    lower: Int64
    upper: Int64
    supply: Int64
