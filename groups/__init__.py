"""WHAT: a consumer group, an assignment of its partitions, and what that costs.

Each name is loaded when it is first asked for: errors and texts need no arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.exports import exports

if TYPE_CHECKING:
    from groups.assignment import Assignment, Violation
    from groups.columns.claims import Claims
    from groups.columns.member_details import MemberDetails
    from groups.columns.racks import Racks
    from groups.errors import (
        AssayError,
        BadInput,
        Failed,
        InvalidAssignment,
        ProofError,
        Refused,
        SolverContradiction,
    )
    from groups.group import Group
    from groups.tiers import PRESETS, TIERS, parse_objective, values

__all__ = [
    "PRESETS",
    "TIERS",
    "AssayError",
    "Assignment",
    "BadInput",
    "Claims",
    "Failed",
    "Group",
    "InvalidAssignment",
    "MemberDetails",
    "ProofError",
    "Racks",
    "Refused",
    "SolverContradiction",
    "Violation",
    "parse_objective",
    "values",
]

# Type checkers find the names above, and no others.
if not TYPE_CHECKING:
    __getattr__, __dir__ = exports(
        __name__,
        {
            "groups.assignment": "Assignment Violation",
            "groups.columns.claims": "Claims",
            "groups.columns.member_details": "MemberDetails",
            "groups.columns.racks": "Racks",
            "groups.errors": "AssayError BadInput Failed InvalidAssignment ProofError Refused "
            "SolverContradiction",
            "groups.group": "Group",
            "groups.tiers": "PRESETS TIERS parse_objective values",
        },
    )
