"""CHILD: functions in a process of their own, whose hang, death or greed is an answer."""

from heuristics.child.child import Child
from heuristics.child.process import Lost

__all__ = ["Child", "Lost"]
