"""Diff: who lost and gained what between two captures, plans or solutions of one group."""

from typing import Annotated, Literal

import typer

from assay.commands.options import Format
from assay.streams import note_assumed, show_json
from groups.assignment_files import one_of, read_assignments
from groups.errors import BadInput
from groups.named_assignment import NamedAssignment


def diff(
    before: Annotated[
        str, typer.Argument(metavar="A", help="a capture, a solution or a plan, - for standard in")
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
    """Say who lost and gained what from A to B.

    Each is a snapshot, a solution, {member: {topic: [partition]}} or what other tools print.
    """
    from assay.printing.diff import print_diff
    from compare.diff import Diff

    if before == after == "-":
        raise BadInput("standard input: it can be A or B, not both")
    sides = [(path, read_assignments(path)) for path in (before, after)]
    only = [found[0].group for _, found in sides if len(found) == 1 and found[0].group]
    name = group or (only[0] if only else None)
    first, second = (
        _by(one_of(found, "standard input" if path == "-" else path, name), by)
        for path, found in sides
    )
    found = Diff(first, second)
    for side, other in ((first, second), (second, first)):
        own = [line for line in side.assumed if line not in other.assumed]
        note_assumed([f"{side.source}: {line}" for line in own])
    note_assumed([line for line in first.assumed if line in second.assumed])
    if format_ == "json":
        show_json(found.to_dict())
    else:
        print_diff(found)


def _by(side: NamedAssignment, by: str) -> NamedAssignment:
    return side.by_client() if by == "client-id" else side
