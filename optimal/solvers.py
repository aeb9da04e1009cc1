"""Solvers: OR-tools' flows, in a module of their own that is loaded where there is a flow.

Loading them takes longer than a group whose members all read the same; whoever starts a clock, or
leads a group, loads this module before.
"""

from ortools.graph.python import max_flow, min_cost_flow

__all__ = ["max_flow", "min_cost_flow"]
