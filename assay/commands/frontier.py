"""Frontier: what one tier costs in units of another, point by point."""

from typing import Annotated

import typer

from assay.commands.options import (
    DEFAULT_SECONDS,
    MOST_SECONDS,
    AssumeEqual,
    Format,
    OneOf,
    Rate,
    Reads,
    Reset,
    Views,
    one_group,
)
from assay.streams import note_assumed, show_json
from groups.tiers import tier_named

MOST_POINTS = 25


def frontier(
    files: Views,
    first: Annotated[str, typer.Argument(metavar="TIER", help="one tier, as in balance")],
    second: Annotated[
        str, typer.Argument(metavar="TIER", help="another, as in stickiness, which is moves")
    ],
    *,
    points: Annotated[
        int, typer.Option(min=2, max=10_000, help="how many at most, spread evenly")
    ] = MOST_POINTS,
    time_limit: Annotated[
        float, typer.Option(min=0.001, max=MOST_SECONDS, help="seconds for all points together")
    ] = DEFAULT_SECONDS,
    group: OneOf = None,
    reads: Reads = None,
    assume_equal: AssumeEqual = False,
    reset: Reset = None,
    rate: Rate = None,
    format_: Format = "table",
) -> None:
    """Show what each move buys: the trade-offs of two tiers.

    Of stickiness and peak_lag: how low the peak gets within so many moves.
    """
    from assay.printing.frontier import document, print_frontier
    from optimal import frontier as trade_offs

    one = one_group(files, group, reads or [], assume_equal=assume_equal, reset=reset, rate=rate)
    tiers = tier_named(first), tier_named(second)
    found = trade_offs(one, *tiers, time_limit=time_limit, points=points)
    note_assumed(one.assumed)
    if format_ == "json":
        show_json(document(one, tiers, found))
    else:
        print_frontier(one, tiers, found)
