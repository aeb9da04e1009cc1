"""Validate: whether files are good snapshots."""

from collections.abc import Iterator
from typing import Annotated

import typer

from assay.streams import complain, note, show
from groups.assignment import Assignment
from groups.collection import readers_of_nothing
from groups.documents.texts import named, read_bytes
from groups.errors import BadInput, Failure
from groups.files import each_group, find, holds_snapshots, is_parquet, snapshots_in
from groups.group import Group
from groups.importers import recognised
from groups.wording import counted


def validate(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="snapshots, .json or .jsonl; or Parquet"),
    ],
) -> None:
    """Check the form of snapshots; how good an assignment is, assay score says."""
    bad = 0
    for file in files:
        try:
            for place, group in _groups(file):
                if isinstance(group, BadInput):
                    complain(str(group))
                    bad = 2
                else:
                    _show_good(place, group)
        except BadInput as error:
            complain(str(error))
            bad = 2
    raise typer.Exit(bad)


def _groups(file: str) -> Iterator[tuple[str, Group | BadInput]]:
    """Yield (place, group or error) for each part of a file."""
    name, data = named(file), read_bytes(file)
    if is_parquet(name, data):
        found = find([file], standard_input=data)
    elif _is_of_a_tool(name, data):
        said = f"what a tool prints, not a snapshot: first assay import {file} -o group.json"
        raise BadInput(said).within(name)
    else:
        found = snapshots_in(name, data)
    for place, read in each_group(found):
        yield place, BadInput(str(read)) if isinstance(read, Failure) else read


def _is_of_a_tool(name: str, data: bytes) -> bool:
    if holds_snapshots(name, data):
        return False
    try:
        recognised(name, data)
    except BadInput:
        return False
    return True


def _show_good(place: str, group: Group) -> None:
    members = counted(len(group.members), "member")
    partitions = counted(group.n_partitions, "partition")
    show(f"{place}: well-formed: group {group.name}, {members}, {partitions}")
    violations = Assignment.current(group).violations
    # A snapshot may have unassigned partitions.
    if wrong := [one for one in violations if one.kind != "unassigned"]:
        note(f"{place}: what its members hold is not valid: {wrong[0]}")
    absent = readers_of_nothing([group])
    if absent:
        note(f"{place}: {absent}")
