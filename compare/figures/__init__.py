"""Figures: one function per figure, a table in, an Altair chart out; and what makes the tables.

A table is a pandas DataFrame, an Arrow table or a list of records, and each figure names its
columns. An empty one is BadInput: nothing is drawn from no rows. `themed` gives a chart the light
or the dark look, `svg` and `save` export it without a browser and without a network. Notebooks
show figures as SVG, unless another renderer of Altair's was chosen: Altair's own loads its scripts
from a network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

# What it draws can be drawn from now on.
from compare.figures import results as results
from groups.exports import exports

if TYPE_CHECKING:
    from compare.figures.figure_tables import costs_table as costs_table
    from compare.figures.figure_tables import excess_table as excess_table
    from compare.figures.figure_tables import lag_floor as lag_floor
    from compare.figures.figure_tables import lag_table as lag_table
    from compare.figures.figure_tables import loads_floor as loads_floor
    from compare.figures.figure_tables import loads_table as loads_table
    from compare.figures.figure_tables import moves_table as moves_table
    from compare.figures.figure_tables import seconds_table as seconds_table
    from compare.figures.figure_tables import shares_table as shares_table
    from compare.figures.figure_tables import trade_off_table as trade_off_table
    from compare.figures.figure_tables import trend_table as trend_table
    from compare.figures.many_groups import ecdf as ecdf
    from compare.figures.many_groups import ecdf_of as ecdf_of
    from compare.figures.many_groups import profile as profile
    from compare.figures.many_groups import profile_of as profile_of
    from compare.figures.many_groups import shares as shares
    from compare.figures.many_groups import time_by_size as time_by_size
    from compare.figures.many_groups import trend as trend
    from compare.figures.one_group import costs as costs
    from compare.figures.one_group import lag as lag
    from compare.figures.one_group import loads as loads
    from compare.figures.one_group import moves as moves
    from compare.figures.one_group import sizes as sizes
    from compare.figures.one_group import trade_off as trade_off
    from compare.figures.results import plot as plot
    from compare.figures.theme import require_suffix as require_suffix
    from compare.figures.theme import save as save
    from compare.figures.theme import svg as svg
    from compare.figures.theme import themed as themed

# Type checkers find the names above, and no others.
if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = exports(__name__)

if alt.renderers.active == "default":
    alt.renderers.enable("svg")
