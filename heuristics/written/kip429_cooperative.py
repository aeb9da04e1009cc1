"""KIP-429: any assignor's result, reached cooperatively in rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.rounds import to_quiescence
from heuristics.written import kip54_sticky

if TYPE_CHECKING:
    from collections.abc import Callable

    from groups import Group
    from heuristics.assignor import Plan


def plan(group: Group, *, over: Callable[[Group], Plan] = kip54_sticky.plan) -> Plan:
    """Rebalance with an assignor, holding back what is still owned, until nobody must revoke.

    Source: KIP-429, on top of any assignor.

    Parameters
    ----------
    over : the assignor whose result is reached cooperatively, "kip-54-sticky" unless told
        otherwise

    Raises
    ------
    Failed
        Where what the members own comes back after a round: it would go on for ever.
    Refused
        Where the assignor does not cover the group.
    """
    return to_quiescence(group, over, withhold=True)
