"""Report: one offline page about groups, from files, a cluster or the tables of a run."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.commands import cluster
from assay.commands.options import (
    DEFAULT_SECONDS,
    Asked,
    Assignors,
    GroupOptions,
    Objective,
    TimeLimitOption,
    as_told,
    asked_for,
    given_in,
    names_of,
    no_group_in,
    refuse_given,
    require_named,
)
from assay.progress import report_progress
from assay.streams import complain, note_failures, show
from compare.scores import CURRENT, OPTIMUM, assignors_asked
from groups.documents.texts import named
from groups.errors import BadInput, Failure
from groups.extras import require_plots
from groups.files import is_folder, read_groups
from groups.tiers import parse_objective
from heuristics.catalogue import usual_assignors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.group import Group

PAGE = "report.html"


def report(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DIR|FILE...",
            help="a folder that assay run filled; or what assay score reads",
        ),
    ] = None,
    *,
    bootstrap_server: cluster.BootstrapServerInstead = None,
    group: cluster.Patterns = None,
    connection: cluster.ConnectionOptions,
    out: Annotated[
        str | None, typer.Option("-o", "--out", help="the page [default: report.html]")
    ] = None,
    benchmark: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="groups that are not yours, for a section of its own",
        ),
    ] = None,
    assignor: Assignors = None,
    objective: Objective = "kip-54",
    time_limit: TimeLimitOption = DEFAULT_SECONDS,
    options: GroupOptions,
) -> None:
    """Write one offline page: your groups, each in full, and assignors over them.

    Of snapshots, of what other tools print and of a running cluster it is made at once; of a
    folder that assay run filled, of its tables.
    """
    require_plots()
    from compare.page.html import require_writable, write_page

    live, files = cluster.reached_instead(sources, bootstrap_server, connection)
    run = None if live else _folder_of_a_run(files)
    path = Path(out) if out else Path(run if run and os.path.isdir(run) else "") / PAGE
    require_writable(path)
    told = {
        "--group": group,
        "--assignor": assignor,
        **given_in(options),
        "--objective": objective != "kip-54",
    }
    if run:
        refuse_given(told, f"{run} holds the tables of a run, which has it already")
    unread: Sequence[Failure] = ()
    if run:
        from compare.page.from_run import page_of_run

        page = page_of_run(run, benchmark or [], _command())
    else:
        if live is None:
            groups, unread = _read(files, group or [], options)
        else:
            groups, unread = cluster.captured_of(live, group, options)
        from compare.page.composition import made_now
        from compare.page.from_groups import page_of_groups

        tiers = parse_objective(objective)
        page = page_of_groups(
            groups,
            tiers,
            sources=[f"the cluster at {live.bootstrap}"] if live else [*map(named, files)],
            unread=unread,
            assignors=_assignors_to_try(assignor, groups),
            benchmark=_benchmark(benchmark, options),
            assume_equal=options.assume_equal,
            made=made_now(_command(), tiers, time_limit),
            say=report_progress,
            commands=Asked(sources=files, group=None, options=options, time_limit=time_limit),
        )
    write_page(page, path)
    for said in (page.lead, *page.history, page.not_solved, f"report: {path}"):
        if said:
            show(said)
    if not page.details and page.unread:
        complain("no group could be read; the page says why")
        raise typer.Exit(2)
    note_failures(unread)
    # Failures of files in a folder are on the page; only those of named sources fail the command.
    named_ones = [one for one in unread if live or one.source in files]
    raise typer.Exit(2 if cluster.lost_of(named_ones, group)[0] else 0)


def _folder_of_a_run(sources: Sequence[str]) -> str | None:
    from compare.fleet.tables import is_local

    first, *more = sources
    if more:
        return None
    # An address can only be that of a run's tables. os.path.isdir, unlike Path.is_dir, does not
    # raise for an impossible name: reading it then gives the message.
    return first if not is_local(first) or os.path.isdir(os.path.join(first, "runs")) else None


def _assignors_to_try(assignor: Sequence[str] | None, groups: Sequence[Group]) -> list[str]:
    """Return the named assignors, else the usual ones of the groups."""
    names = assignors_asked(assignor) if assignor else usual_assignors(groups)
    return [name for name in names if name not in (CURRENT, OPTIMUM)]


def _benchmark(sources: Sequence[str] | None, options: GroupOptions) -> list[Group]:
    """Return the groups of a benchmark; print what could not be read."""
    of_others = GroupOptions(reset=options.reset)
    apart, damaged = _read(sources, [], of_others) if sources else ([], [])
    note_failures(damaged)
    return apart


def _read(
    sources: Sequence[str], only: Sequence[str], options: GroupOptions
) -> tuple[list[Group], list[Failure]]:
    """Return the groups asked for, and what could not be read; refuse files without any group."""
    try:
        groups = read_groups(sources)
    except BadInput as error:
        if len(sources) == 1 and is_folder(sources[0]) and "no snapshot in" in str(error):
            fill = f"no run in it; fill it with: assay run INPUT --out {sources[0]}"
            raise BadInput(f"{sources[0]}: {fill}; and no snapshot") from None
        raise
    if not groups and not groups.failures:
        raise BadInput(no_group_in(sources))
    every = names_of(groups)
    require_named(only, every, every)
    chosen = asked_for(groups, only)
    return as_told(chosen, options), [*chosen.failures]


def _command() -> str:
    """Return the command line without the values of --config, which may be passwords."""
    words: list[str] = []
    for word in sys.argv[1:]:
        hide = words[-1:] == ["--config"] or word.startswith("--config=")
        key, sign, _ = word.removeprefix("--config=").partition("=")
        start = "--config=" if word.startswith("--config=") else ""
        words.append(f"{start}{key}{sign and '=...'}" if hide else word)
    return shlex.join(["assay", *words])
