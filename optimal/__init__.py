"""PROOF: the best assignment of a group and its certificate."""

from optimal.certificate import check
from optimal.frontier import Point, frontier
from optimal.solution import Proof, ProofKind, Solution, Status, Stopped, Term
from optimal.solve import METHODS, solve, solve_many

__all__ = [
    "METHODS",
    "Point",
    "Proof",
    "ProofKind",
    "Solution",
    "Status",
    "Stopped",
    "Term",
    "check",
    "frontier",
    "solve",
    "solve_many",
]
