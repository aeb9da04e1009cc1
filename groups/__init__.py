"""WHAT: a consumer group, an assignment of its partitions, and what that costs."""

from groups.assignment import Assignment, Violation
from groups.documents import snapshot
from groups.errors import (
    AssayError,
    BadInput,
    Failed,
    InvalidAssignment,
    ProofError,
    Refused,
    SolverContradiction,
)
from groups.group import Claims, Group, MemberDetails, Racks
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

# What reads documents makes groups: a group that imported it in turn would close a circle.
Group.format = snapshot
