"""Files: groups from whatever people have, be it snapshots, JSON lines or other tools' texts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from groups.documents.json_files import read_bytes, read_documents
from groups.errors import BadInput
from groups.group import Group
from groups.importers import Failure, import_each, sniff

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

ENDINGS = (".json", ".jsonl", ".txt", ".out", ".log")
_START = 4096
_OTHER_FORMAT = re.compile(rb'\s*\{\s*"format"\s*:\s*"assay-(?!group/)')


def read_groups(
    paths: Sequence[str], *, standard_input: bytes | None = None
) -> tuple[list[Group], list[Failure]]:
    """Return the groups in some files and folders, and why a part of them holds none.

    Snapshots come in the order in which they are found; then what was imported, ascending by
    name, where all texts together make the views of a group.

    Parameters
    ----------
    paths : files, ``-`` for standard input, or folders, whose files with an ending of `ENDINGS`
        are read
    standard_input : what was in it, where somebody has read it already

    Raises
    ------
    BadInput
        Where a file cannot be read, or a folder holds no file that could be used.
    """
    groups: list[Group] = []
    failures: list[Failure] = []
    texts: list[tuple[str, bytes]] = []
    for path in paths:
        for name, data in _files(path, standard_input):
            if _is_snapshot(name, data):
                if _OTHER_FORMAT.match(data) and is_folder(path):
                    # A scenario or a finding in a folder holds no group of its own.
                    continue
                for found in _snapshots(name, data):
                    (groups if isinstance(found, Group) else failures).append(found)  # type: ignore[arg-type]
            else:
                texts.append((name, data))
    imported, refused = import_each(texts)
    for snapshot in imported:
        groups.append(Group.from_dict(snapshot.document))
    return groups, [*failures, *refused]


def _files(path: str, standard_input: bytes | None) -> Iterator[tuple[str, bytes]]:
    if path == "-" and standard_input is not None:
        yield "standard input", standard_input
        return
    if not is_folder(path):
        yield ("standard input" if path == "-" else path), read_bytes(path)
        return
    files = sorted(p for p in Path(path).rglob("*") if p.suffix in ENDINGS and p.is_file())
    if not files:
        raise BadInput(f"{path}: no group in this folder (looked for {', '.join(ENDINGS)})")
    for file in files:
        yield str(file), read_bytes(file)


def is_folder(path: str) -> bool:
    """Say whether a folder is meant, and no file or standard input."""
    try:
        return path not in ("", "-") and Path(path).is_dir()
    except (OSError, ValueError):
        # A name that no file can have; reading it says so.
        return False


def _is_snapshot(name: str, data: bytes) -> bool:
    """Say whether a file says of itself that it holds snapshots, good ones or not."""
    start = data[:_START]
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        start = start.decode("utf-16", "ignore").encode()
    start = start.lstrip(b"\xef\xbb\xbf \t\r\n")
    if name.endswith(".jsonl"):
        return True
    return start[:1] == b"{" and (b'"assay-' in start or not _is_known(name, data))


def _is_known(name: str, data: bytes) -> bool:
    """Say whether some tool's dialect is recognised; if not, JSON can only be meant as ours."""
    try:
        sniff(name, data)
    except BadInput:
        return False
    return True


def _snapshots(name: str, data: bytes) -> Iterable[Group | Failure]:
    try:
        documents = list(read_documents(data, name))
    except BadInput as error:
        return [Failure(name, name, str(error).removeprefix(f"{name}: "), None)]
    return [_group(name, place, document) for place, document in documents]


def _group(name: str, place: str, document: object) -> Group | Failure:
    if isinstance(document, BadInput):
        return Failure(name, place, str(document).removeprefix(f"{place}: "), None)
    try:
        return Group.from_dict(document)  # type: ignore[arg-type]
    except BadInput as error:
        group = document.get("group") if isinstance(document, dict) else None
        return Failure(name, place, str(error), group if isinstance(group, str) else None)
