"""Importing: other tools' output becomes snapshots; snapshots become Parquet and back."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Annotated

import typer

from assay.commands.cluster import Strict
from assay.commands.options import Reset, SnapshotsOut, no_group_in
from assay.streams import as_json, note_assumed, note_failures, write
from groups.documents.json_files import is_json_lines
from groups.documents.texts import named, read_bytes
from groups.errors import BadInput, Failure, require_one_of
from groups.extras import require
from groups.files import PARQUET, each_group, find, holds_snapshots, is_folder, is_parquet
from groups.group import Group
from groups.importers import DIALECTS, import_each
from groups.times import file_time, time_in_utc
from groups.wording import first_lines

MOST_LINES = 20


def import_(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="other tools' output, - for standard input"),
    ],
    *,
    out: SnapshotsOut = None,
    from_: Annotated[str, typer.Option("--from", help="the tool; auto recognises it")] = "auto",
    captured_at: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="as in 2026-11-20T10:00:00Z; left out: the time of the latest file",
        ),
    ] = None,
    reset: Reset = None,
    stateful: Annotated[
        str | None,
        typer.Option(
            metavar="SUBTOPOLOGIES",
            help="of a Streams group: those that keep state, as in 1,2; '' for none",
        ),
    ] = None,
    standbys: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, max=1000, help="of a Streams group: of each such task"),
    ] = None,
    strict: Strict = False,
) -> None:
    """Turn other tools' output into snapshots.

    It takes console output and JSON. Several views of a group become one snapshot. A group that is
    rebalancing, gone or without consumers costs a line on standard error; the others are written.
    Snapshots and folders of them become Parquet, and Parquet becomes snapshots.
    """
    require_one_of("--from", from_, DIALECTS)
    try:
        told = None if captured_at is None else time_in_utc(captured_at)
    except BadInput as error:
        raise BadInput(f"--captured-at {error}") from None
    is_table = out is not None and out.endswith(PARQUET)
    texts, others, standard_input = _sort_files(files, snapshots=is_table)
    times = {named(file): time for file in files if (time := file_time(file)) is not None}
    imported, failures = import_each(texts, dialect=from_, captured_at=told, times=times)
    assumed: list[tuple[str, Sequence[str]]] = []

    def groups() -> Iterator[Group]:
        made = (one.group() for one in imported)
        for group in chain(_groups_in(others, standard_input, failures), made):
            known = group.with_reset(reset)
            if group.streams is not None:
                keep = None if stateful is None else [*filter(None, stateful.split(","))]
                known = Group.of_document(group.streams.with_state(keep, standbys))
            elif stateful is not None or standbys is not None:
                asked = "--stateful" if standbys is None else "--standbys"
                raise BadInput(f"{asked}: {group.name} is no Kafka Streams group")
            assumed.append((known.name, known.assumed))
            yield known

    if not write_snapshots(groups(), out):
        first = str(failures[0]) if failures else no_group_in(files)
        raise BadInput(first)
    note_failures(failures)
    note_each_assumed(assumed)
    damaged = any(strict or not failure.not_to_be_had for failure in failures)
    raise typer.Exit(2 if damaged else 0)


def _sort_files(
    files: Sequence[str], *, snapshots: bool
) -> tuple[list[tuple[str, bytes]], list[str], bytes | None]:
    """Return (name, bytes) of other tools' texts, files that hold groups, and standard input.

    Parameters
    ----------
    snapshots : whether snapshots count as files that hold groups; otherwise only Parquet does
    """
    texts, others, standard_input = [], [], None
    for file in files:
        if is_folder(file) and snapshots:
            others.append(file)
            continue
        data, name = read_bytes(file), named(file)
        standard_input = data if file == "-" else standard_input
        if is_parquet(name, data) or (snapshots and holds_snapshots(name, data)):
            others.append(file)
        else:
            texts.append((name, data))
    return texts, others, standard_input


def _groups_in(
    files: Sequence[str], standard_input: bytes | None, failures: list[Failure]
) -> Iterator[Group]:
    """Yield the groups in files; append to `failures` what could not be read."""
    for _, read in each_group(find(files, standard_input=standard_input)) if files else ():
        if isinstance(read, Group):
            yield read
        else:
            failures.append(read)


def write_snapshots(groups: Iterable[Group], out: str | None) -> int:
    """Write groups as snapshots; return how many there are.

    A file ``.parquet`` gets Parquet. Otherwise one group is a JSON document, several JSON lines.
    """
    if out is not None and out.endswith(PARQUET):
        require("pyarrow", extra="spark")
        from groups.table.parquet import write_groups

        # Streamed: the groups may not fit into memory.
        return write_groups(groups, out)
    snapshots = [group.snapshot() for group in groups]
    lines = len(snapshots) > 1 or (out is not None and is_json_lines(out))
    if snapshots:
        write((as_json(one, indent=None if lines else 1) for one in snapshots), out)
    return len(snapshots)


def note_each_assumed(assumed: Iterable[tuple[str, Sequence[str]]]) -> None:
    """Print what was assumed of which group; a line that holds for several is printed once.

    Parameters
    ----------
    assumed : (group, lines) pairs
    """
    names_of: dict[str, dict[str, None]] = {}
    for name, each in assumed:
        for line in each:
            names_of.setdefault(line, {})[name] = None
    lines = [
        f"{next(iter(names)) if len(names) == 1 else f'{len(names)} groups'}: {line}"
        for line, names in names_of.items()
    ]
    note_assumed(first_lines(lines, MOST_LINES, ", each in `assumed` of its snapshot"))
