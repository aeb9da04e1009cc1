"""Solvers: OR-tools' flow solvers, in a module of their own that is loaded only if needed.

Loading them takes longer than solving a group whose members all read the same topics. Callers that
measure time, or lead a group, import this module first.
"""

from ortools.graph.python import max_flow, min_cost_flow

__all__ = ["max_flow", "min_cost_flow"]
