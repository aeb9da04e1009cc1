"""THE DOOR: everything that most people need, from the packages where it lives."""

from compare import score
from groups import Assignment, Group
from heuristics import assign
from optimal import check, solve, solve_many

__version__ = "0.1.0"

__all__ = ["Assignment", "Group", "assign", "check", "score", "solve", "solve_many"]
