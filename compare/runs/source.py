"""Source: the groups in a file or a folder, each as text with the place it came from."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from groups.documents.json_files import decode, read_bytes
from groups.errors import BadInput
from groups.importers import import_each

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SNAPSHOTS = (".json", ".jsonl")
TEXTS = (".txt", ".out", ".log")
OTHER_FORMAT = re.compile(rb'\s*\{\s*"format"\s*:\s*"assay-(?!group/)')


@dataclass(frozen=True)
class Found:
    """One snapshot as text, or the reason why there is none; `source` is the file."""

    source: str
    place: str
    text: str | None
    reason: str | None = None
    group: str | None = None


def find(path: Path) -> list[Found]:
    """Return every snapshot under a path: a ``.json`` or ``.jsonl`` file, or a folder.

    In a folder other tools' texts (``.txt``, ``.out``, ``.log``, their JSON) are imported, all
    texts of one folder together, so that several views of a group become one snapshot. Files of
    a folder that begin with another format of ours, as findings and scenarios do, hold no group
    of their own and are passed over.

    Raises
    ------
    BadInput
        Where there is nothing there that could hold a snapshot.
    """
    folder = os.path.isdir(path)  # Path.is_dir raises where the name is too long.
    if folder:
        files = sorted(p for p in path.rglob("*") if p.suffix in SNAPSHOTS + TEXTS)
        files = [p for p in files if p.is_file()]
        if not files:
            endings = ", ".join(SNAPSHOTS + TEXTS)
            raise BadInput(f"{path}: no snapshot in this folder (looked for {endings})")
    else:
        files = [path]
    found: list[Found] = []
    texts: dict[Path, list[tuple[str, bytes]]] = {}
    for file in files:
        try:
            data = read_bytes(file)
        except BadInput as error:
            if not folder:
                raise
            reason = str(error).removeprefix(f"{file}: ")
            found.append(Found(str(file), str(file), None, reason))
            continue
        if folder and OTHER_FORMAT.match(data):
            continue
        if file.suffix == ".jsonl" or _is_snapshot(data):
            found += _snapshots(str(file), data)
        elif folder or file.suffix in TEXTS:
            texts.setdefault(file.parent, []).append((str(file), data))
        else:
            found += _snapshots(str(file), data)
    for views in texts.values():
        found += _imported(views)
    if not found:
        raise BadInput(f"{path}: empty, expected snapshots")
    return found


def _is_snapshot(data: bytes) -> bool:
    """Say whether a file says of itself that it is a snapshot, without parsing it."""
    start = data[:64].lstrip(b"\xef\xbb\xbf \t\r\n")
    return start.startswith(b"{") and b'"format"' in data and b'"assay-group/' in data


def _snapshots(name: str, data: bytes) -> Iterable[Found]:
    try:
        text = decode(data)
    except BadInput as error:
        return [Found(name, name, None, str(error))]
    if not text.strip():
        return [Found(name, name, None, "empty, expected a snapshot")]
    lines = [(n, line) for n, line in enumerate(text.split("\n"), start=1) if line.strip()]
    by_line = name.endswith(".jsonl") or (len(lines) > 1 and _is_document(lines[0][1]))
    if not by_line:
        return [Found(name, name, text)]
    return [Found(name, f"{name}:{number}", line) for number, line in lines]


def _is_document(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _imported(views: list[tuple[str, bytes]]) -> Iterable[Found]:
    imported, failures = import_each(views)
    for snapshot in imported:
        sources = ", ".join(snapshot.sources)
        yield Found(sources, sources, json.dumps(snapshot.document, ensure_ascii=False))
    for failure in failures:
        yield Found(failure.source, failure.place, None, failure.reason, failure.group)
