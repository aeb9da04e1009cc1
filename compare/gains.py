"""Gains: what a few moves buy of what all of them would, in words."""

from __future__ import annotations

from compare.sentences import counted


def what_moves_buy(few: int, gain: int, every: int, most: int) -> str:
    """Say what share of the gain a part of the moves has.

    Parameters
    ----------
    few, gain : so many moves, and how far they bring a tier down
    every, most : the same of all moves
    """
    gives = "gives" if few == 1 else "give"
    return f"{counted(few, 'move')} {gives} {100 * gain // most}% of what {every} would"
