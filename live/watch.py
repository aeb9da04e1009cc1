"""Watch: captures of a cluster at an interval, and a series of files for them."""

from __future__ import annotations

import gzip
import json
import os
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from groups.documents.json_files import make_folder
from groups.errors import BadInput, writing_whole
from live.capture import capture

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from groups.importers import Imported
    from live.capture import Captured
    from live.connection import Connection

ENDING = ".jsonl.gz"
_OURS = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2}Z(_[0-9]+)?[.]jsonl[.]gz"
)


@dataclass(frozen=True)
class Look:
    """The result of one capture in a watch.

    Attributes
    ----------
    at : its time in UTC: ``2026-11-20T10:00:00Z``
    found : the groups, and why others could not be captured
    away : why the cluster could not be asked; None if it could
    """

    at: str
    found: Captured
    away: str | None = None


def looks(
    connection: Connection,
    patterns: Sequence[str],
    *,
    every: float,
    times: int | None = None,
    seconds: float | None = None,
) -> Iterator[Look]:
    """Yield a capture of a cluster at an interval, also while the cluster is away for a while.

    If a capture takes longer than the interval, the next ones are skipped.

    Parameters
    ----------
    every : seconds from the start of one capture to that of the next
    times : number of captures; None: no end
    seconds : latest start of the last capture after the first; None: no end

    Raises
    ------
    BadInput
        If the cluster cannot be asked the first time.
    """
    from live.capture.captures import Captured, moment

    started = time.monotonic()
    number = tick = 0
    while times is None or number < times:
        if seconds is not None and tick * every > seconds:
            return
        time.sleep(max(0.0, started + tick * every - time.monotonic()))
        at = moment()
        try:
            look = Look(at, capture(connection, patterns))
        except BadInput as error:
            if number == 0:
                raise
            look = Look(at, Captured(), str(error))
        yield look
        number += 1
        tick = max(tick + 1, -int(-(time.monotonic() - started) // every))


@dataclass(frozen=True)
class Series:
    """A folder with a file for each capture, of JSON lines in gzip.

    Attributes
    ----------
    folder : created if it does not exist
    keep : number of newest captures to keep; None: all
    """

    folder: Path
    keep: int | None = None

    def prepare(self) -> None:
        """Create the folder.

        Raises
        ------
        BadInput
            If nothing can be written there.
        """
        make_folder(self.folder)

    def add(self, at: str, documents: Sequence[Imported]) -> int:
        """Write a capture atomically, delete old ones, and return its size in bytes.

        Raises
        ------
        BadInput
            If it cannot be written.
        """
        lines = "".join(f"{json.dumps(one.document, ensure_ascii=False)}\n" for one in documents)
        data = gzip.compress(lines.encode("utf-8", "surrogatepass"), mtime=0)
        name, number = at.replace(":", "-"), 1
        path = self.folder / f"{name}{ENDING}"
        while path.exists():
            number += 1
            path = self.folder / f"{name}_{number}{ENDING}"
        with writing_whole(path) as part, part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if self.keep is not None:
            for old in self.files()[: -self.keep]:
                old.unlink(missing_ok=True)
        return len(data)

    def files(self) -> list[Path]:
        """Return the files of the series, the oldest first."""
        return sorted(path for path in self.folder.iterdir() if _OURS.fullmatch(path.name))
