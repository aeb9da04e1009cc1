"""WHAT: a consumer group, an assignment of its partitions, and what that costs.

Each name is loaded when it is first asked for: errors and texts need no arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.exports import exports

if TYPE_CHECKING:
    from groups.assignment import Assignment as Assignment
    from groups.assignment import Violation as Violation
    from groups.columns.claims import Claims as Claims
    from groups.columns.places import MemberDetails as MemberDetails
    from groups.columns.racks import Racks as Racks
    from groups.errors import AssayError as AssayError
    from groups.errors import BadInput as BadInput
    from groups.errors import Failed as Failed
    from groups.errors import InvalidAssignment as InvalidAssignment
    from groups.errors import ProofError as ProofError
    from groups.errors import Refused as Refused
    from groups.errors import SolverContradiction as SolverContradiction
    from groups.group import Group as Group
    from groups.tiers import PRESETS as PRESETS
    from groups.tiers import TIERS as TIERS
    from groups.tiers import parse_objective as parse_objective
    from groups.tiers import values as values

# Type checkers find the names above, and no others.
if not TYPE_CHECKING:
    __getattr__, __dir__, _ = exports(__name__)
