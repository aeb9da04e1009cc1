"""Figures: one function per figure, from a table to an Altair chart; and functions for the tables.

A table is a pandas DataFrame, an Arrow table or a list of records; each figure documents its
columns. An empty table is BadInput. `themed` gives a chart the light or the dark look; `svg` and
`save` export it without a browser or a network. Notebooks show figures as SVG, because Altair's
default renderer loads scripts from a network, unless another renderer was chosen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

# Importing it gives results their `plot` methods.
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

# A type checker must see only the imports above: __getattr__ would hide a misspelt name.
if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = exports(__name__)

if alt.renderers.active == "default":
    alt.renderers.enable("svg")
