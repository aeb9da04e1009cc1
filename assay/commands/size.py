"""Size: how many members a group needs."""

from __future__ import annotations

import re
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
from assay.streams import note_assumed, show, show_json
from groups.errors import BadInput

MOST_NUMBERS = 1000


def size(
    files: Views,
    *,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            metavar="TIER=N",
            help="what will do: peak_lag=400k (records on one member), peak_time=5m (to catch "
            "up), peak_load=8 (partitions on one), load_spread=1, balance=0",
        ),
    ] = None,
    members: Annotated[
        str | None,
        typer.Option("--members", metavar="N-M", help="the numbers to look at, as in 1-40"),
    ] = None,
    like: Annotated[
        str | None,
        typer.Option("--like", metavar="MEMBER", help="new members read what this one reads"),
    ] = None,
    objective: Annotated[
        str | None,
        typer.Option(
            "--objective",
            help="what is best; left out: 'balance > peak_lag', without lags 'balance'",
        ),
    ] = None,
    time_limit: Annotated[
        float,
        typer.Option(min=0.001, max=MOST_SECONDS, help="seconds for all numbers together"),
    ] = DEFAULT_SECONDS,
    figure: Annotated[
        str | None, typer.Option("--figure", help="also draw it, as a .svg or a .png")
    ] = None,
    group: OneOf = None,
    reads: Reads = None,
    assume_equal: AssumeEqual = False,
    reset: Reset = None,
    rate: Rate = None,
    format_: Format = "table",
) -> None:
    """Find how many members a group needs.

    The best assignment for each number of them: loads, peak lag, time to catch up.
    """
    from assay.printing.size import print_sizing
    from compare.sizes.sweep import size as sized
    from compare.sizes.target import parse_target
    from groups.extras import require

    wanted = None if target is None else parse_target(target)
    numbers = None if members is None else _numbers(members)
    if figure is not None:
        require("altair", "vl_convert", extra="plots")
        from compare import figures

        figures.require_suffix(figure)
    one = one_group(files, group, reads or [], assume_equal=assume_equal, reset=reset, rate=rate)
    found = sized(
        one, members=numbers, target=wanted, like=like, objective=objective, time_limit=time_limit
    )
    note_assumed(one.assumed)
    if format_ == "json":
        show_json(found.to_dict())
    else:
        print_sizing(found)
    if figure is not None:
        from compare.sizes.drawn import drawn

        figures.save(drawn(found), figure)
        if format_ != "json":
            show(f"{found.group}: drawn in {figure}")


def _numbers(text: str) -> range:
    """Return the numbers of members of ``1-40`` or ``8``."""
    found = re.fullmatch(r"([0-9]{1,7})(?:-([0-9]{1,7}))?", text)
    if found is None:
        limit = ", each below 10 million" if re.fullmatch("[0-9]+(-[0-9]+)?", text) else ""
        raise BadInput(f"--members {text}: expected N or N-M, as in 1-40{limit}")
    least, most = int(found[1]), int(found[2] or found[1])
    if not 1 <= least <= most:
        raise BadInput(f"--members {text}: expected N-M with 1 <= N <= M")
    if most - least >= MOST_NUMBERS:
        raise BadInput(f"--members {text}: {most - least + 1:,} numbers, at most {MOST_NUMBERS:,}")
    return range(least, most + 1)
