"""WHAT: a consumer group, an assignment of its partitions, and what that costs."""

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
