"""An assignor for kafka-python's consumers that uses `sticky-that-ends`, to play it on a broker.

Name the class in the list ``partition_assignment_strategy`` of each consumer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import live.kafka_python
from heuristics import assign

if TYPE_CHECKING:
    from live.assignor.planned import Solver
    from live.assignor.rebalance import Plan, Rebalance

NAME = "sticky-that-ends"


def mended(rebalance: Rebalance) -> Plan:
    """Return the plan of `sticky-that-ends`."""
    return rebalance.plan_of(assign(rebalance.group(), NAME))


class KafkaPython(live.kafka_python.OptimalAssignor):
    """`sticky-that-ends` for kafka-python, cooperative."""

    name: ClassVar[str] = NAME
    loaded: ClassVar[tuple[str, ...]] = ("groups.group", "heuristics.written.sticky_that_ends")

    @classmethod
    def solver(cls) -> Solver:
        """Return the function that makes the plan."""
        return mended
