"""Figures: one function per figure, a table in, an Altair chart out; and what makes the tables.

A table is a pandas DataFrame, an Arrow table or a list of records, and each figure names its
columns. An empty one is BadInput: nothing is drawn from no rows. `themed` gives a chart the light
or the dark look, `svg` and `save` export it without a browser and without a network. Notebooks
show figures as SVG, unless another renderer of Altair's was chosen: Altair's own loads its scripts
from a network.
"""

import altair as alt

from compare.figures.figure_tables import (
    costs_table,
    excess_table,
    lag_floor,
    lag_table,
    loads_floor,
    loads_table,
    moves_table,
    seconds_table,
    shares_table,
    trade_off_table,
    trend_table,
)
from compare.figures.many_groups import (
    ecdf,
    ecdf_of,
    profile,
    profile_of,
    shares,
    time_by_size,
    trend,
)
from compare.figures.one_group import costs, lag, loads, moves, sizes, trade_off
from compare.figures.results import plot
from compare.figures.theme import require_suffix, save, svg, themed

__all__ = [
    "costs",
    "costs_table",
    "ecdf",
    "ecdf_of",
    "excess_table",
    "lag",
    "lag_floor",
    "lag_table",
    "loads",
    "loads_floor",
    "loads_table",
    "moves",
    "moves_table",
    "plot",
    "profile",
    "profile_of",
    "require_suffix",
    "save",
    "seconds_table",
    "shares",
    "shares_table",
    "sizes",
    "svg",
    "themed",
    "time_by_size",
    "trade_off",
    "trade_off_table",
    "trend",
    "trend_table",
]

if alt.renderers.active == "default":
    alt.renderers.enable("svg")
