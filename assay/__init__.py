"""THE DOOR: everything that most people need, from the packages where it lives."""

from compare import Excess, Hunt, Journey, Quarry, Scenario, Score, ScoreTerm, hunt, play, score
from groups import (
    AssayError,
    Assignment,
    BadInput,
    Failed,
    Group,
    InvalidAssignment,
    ProofError,
    Refused,
    SolverContradiction,
    Violation,
)
from heuristics import assign
from heuristics.time_limit import TimeLimit
from optimal import (
    Floor,
    Point,
    Proof,
    ProofKind,
    Solution,
    Status,
    Stopped,
    Term,
    check,
    frontier,
    solve,
    solve_many,
)

__version__: str

__all__ = [
    "AssayError",
    "Assignment",
    "BadInput",
    "Excess",
    "Failed",
    "Floor",
    "Group",
    "Hunt",
    "InvalidAssignment",
    "Journey",
    "Point",
    "Proof",
    "ProofError",
    "ProofKind",
    "Quarry",
    "Refused",
    "Scenario",
    "Score",
    "ScoreTerm",
    "Solution",
    "SolverContradiction",
    "Status",
    "Stopped",
    "Term",
    "TimeLimit",
    "Violation",
    "assign",
    "check",
    "frontier",
    "hunt",
    "play",
    "score",
    "solve",
    "solve_many",
]


def __getattr__(name: str) -> str:
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # pyproject.toml says it, once.
    from importlib.metadata import version

    return version("kafka-assay")
