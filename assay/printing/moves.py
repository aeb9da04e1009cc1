"""Moves: the partitions of a plan that go from one member to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.printing.terminal import tell
from compare.page.group.moves import moves_to
from groups.wording import counted

if TYPE_CHECKING:
    from groups.assignment import Assignment

MOST_LINES = 10


def print_moves(plan: Assignment, indent: str = "  ") -> None:
    """Print a line for each pair of members of whom one gives partitions to the other."""
    pairs = moves_to(plan)
    for pair in pairs[:MOST_LINES]:
        tell(f"{indent}{pair.count:,} from {pair.origin} to {pair.target}: {pair.partitions}")
    more = len(pairs) - MOST_LINES
    if more > 0:
        tell(f"{indent}and {counted(more, 'more pair')} of members: --format json has every move")
