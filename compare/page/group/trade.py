"""Trade: what each move buys on the way to the best assignment, as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compare.page.csv_text import as_csv
from compare.page.drawing import drawn

if TYPE_CHECKING:
    from compare.judged import Judged
    from compare.page.drawing import Drawing
    from compare.page.group.line import Line

TIERS = ("balance", "stickiness")
# The worst group only: the curve is a solve for each number of moves.
MOST_GROUPS = 1
MOST_CELLS = 5_000
SECONDS = 2.0
FEWEST_POINTS = 3
TOLD = (
    "How uneven loads stay (up) after so many moves (to the right). Every dot is the best that so "
    "few moves can do; an open one is not proved."
)


def trade_of(judged: Judged, line: Line) -> tuple[Drawing, str] | None:
    """Return the curve of moves against balance, and its data as CSV.

    None where that is not what the verdict is about, the group is large or not among the worst, or
    there is nothing to choose from.
    """
    target, verdict = judged.target, judged.verdict
    if target is None or judged.best is None or verdict.says != "improvable" or not verdict.sure:
        return None
    group, cells = target.group, len(target.group.members) * target.group.n_partitions
    if line.number > MOST_GROUPS or cells > MOST_CELLS or judged.best.objective != TIERS:
        return None
    from optimal.frontier import frontier

    points = frontier(group, *TIERS, time_limit=SECONDS)
    if len(points) < FEWEST_POINTS:
        return None
    from compare import figures

    rows = figures.trade_off_table(TIERS, points)
    heads = ("moves", "balance", "proved", "bound")
    keys = ("paid", "bought", "proved", "bound")
    data = as_csv(heads, ([row[key] for key in keys] for row in rows))
    return drawn(figures.trade_off(rows), "What each move buys", TOLD), data
