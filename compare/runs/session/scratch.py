"""Scratch: a folder for what a session writes on the way, gone when the session is."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import TYPE_CHECKING

from compare.runs.session import janitor
from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = "assay-spark-"
LOCK = "lock"
CLEAR_SECONDS = 15.0
LEAST_BYTES = 1 << 16
LEAST_FILES = 8


@contextmanager
def scratch() -> Iterator[Path]:
    """Make a folder that goes away with this process, and with it all that carries its mark.

    It is in the first folder of ``SPARK_LOCAL_DIRS``, or where temporary files go. What runs that
    are dead left there is cleared first.

    Raises
    ------
    BadInput
        Where no folder can be made there, or nothing has room in it: Java would wait for ever.
    """
    place = above()
    clear_dead(place)
    try:
        _require_room(place)
        folder = Path(mkdtemp(prefix=PREFIX, dir=place)).resolve()
        lock = _locked(folder / LOCK)
    except OSError as error:
        raise BadInput(f"{place}: no scratch folder can be made: {error.strerror}") from None
    # Only this process holds the other end of the pipe, and no signal of a terminal reaches it.
    watch = subprocess.Popen(
        [sys.executable, "-I", "-S", janitor.__file__, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )
    try:
        yield folder
    finally:
        assert watch.stdin is not None
        watch.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            watch.wait(CLEAR_SECONDS)
        if folder.exists():
            janitor.clear(folder)
        if lock is not None:
            os.close(lock)


def above() -> Path:
    """Return where scratch folders go."""
    return Path(os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0] or gettempdir())


def clear_dead(place: Path) -> None:
    """Clear the scratch folders at a place whose runs are dead."""
    for lock in place.glob(f"{PREFIX}*/{LOCK}"):
        try:
            held = _locked(lock, make=False)
        except OSError:
            continue
        if held is not None:
            janitor.clear(lock.parent)
            os.close(held)


def _require_room(place: Path) -> None:
    """Raise OSError where a place has no room for the first that a session writes."""
    there = os.statvfs(place)
    # Some file systems do not count files.
    few = there.f_files and there.f_favail < LEAST_FILES
    if few or there.f_bavail * there.f_frsize < LEAST_BYTES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _locked(file: Path, *, make: bool = True) -> int | None:
    """Return the open lock file, None where another process has it."""
    opened = os.open(file, os.O_RDWR | os.O_NOFOLLOW | (os.O_CREAT if make else 0), 0o600)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(opened)
        return None
    return opened
