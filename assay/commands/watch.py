"""Watch: groups of a running cluster, captured at an interval."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.commands.cluster import (
    BootstrapServer,
    CommandConfig,
    Config,
    Patterns,
    Timeout,
    connection_to,
)
from assay.commands.options import DEFAULT_SECONDS, Objective, TimeLimitOption
from assay.signals import ending_on_signals
from assay.streams import note, show
from groups.errors import BadInput
from groups.wording import counted, rounded
from live.waiting import DEFAULT_SECONDS as DEFAULT_TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.judged import Judged
    from groups.group import Group
    from groups.tiers import Objective as Tiers
    from live.watch import Series

_DAY = 86_400


@ending_on_signals("interrupted: what was captured is kept")
def watch(
    bootstrap_server: BootstrapServer,
    *,
    out: Annotated[str, typer.Option("-o", "--out", help="folder of the series")],
    group: Patterns = None,
    every: Annotated[
        str, typer.Option("--every", metavar="TIME", help="as in 30s, 5m or 1h; 1s at least")
    ] = "30s",
    times: Annotated[
        int | None, typer.Option("--times", min=1, help="end after so many captures")
    ] = None,
    for_: Annotated[
        str | None, typer.Option("--for", metavar="TIME", help="end after this time, as in 8h")
    ] = None,
    keep: Annotated[
        int | None,
        typer.Option("--keep", min=1, help="keep so many captures, the newest; else all"),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="no line for a capture in which nothing changed")
    ] = False,
    command_config: CommandConfig = None,
    config: Config = None,
    timeout: Timeout = DEFAULT_TIMEOUT,
    objective: Objective = "kip-54",
    time_limit: TimeLimitOption = DEFAULT_SECONDS,
) -> None:
    """Capture groups of a running cluster again and again, and say what changed.

    Each capture is a file in the folder; assay run and assay report read it as a series. A
    cluster that is away for a while is asked again; how it ends is --times, --for or Ctrl-C.
    """
    from assay.printing.watch import news_line, no_change
    from groups.tiers import parse_objective
    from live.watch import Series, looks

    interval = _seconds("--every", every)
    seconds = None if for_ is None else _seconds("--for", for_)
    tiers = parse_objective(objective)
    connection = connection_to(bootstrap_server, command_config, config, timeout)
    series = Series(Path(out), keep)
    series.prepare()
    known: dict[str, Judged] = {}
    missed: set[str] = set()
    away, written = False, 0
    for look in looks(connection, group or ["*"], every=interval, times=times, seconds=seconds):
        if look.away is not None:
            if not away:
                note(f"{look.at} {look.away}; asked again every {every}")
            away = True
            continue
        if away:
            note(f"{look.at} {connection.bootstrap} answers again")
            away = False
        failing = {one.group or one.reason: one for one in look.found.failures}
        for name in sorted(failing.keys() - missed):
            note(f"{look.at} {failing[name].place}: {failing[name].reason}")
        # Kept before anything else: judging may take long, and be interrupted.
        if look.found.documents:
            size = series.add(look.at, look.found.documents)
            written += 1
            if written == 1:
                note(_disk_use(size, interval, series))
        groups = [one.group() for one in look.found.documents]
        judged, unjudged = _judged(groups, tiers, time_limit)
        for name in sorted(unjudged.keys() - missed):
            note(f"{look.at} {unjudged[name]}")
        news = news_line(known, judged, failing, unjudged, missed)
        if not quiet or news != no_change(judged):
            show(f"{look.at} {news}")
        missed = {*failing, *unjudged}
        known = {name: one for name, one in known.items() if name in missed}
        known |= {one.group.name: one for one in judged}
    if not written:
        raise BadInput(f"{connection.bootstrap}: no group could be captured")
    note(f"{counted(written, 'capture')} in {out}; next: assay run {out} --out tables")


def _judged(
    groups: "Sequence[Group]", tiers: "Tiers", time_limit: float | None
) -> "tuple[list[Judged], dict[str, BadInput]]":
    """Judge groups; return by name why others lack what a tier needs, as a lag."""
    from compare.judged import judge

    try:
        return judge(groups, tiers, time_limit=time_limit), {}
    except BadInput:
        pass
    judged: list[Judged] = []
    unjudged: dict[str, BadInput] = {}
    for group in groups:
        try:
            judged += judge([group], tiers, time_limit=time_limit)
        except BadInput as error:
            unjudged[group.name] = error
    return judged, unjudged


def _seconds(option: str, text: str) -> int:
    from compare.sizes.target import SECONDS_IN

    found = re.fullmatch(r"([0-9]{1,9}) ?([a-z]*)", text)
    seconds = int(found[1]) * SECONDS_IN.get(found[2], 0) if found else 0
    if not 0 < seconds < 1 << 31:
        raise BadInput(f"{option} {text}: expected a time as in 30s, 5m or 1h")
    return seconds


def _disk_use(size: int, interval: int, series: "Series") -> str:
    """Return what one capture takes, and what that comes to."""
    each = f"a capture takes {_bytes(size)} in {series.folder}"
    if series.keep is not None:
        return f"{each}: at most {_bytes(size * series.keep)} with --keep {series.keep:,}"
    return f"{each}: about {_bytes(size * _DAY // interval)} a day; --keep N bounds that"


def _bytes(number: int) -> str:
    return f"{rounded(number)}B" if number >= 1000 else counted(number, "byte")
