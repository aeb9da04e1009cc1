"""Diff: who lost and gained what between two captures, plans or solutions of one group."""

from typing import Annotated, Literal

import typer

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
    after: Annotated[str, typer.Argument(metavar="B", help="a later one of the same group")],
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
    """Show who lost and gained what from A to B.

    Each is a snapshot, a solution, {member: {topic: [partition]}} or what other tools print.
    """
    from assay.printing.diff import print_diff
    from compare.diff import Diff

    if before == after == "-":
        raise BadInput("standard input: it can be A or B, not both")
    files = [read_assignments(path) for path in (before, after)]
    only = [one.assignments[0].group for one in files if len(one.assignments) == 1]
    name = group or next(filter(None, only), None)
    first, second = (_by(one.of(name), by) for one in files)
    damaged = [failure for one in files for failure in one.damaged]
    for failure in damaged:
        note(f"{failure.place}: {failure.reason}")
    found = Diff(first, second)
    for side, other in ((first, second), (second, first)):
        own = [line for line in side.assumed if line not in other.assumed]
        note_assumed([f"{side.source}: {line}" for line in own])
    note_assumed([line for line in first.assumed if line in second.assumed])
    if format_ == "json":
        show_json(found.to_dict())
    else:
        print_diff(found)
    raise typer.Exit(2 if damaged else 0)


def _by(side: NamedAssignment, by: str) -> NamedAssignment:
    return side.by_client() if by == "client-id" else side
