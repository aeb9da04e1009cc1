"""Diff: who lost and gained what between two captures, plans or solutions of groups."""

from dataclasses import replace
from typing import Annotated, Literal

import typer

from assay.commands.importing import note_each_assumed
from assay.commands.options import Format
from assay.streams import note, note_assumed, show_json
from groups.assignment_files import read_assignments
from groups.errors import BadInput
from groups.named_assignment import NamedAssignment


def diff(
    before: Annotated[
        str,
        typer.Argument(metavar="A", help="a capture, a solution or a plan; - is standard input"),
    ],
    after: Annotated[str, typer.Argument(metavar="B", help="a later one of the same groups")],
    *,
    group: Annotated[
        str | None, typer.Option("--group", help="which one, of several in a file")
    ] = None,
    by: Annotated[
        Literal["member", "client-id"],
        typer.Option("--by", help="whom to compare; client-id survives a restart of the member"),
    ] = "member",
    format_: Format = "table",
) -> None:
    """Show who lost and gained what from A to B; of several groups, whose change is worst.

    Each is a snapshot, a solution, {member: {topic: [partition]}} or what other tools print.
    """
    from assay.printing.diff import print_diff, print_diffs
    from compare.diff import Diff, diffs_of, names_in

    if before == after == "-":
        raise BadInput("standard input: it can be A or B, not both")
    files = [read_assignments(path) for path in (before, after)]
    damaged = [failure for one in files for failure in one.damaged]
    only = [one.assignments[0].group for one in files if len(one.assignments) == 1]
    name = group or next(filter(None, only), None)
    several = name is None and all(names_in(one) for one in files)
    if by == "client-id":
        files = [
            replace(one, assignments=tuple(side.by_client() for side in one.assignments))
            for one in files
        ]
    found = diffs_of(*files) if several else [Diff(*(one.of(name) for one in files))]
    for failure in damaged:
        note(f"{failure.place}: {failure.reason}")
    if several:
        assumed: dict[str, list[str]] = {}
        for side in (side for diff in found for side in (diff.before, diff.after)):
            for line in side.assumed:
                assumed.setdefault(line, []).append(str(side.group))
        note_each_assumed({line: list(dict.fromkeys(of)) for line, of in assumed.items()})
    else:
        _note_assumed(found[0].before, found[0].after)
    if format_ == "json":
        for diff in found:
            show_json(diff.to_dict())
    elif several:
        print_diffs(found, *(names_in(one) for one in files))
    else:
        print_diff(found[0])
    raise typer.Exit(2 if damaged else 0)


def _note_assumed(before: NamedAssignment, after: NamedAssignment) -> None:
    for side, other in ((before, after), (after, before)):
        own = [line for line in side.assumed if line not in other.assumed]
        note_assumed([f"{side.source}: {line}" for line in own])
    note_assumed([line for line in before.assumed if line in after.assumed])
