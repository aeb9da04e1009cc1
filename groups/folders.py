"""Folders: which of their files may hold groups."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

from groups.documents.texts import without_gz
from groups.errors import BadInput

ENDINGS = (".json", ".jsonl", ".txt", ".out", ".log")
PARQUET = ".parquet"


def files_in(folder: str) -> list[str]:
    """Return the files of a folder that may hold groups, in ascending order.

    Those are its files with an ending of `ENDINGS`, also those in folders of it, and gzip of
    them; and its Parquet, also that in folders of it that are called NAME=VALUE.

    Raises
    ------
    BadInput
        Where there is none.
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
