"""Results: the `plot` method of a group, a solution, scores and a frontier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compare.figures.figure_tables import costs_table, loads_floor, loads_table, trade_off_table
from compare.figures.one_group import costs, loads, trade_off
from compare.scores import Scores
from groups.errors import BadInput
from groups.framed import Framed
from groups.group import Group
from groups.tiers import called
from optimal.frontier import Frontier, pays_first
from optimal.solution import Solution

if TYPE_CHECKING:
    import altair as alt


def plot(result: Framed) -> alt.Chart:
    """Return the figure of a result.

    A group: the partitions of each member now. A solution: these beside the best assignment.
    Scores: what each assignor costs. A frontier: what one tier costs in units of the other.

    Parameters
    ----------
    result : a `Group`, a `Solution`, what `score_assignors` returns, or a `Frontier`

    Raises
    ------
    BadInput
        If there is nothing to draw, or it is something else.
    """
    if isinstance(result, Group):
        return loads(loads_table(result))
    if isinstance(result, Solution):
        return loads(loads_table(result.group, result), floor=loads_floor(result))
    if isinstance(result, Scores):
        return costs(costs_table(None, result))
    if isinstance(result, Frontier):
        if not result:
            raise BadInput("plot: no trade-off was found, there is nothing to draw")
        first, second = result[0].tiers
        paid, bought = (first, second) if pays_first((first, second)) else (second, first)
        rows = trade_off_table((first, second), result)
        return trade_off(rows, paid=called(paid), bought=called(bought))
    raise BadInput(
        f"plot: {type(result).__name__}, expected a group, a solution, scores, a frontier"
    )


Framed.draw = staticmethod(plot)
