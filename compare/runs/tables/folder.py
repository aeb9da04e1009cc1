"""Folder of the tables: made and tried before a run starts anything."""

from __future__ import annotations

import errno
import os
import re
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from compare.runs.tables.files import remove_unfinished
from compare.runs.tables.schemas import TABLES
from groups.documents.json_files import make_folder
from groups.errors import BadInput

if TYPE_CHECKING:
    from pathlib import Path

_EARLIER = re.compile(r"part-\d+-.*\.parquet")


def prepared(out: Path) -> Path:
    """Return the folder of the tables with its whole path, made and tried.

    What dead runs left unfinished is removed. The path is that of this machine: where tasks run
    on others, they see the folder under the same path.

    Raises
    ------
    BadInput
        Where it is no folder, cannot be written, or an earlier version filled it.
    """
    for folder in (out, *(out / name for name in TABLES)):
        make_folder(folder)
    for name in TABLES:
        if any(_EARLIER.fullmatch(file.name) for file in (out / name).iterdir()):
            raise BadInput(
                f"{out}: filled by an earlier version of assay run, whose tables this one cannot "
                "go on with; name another folder, or delete this one"
            )
    remove_unfinished(out)
    try:
        # Rights say nothing of a disk that is full, or has no room for one more file.
        with TemporaryFile(dir=out, prefix=".") as tried:
            tried.write(bytes(4096))
            os.fsync(tried.fileno())
    except OSError as error:
        raise BadInput(
            f"{out}: cannot be written: {error.strerror or os.strerror(errno.EIO)}"
        ) from None
    return out.absolute()
