"""PRACTICE: the assignors that people run or were promised; one assignor, one file, one function.

The catalogue names them. Each name is loaded when it is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.exports import exports

if TYPE_CHECKING:
    from heuristics.assignor import Assignor, Plan
    from heuristics.catalogue import WRITTEN, assignor_named, assignors, available, matching
    from heuristics.own import AssignorFunction
    from heuristics.time_limit import assign, plan

__all__ = [
    "WRITTEN",
    "Assignor",
    "AssignorFunction",
    "Plan",
    "assign",
    "assignor_named",
    "assignors",
    "available",
    "matching",
    "plan",
]

# Type checkers find the names above, and no others.
if not TYPE_CHECKING:
    __getattr__, __dir__ = exports(
        __name__,
        {
            "heuristics.assignor": "Assignor Plan",
            "heuristics.catalogue": "WRITTEN assignor_named assignors available matching",
            "heuristics.own": "AssignorFunction",
            "heuristics.time_limit": "assign plan",
        },
    )
