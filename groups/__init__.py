"""WHAT: a consumer group, an assignment of its partitions, and what that costs.

Each name is loaded when it is first asked for: errors and texts need no arrays.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

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

_AT_HOME = {
    "assignment": "Assignment Violation",
    "columns.claims": "Claims",
    "columns.member_details": "MemberDetails",
    "columns.racks": "Racks",
    "errors": "AssayError BadInput Failed InvalidAssignment ProofError Refused "
    "SolverContradiction",
    "group": "Group",
    "tiers": "PRESETS TIERS parse_objective values",
}
_HOME = {name: module for module, names in _AT_HOME.items() for name in names.split()}

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

    def __getattr__(name: str) -> object:
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
