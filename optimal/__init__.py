"""PROOF: the best assignment of a group and its certificate."""

from optimal.certificate import check
from optimal.frontier import Frontier, Point, frontier
from optimal.proof import Floor, Proof, ProofKind
from optimal.solution import Solution, Status, Stopped, Term
from optimal.solutions import Solutions
from optimal.solve import METHODS, solve, solve_fleet, solve_many

__all__ = [
    "METHODS",
    "Floor",
    "Frontier",
    "Point",
    "Proof",
    "ProofKind",
    "Solution",
    "Solutions",
    "Status",
    "Stopped",
    "Term",
    "check",
    "frontier",
    "solve",
    "solve_fleet",
    "solve_many",
]
