"""Files: reads groups from JSON, JSON lines, Parquet, and texts of other tools."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from groups.collection import Groups, file_order
from groups.documents.assay_group import as_json
from groups.documents.assay_streams import StreamsDocument, of_text
from groups.documents.json_files import LINES, is_json_lines, split_documents
from groups.documents.snapshot import columns_of_each, names_in
from groups.documents.snapshots import Snapshots
from groups.documents.texts import beginning, decode, is_read_once, named, read_bytes, without_gz
from groups.errors import BadInput, Failure
from groups.extras import require
from groups.group import Group

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from groups.documents.assay_group import Document


ENDINGS = (".json", *LINES, ".txt", ".out", ".log")
PARQUET = ".parquet"
_MAGIC = b"PAR1"
# Snapshots are converted to columns in batches of at most so many.
MOST_AT_ONCE, MOST_PARTITIONS_AT_ONCE = 1000, 1_000_000
_OTHER_FORMAT = re.compile(r'\{\s*"format"\s*:\s*"assay-(?!(group|streams)/)')


@dataclass(frozen=True)
class Found:
    """A snapshot in a file, or one that an importer made; not yet checked.

    `source` names the files, `place` also the line. `content` is the JSON text in the file, the
    document that an importer made, or the group of a row of Parquet.
    """

    source: str
    place: str
    content: str | Document | StreamsDocument | Group

    @property
    def text(self) -> str:
        """The snapshot as JSON."""
        if isinstance(self.content, str):
            return self.content
        content = self.content
        document = content.snapshot() if isinstance(content, Group) else as_json(content)
        return json.dumps(document, ensure_ascii=False)


def each_group(found: Iterable[Found | Failure]) -> Iterator[tuple[str, Group | Failure]]:
    """Yield the place of each snapshot with its group, or with the reason why it holds none.

    Failures are passed on. Snapshots are converted in batches.
    """
    snapshots, partitions = Snapshots(), 0
    waiting: list[tuple[str, Group | Failure | None]] = []
    for one in found:
        content = one if isinstance(one, Failure) else one.content
        read = content if isinstance(content, Group | Failure) else None
        if not isinstance(content, Group | Failure):
            try:
                document = of_text(content) if isinstance(content, str) else content
                if isinstance(document, StreamsDocument):
                    read = Group.of_document(document)
                else:
                    partitions += snapshots.add(document)
            except BadInput as error:
                name, at = names_in(content)
                read = Failure(one.source, one.place, str(error), name, captured_at=at)
        waiting.append((one.place, read))
        if len(waiting) >= MOST_AT_ONCE or partitions >= MOST_PARTITIONS_AT_ONCE:
            yield from _in_order(waiting, snapshots)
            snapshots, partitions, waiting = Snapshots(), 0, []
    yield from _in_order(waiting, snapshots)


def _in_order(
    waiting: Sequence[tuple[str, Group | Failure | None]], snapshots: Snapshots
) -> Iterator[tuple[str, Group | Failure]]:
    groups = map(Group.of_valid, columns_of_each(snapshots))
    for place, read in waiting:
        yield place, next(groups) if read is None else read


def read_groups(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    standard_input: bytes | None = None,
) -> Groups:
    r"""Return the groups in one or more files or folders, and failures for parts without a group.

    Groups come in the order of `paths`, in a folder by the names of their files, in a file by its
    lines; groups from texts among `paths` come last.

    Parameters
    ----------
    paths : files, ``-`` for standard input, or folders
    standard_input : the bytes of standard input, or of the one pipe among the paths, if the
        caller has read it already

    Raises
    ------
    BadInput
        If the only path is a file that cannot be read, or a folder without a file that could be
        used. If there are several paths, this is a failure instead.

    Examples
    --------
    >>> from assay import read_groups
    >>> text = (
    ...     "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID\n"
    ...     "orders t0 0 5 9 4 c0-1 /h c0\n"
    ...     "orders t0 1 7 7 0 c1-1 /h c1\n"
    ... )
    >>> groups = read_groups("-", standard_input=text.encode())
    >>> groups, groups["orders"].members, groups["orders"].lag_records.tolist()
    (Groups(1 group), ('c0-1', 'c1-1'), [4, 0])
    """
    several = [paths] if isinstance(paths, str | os.PathLike) else paths
    order: list[tuple[int, tuple[str, int, str]]] = []

    def found() -> Iterator[Found | Failure]:
        for number, one in _numbered([os.fspath(path) for path in several], standard_input):
            order.append((number, file_order(one.source, one.place)))
            yield one

    every = [*each_group(found())]
    read = [every[at] for at in sorted(range(len(every)), key=order.__getitem__)]
    groups = [(place, one) for place, one in read if isinstance(one, Group)]
    return Groups(
        [group for _, group in groups],
        [one for _, one in read if isinstance(one, Failure)],
        [place for place, _ in groups],
    )


def read_group(path: str) -> Group:
    """Return the only group of a file in any format that :func:`read_groups` reads.

    Raises
    ------
    BadInput
        If the file holds no group or several, or a part of it is no group.
    """
    groups = read_groups(path)
    if len(groups) == 1 and not groups.failures:
        return groups[0]
    for failure in groups.failures:
        raise BadInput(str(failure))
    if groups:
        raise BadInput(f"{named(path)}: {len(groups):,} groups, expected one")
    raise BadInput(f"{named(path)}: no group in it, add kafka-consumer-groups --describe")


def find(
    paths: Sequence[str], *, standard_input: bytes | None = None
) -> Iterator[Found | Failure]:
    """Yield every snapshot in files and folders, and failures for parts without one.

    Snapshots come in the order in which they are found; then groups from other tools' texts.
    Errors are those of :func:`read_groups`; :func:`files_in` says which files of a folder are
    read. All texts among `paths` are read together, as views of the same groups, and so are all
    texts of one folder. In a folder, files of our other formats, such as findings and scenarios,
    are skipped.
    """
    return (one for _, one in _numbered(paths, standard_input))


def _numbered(
    paths: Sequence[str], standard_input: bytes | None
) -> Iterator[tuple[int, Found | Failure]]:
    """Yield what :func:`find` yields, with the number of its path from 0.

    For texts among the paths, which are read together, that is the number of paths.
    """
    times: dict[str, str] = {}
    together: dict[str | None, list[tuple[str, bytes]]] = {}
    numbers: dict[str | None, int] = {None: len(paths)}
    for number, file, in_folder, data in _each_file(paths, standard_input):
        name = named(file)
        if isinstance(data, BadInput):
            if len(paths) == 1 and file == paths[0]:
                raise data
            yield number, _failure(name, data)
            continue
        if is_parquet(name, data):
            yield from ((number, one) for one in _rows(name, data))
            continue
        start = beginning(data)
        if in_folder and is_other_format(start):
            continue
        if holds_snapshots(name, data):
            yield from ((number, one) for one in snapshots_in(name, data))
        else:
            beside = os.path.dirname(file) if in_folder else None
            numbers.setdefault(beside, number)
            together.setdefault(beside, []).append((name, data))
            from groups.times import file_time

            time = file_time(file)
            if time is not None:
                times[name] = time
    if together:
        from groups.importers import import_each
    for beside, views in together.items():
        number = numbers[beside]
        imported, refused = import_each(views, times=times)
        for made in imported:
            sources = ", ".join(made.sources)
            yield number, Found(sources, sources, made.snapshot)
        yield from ((number, one) for one in refused)


def _each_file(
    paths: Sequence[str], standard_input: bytes | None
) -> Iterator[tuple[int, str, bool, bytes | BadInput]]:
    """Yield each file with the number of its path, whether that is a folder, and what it holds.

    That is its bytes, or why they cannot be read.
    """
    for number, path in enumerate(paths):
        folder = is_folder(path)
        try:
            files = files_in(path) if folder else [path]
        except BadInput as error:
            yield number, path, folder, error
            continue
        for file in files:
            try:
                if standard_input is not None and is_read_once(file):
                    yield number, file, folder, standard_input
                else:
                    yield number, file, folder, read_bytes(file)
            except BadInput as error:
                yield number, file, folder, error


def is_other_format(start: str) -> bool:
    """Return whether a file with this beginning is of another format of ours, such as findings."""
    return _OTHER_FORMAT.match(start) is not None


def is_parquet(name: str, data: bytes) -> bool:
    """Return whether a file is Parquet, or is named so."""
    return name.endswith(PARQUET) or data.startswith(_MAGIC)


def holds_snapshots(name: str, data: bytes) -> bool:
    """Return whether a file is meant to hold snapshots, valid or not, and is no tool's text."""
    start = beginning(data)
    if is_json_lines(name) or not start.startswith("{"):
        return is_json_lines(name)
    if '"assay-' in start:
        return True
    from groups.importers import sniff

    try:
        sniff(name, decode(data))
    except BadInput:
        return True
    return False


def snapshots_in(name: str, data: bytes) -> Iterator[Found | Failure]:
    """Yield the snapshots of a JSON file, or why it holds none."""
    try:
        texts = split_documents(data, name)
    except BadInput as error:
        yield _failure(name, error)
        return
    for place, text in texts:
        yield Found(name, place, text)


def _rows(name: str, data: bytes) -> Iterator[Found | Failure]:
    """Yield the groups of the rows of Parquet; a place is the file and the row, from 1."""
    require("pyarrow", extra="spark")
    from groups.table.parquet import read_groups

    try:
        for number, found in enumerate(read_groups(data), start=1):
            place = f"{name}:{number}"
            if isinstance(found, Group):
                yield Found(name, place, found)
            else:
                yield Failure(
                    name, place, found.reason, found.group, captured_at=found.captured_at
                )
    except BadInput as error:
        yield _failure(name, error)


def _failure(name: str, error: BadInput) -> Failure:
    return Failure(name, name, str(error).removeprefix(f"{name}: "), None)


def files_in(folder: str) -> list[str]:
    """Return the files of a folder that may hold groups, in ascending order.

    These are all files below it with an ending of `ENDINGS`, gzipped or not; and Parquet files in
    it or in folders of it that are called NAME=VALUE.

    Raises
    ------
    BadInput
        If there is none.
    """
    above = Path(folder)
    # Unlike Path.rglob, os.walk goes on where a folder vanishes meanwhile.
    found = (Path(top, name) for top, _, names in os.walk(above) for name in names)
    files = [
        str(path)
        for path in sorted(found)
        if may_hold_groups(str(path), str(above)) and path.is_file()
    ]
    if not files:
        raise nothing_in(folder)
    return files


def may_hold_groups(name: str, folder: str) -> bool:
    """Return whether a file of a folder is read, by its name.

    Parquet files are read only in the folder itself, or in folders that partition it: others may
    be tables of a run, about groups that are read already.
    """
    suffix = PurePosixPath(without_gz(name)).suffix
    below = PurePosixPath(name.removeprefix(folder).lstrip("/"))
    is_part = suffix == PARQUET and all("=" in part for part in below.parts[:-1])
    return suffix in ENDINGS or is_part


def nothing_in(folder: str) -> BadInput:
    """Return the error for a folder without a file that could be read."""
    endings = ", ".join((*ENDINGS, PARQUET))
    return BadInput(f"{folder}: no snapshot in this folder (looked for {endings})")


def is_folder(path: str) -> bool:
    """Return whether a path is a folder, not a file or standard input."""
    # Path.is_dir raises for names that no file can have; here reading the file will say so.
    return path not in ("", "-") and os.path.isdir(path)
