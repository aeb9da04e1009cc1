"""Files: snapshots in whatever people have, be it JSON, JSON lines or other tools' texts."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groups.documents.json_files import is_json_lines, split_documents
from groups.documents.snapshot import names_in
from groups.documents.texts import beginning, decode, named, read_bytes, without_gz
from groups.errors import BadInput
from groups.group import Group
from groups.importers import Failure, import_each, sniff
from groups.importers.times import file_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ENDINGS = (".json", ".jsonl", ".txt", ".out", ".log")
_OTHER_FORMAT = re.compile(r'\{\s*"format"\s*:\s*"assay-(?!group/)')


@dataclass(frozen=True)
class Found:
    """A snapshot that a file holds, or that was made of texts; good or not.

    `source` names the files, `place` also the line. `content` is JSON as it stands in the file,
    or the document that an importer made.
    """

    source: str
    place: str
    content: str | Mapping[str, Any]

    @property
    def text(self) -> str:
        """The snapshot as JSON."""
        if isinstance(self.content, str):
            return self.content
        return json.dumps(self.content, ensure_ascii=False)

    def group(self) -> Group | Failure:
        """Return the group of the snapshot, or why it holds none."""
        try:
            if isinstance(self.content, str):
                return Group.from_json(self.content)
            return Group.from_dict(self.content)
        except BadInput as error:
            name, at = names_in(self.content)
            return Failure(self.source, self.place, str(error), name, captured_at=at)


def read_groups(
    paths: Sequence[str], *, standard_input: bytes | None = None
) -> tuple[list[Group], list[Failure]]:
    r"""Return the groups in some files and folders, and why a part of them holds none.

    Parameters
    ----------
    paths, standard_input : see :func:`find`, whose order it is

    Raises
    ------
    BadInput
        Where a file cannot be read, or a folder holds no file that could be used.

    Examples
    --------
    >>> from assay import read_groups
    >>> text = (
    ...     "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID\n"
    ...     "orders t0 0 5 9 4 c0-1 /h c0\n"
    ...     "orders t0 1 7 7 0 c1-1 /h c1\n"
    ... )
    >>> groups, failures = read_groups(["-"], standard_input=text.encode())
    >>> [(group.name, group.members, group.lag_records.tolist()) for group in groups], failures
    ([('orders', ('c0-1', 'c1-1'), [4, 0])], [])
    """
    groups: list[Group] = []
    failures: list[Failure] = []
    for found in find(paths, standard_input=standard_input):
        read = found.group() if isinstance(found, Found) else found
        if isinstance(read, Group):
            groups.append(read)
        else:
            failures.append(read)
    return groups, failures


def read_group(path: str) -> Group:
    """Return the one group of a file, in whatever :func:`read_groups` reads.

    Raises
    ------
    BadInput
        Where the file holds none or several, or a part of it is no group.
    """
    groups, failures = read_groups([path])
    if len(groups) == 1 and not failures:
        return groups[0]
    for failure in failures:
        raise BadInput(f"{failure.place}: {failure.reason}")
    if groups:
        raise BadInput(f"{named(path)}: {len(groups):,} groups, expected one")
    raise BadInput(f"{named(path)}: no group in it, add kafka-consumer-groups --describe")


def find(
    paths: Sequence[str], *, standard_input: bytes | None = None
) -> Iterator[Found | Failure]:
    """Yield every snapshot in some files and folders, and why a part of them holds none.

    Snapshots come in the order in which they are found; then what was made of other tools' texts.
    The texts that are named themselves are together the views of a group, and so are the texts of
    one folder. Files of a folder that begin with another format of ours, as findings and scenarios
    do, hold no group of their own and are passed over.

    Parameters
    ----------
    paths : files, ``-`` for standard input, or folders, whose files with an ending of `ENDINGS`
        are read, also those in folders of theirs, and gzip of them
    standard_input : what was in it, where somebody has read it already

    Raises
    ------
    BadInput
        Where a file cannot be read, or a folder holds no file that could be used.
    """
    times: dict[str, str] = {}
    together: dict[str | None, list[tuple[str, bytes]]] = {}
    for path in paths:
        in_folder = is_folder(path)
        for file in _files(path) if in_folder else [path]:
            name = named(file)
            try:
                known = standard_input if file == "-" else None
                data = read_bytes(file) if known is None else known
            except BadInput as error:
                if not in_folder:
                    raise
                yield _failure(name, error)
                continue
            start = beginning(data)
            if in_folder and _OTHER_FORMAT.match(start):
                continue
            if is_json_lines(name) or (start.startswith("{") and _is_ours(name, start, data)):
                yield from _snapshots(name, data)
            else:
                beside = os.path.dirname(file) if in_folder else None
                together.setdefault(beside, []).append((name, data))
                time = file_time(file)
                if time is not None:
                    times[name] = time
    for views in together.values():
        imported, refused = import_each(views, times=times)
        for made in imported:
            sources = ", ".join(made.sources)
            yield Found(sources, sources, made.document)
        yield from refused


def _files(folder: str) -> list[str]:
    found = sorted(p for p in Path(folder).rglob("*") if _ending(p) in ENDINGS)
    files = [str(p) for p in found if p.is_file()]
    if not files:
        raise BadInput(f"{folder}: no snapshot in this folder (looked for {', '.join(ENDINGS)})")
    return files


def _ending(path: Path) -> str:
    return Path(without_gz(path.name)).suffix


def is_folder(path: str) -> bool:
    """Say whether a folder is meant, and no file or standard input."""
    # Path.is_dir raises where no file can have such a name; reading it says so.
    return path not in ("", "-") and os.path.isdir(path)


def _is_ours(name: str, start: str, data: bytes) -> bool:
    """Say whether JSON is meant as a snapshot, a good one or not: no tool's, or it says so."""
    if '"assay-' in start:
        return True
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


def _failure(name: str, error: BadInput) -> Failure:
    return Failure(name, name, str(error).removeprefix(f"{name}: "), None)
