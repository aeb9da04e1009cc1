"""Files: groups in whatever people have: JSON, JSON lines, Parquet or other tools' texts."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from groups.collection import Groups
from groups.documents.assay_group import as_json
from groups.documents.assay_streams import StreamsDocument, of_text
from groups.documents.json_files import is_json_lines, split_documents
from groups.documents.snapshot import columns_of_each, names_in
from groups.documents.snapshots import Snapshots
from groups.documents.texts import beginning, decode, named, read_bytes, without_gz
from groups.errors import BadInput, Failure
from groups.extras import require
from groups.group import Group

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from groups.documents.assay_group import Document


ENDINGS = (".json", ".jsonl", ".txt", ".out", ".log")
PARQUET = ".parquet"
_MAGIC = b"PAR1"
# Columns are made of so many snapshots at once, at the most.
MOST_AT_ONCE, MOST_PARTITIONS_AT_ONCE = 1000, 1_000_000
_OTHER_FORMAT = re.compile(r'\{\s*"format"\s*:\s*"assay-(?!(group|streams)/)')


@dataclass(frozen=True)
class Found:
    """A snapshot that a file holds, or that was made of texts; good or not.

    `source` names the files, `place` also the line. `content` is JSON as it stands in the file,
    the document that an importer made, or the group of a row of Parquet.
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
    """Yield the place of each snapshot with its group, or why it holds none; failures as they are.

    Columns are made of many at once.
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
    r"""Return the groups in a file or folder, or in several, and why a part of them holds none.

    Snapshots come in the order in which they are found; then what was made of other tools' texts.

    Parameters
    ----------
    paths : files, ``-`` for standard input, or folders
    standard_input : what was in it, where somebody has read it already

    Raises
    ------
    BadInput
        If the only path is a file that cannot be read, or a folder without a file that could
        be used. Beside others it is a failure.

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
    groups: list[Group] = []
    failures: list[Failure] = []
    places: list[str] = []
    several = [paths] if isinstance(paths, str | os.PathLike) else paths
    found = find([os.fspath(path) for path in several], standard_input=standard_input)
    for place, read in each_group(found):
        if isinstance(read, Group):
            groups.append(read)
            places.append(place)
        else:
            failures.append(read)
    return Groups(groups, failures, places)


def read_group(path: str) -> Group:
    """Return the one group of a file, in whatever :func:`read_groups` reads.

    Raises
    ------
    BadInput
        If the file holds none or several, or a part of it is no group.
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
    """Yield every snapshot in some files and folders, and why a part of them holds none.

    In the order and with the errors of :func:`read_groups`; :func:`files_in` says what is read of
    a folder. The texts that are named themselves are together the views of a group, and so are
    the texts of one folder. Files of a folder that begin with another format of ours, as findings
    and scenarios do, hold no group of their own and are passed over.
    """
    times: dict[str, str] = {}
    together: dict[str | None, list[tuple[str, bytes]]] = {}
    for file, in_folder, data in _each_file(paths, standard_input):
        name = named(file)
        if isinstance(data, BadInput):
            if len(paths) == 1 and file == paths[0]:
                raise data
            yield _failure(name, data)
            continue
        if is_parquet(name, data):
            yield from _rows(name, data)
            continue
        start = beginning(data)
        if in_folder and is_other_format(start):
            continue
        if holds_snapshots(name, data):
            yield from _snapshots(name, data)
        else:
            beside = os.path.dirname(file) if in_folder else None
            together.setdefault(beside, []).append((name, data))
            from groups.importers.times import file_time

            time = file_time(file)
            if time is not None:
                times[name] = time
    if together:
        from groups.importers import import_each
    for views in together.values():
        imported, refused = import_each(views, times=times)
        for made in imported:
            sources = ", ".join(made.sources)
            yield Found(sources, sources, made.snapshot)
        yield from refused


def _each_file(
    paths: Sequence[str], standard_input: bytes | None
) -> Iterator[tuple[str, bool, bytes | BadInput]]:
    """Yield each file, whether it is of a folder, and its bytes or why there are none."""
    for path in paths:
        folder = is_folder(path)
        try:
            files = files_in(path) if folder else [path]
        except BadInput as error:
            yield path, folder, error
            continue
        for file in files:
            try:
                known = standard_input if file == "-" else None
                yield file, folder, read_bytes(file) if known is None else known
            except BadInput as error:
                yield file, folder, error


def is_other_format(start: str) -> bool:
    """Return whether a file that begins so is of another format of ours, as findings are."""
    return _OTHER_FORMAT.match(start) is not None


def is_parquet(name: str, data: bytes) -> bool:
    """Return whether a file is Parquet, or is to be by its name."""
    return name.endswith(PARQUET) or data.startswith(_MAGIC)


def holds_snapshots(name: str, data: bytes) -> bool:
    """Return whether a file is meant as snapshots, good ones or not: no tool's, or it says so."""
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


def _snapshots(name: str, data: bytes) -> Iterator[Found | Failure]:
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

    Those are its files with an ending of `ENDINGS`, also those in folders of it, and gzip of
    them; and its Parquet, also that in folders of it that are called NAME=VALUE.

    Raises
    ------
    BadInput
        If there is none.
    """
    above = Path(folder)
    found = [path for path in above.rglob("*") if may_hold_groups(str(path), str(above))]
    files = [str(p) for p in sorted(found) if p.is_file()]
    if not files:
        raise nothing_in(folder)
    return files


def may_hold_groups(name: str, folder: str) -> bool:
    """Return whether a file of a folder is one of those that are read, by its name.

    Parquet is that of the folder: in it, or in folders that partition it. Others may be tables of
    a run, which are about groups that are read already.
    """
    suffix = PurePosixPath(without_gz(name)).suffix
    below = PurePosixPath(name.removeprefix(folder).lstrip("/"))
    is_part = suffix == PARQUET and all("=" in part for part in below.parts[:-1])
    return suffix in ENDINGS or is_part


def nothing_in(folder: str) -> BadInput:
    """Return what is said of a folder without a file that could be read."""
    endings = ", ".join((*ENDINGS, PARQUET))
    return BadInput(f"{folder}: no snapshot in this folder (looked for {endings})")


def is_folder(path: str) -> bool:
    """Return whether a folder is meant, and no file or standard input."""
    # Path.is_dir raises where no file can have such a name; reading it says so.
    return path not in ("", "-") and os.path.isdir(path)
