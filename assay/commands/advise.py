"""Advise: what to change about a group, each change with its proved gain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assay.commands.cluster import (
    BootstrapServerInstead,
    CommandConfig,
    Config,
    FilesInstead,
    GroupsAsked,
    Timeout,
    finding,
)
from assay.commands.options import (
    DEFAULT_SECONDS,
    MOST_SECONDS,
    Assignors,
    AssumeEqual,
    Format,
    Reads,
    Reset,
    note_passed_over,
)
from assay.progress import far
from assay.streams import note, note_assumed, show_json
from groups.errors import BadInput
from groups.wording import counted
from live.waiting import DEFAULT_SECONDS as DEFAULT_TIMEOUT

if TYPE_CHECKING:
    from compare.advice.advice import Advice

# Seconds for several groups together, and what each of them gets at the most and at the least.
ALL_SECONDS, MOST_EACH, LEAST_EACH = 60.0, 1.0, 0.05


def advise(
    files: FilesInstead = None,
    *,
    bootstrap_server: BootstrapServerInstead = None,
    group: GroupsAsked = None,
    command_config: CommandConfig = None,
    config: Config = None,
    timeout: Timeout = DEFAULT_TIMEOUT,
    lower: Annotated[
        Literal["peak_load", "peak_lag"] | None,
        typer.Option(
            "--lower",
            help="what decides: partitions of the busiest member, or its records of lag; left "
            "out: lag, where it is known",
        ),
    ] = None,
    assignor: Assignors = None,
    like: Annotated[
        str | None,
        typer.Option("--like", metavar="MEMBER", help="new members read what this one reads"),
    ] = None,
    reads: Reads = None,
    assume_equal: AssumeEqual = False,
    reset: Reset = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            min=0.001,
            max=MOST_SECONDS,
            help="seconds for a group, and for each call of an assignor; left out: 10 and 5, of "
            "several groups less",
        ),
    ] = None,
    format_: Format = "table",
) -> None:
    """Advise what to change about a group, greatest proved gain first.

    Other partitions, an assignor, more members, more partitions, one more topic for one member.
    Of several groups: a line each, without assignors unless named.
    """
    from assay.printing.advice import print_advice, print_all
    from compare.advice.advise import advise as advised
    from compare.advice.advise import call_seconds
    from compare.scores import CURRENT, OPTIMUM
    from heuristics import matching
    from heuristics.time_limit import TimeLimit

    asked = list(matching(assignor, besides=(CURRENT, OPTIMUM))) if assignor else None
    asked = None if asked is None else [name for name in asked if name not in (CURRENT, OPTIMUM)]
    find, _ = finding(files, bootstrap_server, command_config, config, timeout)
    groups, damaged, _ = find(group or [], reads or [], reset=reset)
    one = len(groups) == 1
    each = max(LEAST_EACH, min(MOST_EACH, ALL_SECONDS / max(1, len(groups))))
    found: list[Advice] = []
    lacking: list[BadInput] = []
    with TimeLimit(call_seconds(time_limit)) as limit:
        for looked_at, given in enumerate(groups):
            far(f"{looked_at:,} of {counted(len(groups), 'group')} looked at")
            try:
                advice = advised(
                    given,
                    lower=lower,
                    assignors=asked if one or asked is not None else (),
                    like=like,
                    assume_equal=assume_equal,
                    time_limit=time_limit or (DEFAULT_SECONDS if one else each),
                    limit=limit,
                )
            except BadInput as error:
                lacking.append(error.within(given.name))
            else:
                found.append(advice)
    if lacking and not found:
        raise lacking[0]
    for refused in lacking:
        note(str(refused))
    if one:
        note_assumed(found[0].assumed)
    else:
        note_passed_over(groups)
    if format_ == "json":
        for advice in found:
            show_json(advice.to_dict())
    elif one:
        print_advice(found[0])
    else:
        print_all(found)
    raise typer.Exit(2 if damaged or lacking else 0)
