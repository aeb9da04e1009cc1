"""Snapshots: is one good, one without names, and seeded ones."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

import typer

from assay.commands.options import Out
from assay.streams import as_json, complain, note, show, write
from groups.absent_topics import readers_of_nothing
from groups.documents.json_files import read_documents
from groups.documents.texts import named, read_bytes
from groups.errors import BadInput
from groups.files import Found, find, is_parquet
from groups.group import Group
from groups.wording import counted

# Members of a generated group, and its topics.
MOST = 1_000_000


def validate(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="assay-group/1, .json or .jsonl; or Parquet"),
    ],
) -> None:
    """Check that files are good snapshots."""
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
    """Yield what stands at each place of a file: a group, or why there is none."""
    name, data = named(file), read_bytes(file)
    if is_parquet(name, data):
        for found in find([file], standard_input=data):
            read = found.group() if isinstance(found, Found) else found
            if isinstance(read, Group):
                yield found.place, read
            else:
                yield found.place, BadInput(read.reason).within(found.place)
        return
    for place, document in read_documents(data, name):
        try:
            if isinstance(document, BadInput):
                yield place, document
            else:
                yield place, Group.from_dict(document)
        except BadInput as error:
            yield place, error.within(place)


def _show_good(place: str, group: Group) -> None:
    members = counted(len(group.members), "member")
    partitions = counted(group.n_partitions, "partition")
    show(f"{place}: good: group {group.name}, {members}, {partitions}")
    absent = readers_of_nothing([group])
    if absent:
        note(f"{place}: {absent}")


def anonymise(
    file: Annotated[str, typer.Argument(help="a snapshot, .json or .jsonl")],
    *,
    out: Out = None,
) -> None:
    """Replace the names in a snapshot; the optimum stays the same."""
    from groups.documents.pseudonyms import anonymise_all

    name = named(file)
    documents = []
    for place, document in read_documents(read_bytes(file), name):
        if isinstance(document, BadInput):
            raise document
        try:
            Group.from_dict(document)
        except BadInput as error:
            raise error.within(place) from None
        documents.append(document)
    write((as_json(d) for d in anonymise_all(documents)), out)


def generate(
    family: Annotated[
        Literal["grid", "differing", "equal", "buckets", "nested", "random"],
        typer.Argument(
            help="the maintainers' grid, differing subscriptions, or one kind of group"
        ),
    ],
    *,
    seed: Annotated[int, typer.Option(min=0, help="the first seed")] = 1,
    count: Annotated[int, typer.Option(min=1, help="groups per point, one seed each")] = 1,
    members: Annotated[
        list[int] | None,
        typer.Option(min=1, max=MOST, help="members of the group; may be given again"),
    ] = None,
    per_member: Annotated[
        int | None,
        typer.Option(min=1, max=100 * MOST, help="partitions per member", show_default="10"),
    ] = None,
    topics: Annotated[
        int | None, typer.Option(min=1, max=MOST, help="number of topics", show_default="10")
    ] = None,
    event: Annotated[
        Literal[
            "fresh",
            "join-one",
            "join-many",
            "leave-one",
            "leave-many",
            "partitions-added",
            "stable",
        ]
        | None,
        typer.Option(
            metavar="EVENT",
            show_default="fresh",
            help="what happened since the last assignment, which was optimal: fresh (nothing was "
            "assigned yet), join-one, join-many, leave-one, leave-many, partitions-added, stable",
        ),
    ] = None,
    skewed: Annotated[bool | None, typer.Option("--skewed", help="topics of unequal size")] = None,
    most_partitions: Annotated[
        int | None, typer.Option(min=1, help="largest group of the grid", show_default="10000")
    ] = None,
    out: Out = None,
) -> None:
    """Print seeded groups as JSON lines."""
    from compare.samples.families import Family, differing, grid

    shape = {"per_member": per_member, "topics": topics, "event": event, "skewed": skewed}
    many = {"most_partitions": most_partitions}
    _refuse_ignored(
        family,
        {"grid": shape, "differing": shape | many}.get(family, many),
    )
    sizes = tuple(members or [10])
    if family == "grid":
        points = list(grid(sizes, most_partitions or 10_000))
    elif family == "differing":
        points = list(differing(sizes))
    else:
        points = [
            Family(size, per_member or 10, topics or 10, family, event or "fresh", skewed or False)
            for size in sizes
        ]
    groups = (p.group(number) for p in points for number in range(seed, seed + count))
    write((as_json(group.to_dict()) for group in groups), out)


def _refuse_ignored(family: str, ignored: Mapping[str, object]) -> None:
    """Raise BadInput where an option was given that means nothing to a family."""
    for name, given in ignored.items():
        if given is not None:
            option = f"--{name.replace('_', '-')}"
            raise BadInput(f"{option}: family {family} does not take it")
