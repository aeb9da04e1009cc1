"""Arguments and options that several commands share."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from groups.errors import BadInput
from groups.tiers import TIERS

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFAULT_SECONDS = 10.0
# Thirty years: a clock of this machine can still add them.
MOST_SECONDS = 1e9

File = Annotated[str, typer.Argument(help="an assay-group/1 snapshot, - for standard input")]
Objective = Annotated[
    str, typer.Option("--objective", help="a preset, or tiers as in 'balance > stickiness'")
]
AssumeEqual = Annotated[
    bool, typer.Option("--assume-equal", help="take unknown subscriptions as all topics")
]
TimeLimitOption = Annotated[
    float | None,
    typer.Option(
        "--time-limit", min=0.001, max=MOST_SECONDS, help="seconds for each solve or assignor"
    ),
]
Format = Annotated[
    Literal["table", "json"], typer.Option("--format", help="how to print the answer")
]
Assignors = Annotated[
    list[str] | None,
    typer.Option(
        "--assignor", help="one to score, or a pattern as in 'kafka-java/*'; may be given again"
    ),
]
FailAbove = Annotated[
    list[str] | None,
    typer.Option("--fail-above", metavar="TIER=N", help="exit 1 where the excess exceeds N"),
]
Out = Annotated[str | None, typer.Option("-o", "--out", help="where to write")]


def limits_of(given: Sequence[str]) -> dict[str, int]:
    """Return what ``--fail-above`` allows: the greatest excess of each tier.

    Raises
    ------
    BadInput
        Where a text is not TIER=N.
    """
    limits = {}
    for text in given:
        tier, _, number = text.partition("=")
        if tier not in TIERS or not re.fullmatch("[0-9]{1,1000}", number):
            raise BadInput(f"--fail-above {text}: expected TIER=N, with N of 0 or more")
        limits[tier] = int(number)
    return limits
