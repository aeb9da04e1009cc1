"""Frontier: what one tier costs in units of another, trade-off by trade-off."""

from optimal.frontier.point import Frontier, Point
from optimal.frontier.trade_offs import frontier

__all__ = ["Frontier", "Point", "frontier"]
