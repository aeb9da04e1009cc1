"""Files of a table: written whole or not at all, never changed, known by a checksum."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from compare.runs.tables.schemas import TABLES
from groups.errors import BadInput
from groups.wording import counted

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

# Nobody takes what begins with a dot, or ends like this, for a file of the table.
UNFINISHED = ".unfinished"
_NAME = re.compile(r"\d{8}T\d{12}Z-[0-9a-f]{8}-([0-9a-f]{32})\.parquet")
_FOREIGN = "not a file of this version of assay run"
_READERS = 4
_NO_LOCKS = (errno.ENOTSUP, errno.ENOLCK, errno.ENOSYS)


def new_run(started: datetime) -> str:
    """Return the name of a run, with which those of its files begin: they sort by its start."""
    return f"{started:%Y%m%dT%H%M%S%fZ}-{uuid4().hex[:8]}"


def append(folder: Path, name: str, rows: pa.Table | pa.RecordBatch, run: str) -> Path | None:
    """Add rows to a table as a file of its own, whole or not at all.

    The file is on disk when this returns. Processes and machines may append at once.

    Parameters
    ----------
    folder : of the tables; that of the table is in it already
    name : of the table
    rows : with the columns of the table, in any order
    run : what :func:`new_run` returned

    Returns
    -------
    file : None where there are no rows

    Raises
    ------
    BadInput
        Where it cannot be written. Nothing of it is left then.
    """
    schema = TABLES[name]
    table = pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows
    if not table.num_rows:
        return None
    sink = pa.BufferOutputStream()
    table = table.select(schema.names).cast(schema)
    pq.write_table(table, sink, compression="zstd", write_page_checksum=True)
    data = memoryview(sink.getvalue())
    file = folder / name / f"{run}-{_digest(data)}.parquet"
    try:
        while not _written(file, data):
            pass
    except OSError as error:
        raise BadInput(f"{file}: cannot be written: {error.strerror or error}") from None
    return file


def good(folder: Path, name: str, run: str = "") -> tuple[list[Path], list[str]]:
    """Return the files of a table that are whole, and a line on each other one.

    Every byte is read and held against the checksum: once in a process, while the file stays as
    it is. Files are in the order in which their runs started, wherever and however they are
    listed.

    Parameters
    ----------
    run : only the files of this run

    Raises
    ------
    BadInput
        Where the folder cannot be read.
    """
    table = folder / name
    try:
        found = sorted(
            file
            for file in table.iterdir()
            if file.name.endswith(".parquet")
            and not file.name.startswith((".", "_"))
            and file.name.startswith(run)
        )
    except FileNotFoundError:
        return [], []
    except OSError as error:
        raise BadInput(f"{table}: cannot be read: {error.strerror}") from None
    with ThreadPoolExecutor(_READERS) as readers:
        faults = list(readers.map(_fault, found))
    whole = [file for file, fault in zip(found, faults, strict=True) if fault is None]
    lines = [
        f"{file}: {fault}; it is left out, and a run makes its rows again: delete it"
        for file, fault in zip(found, faults, strict=True)
        if fault not in (None, _FOREIGN)
    ]
    foreign = faults.count(_FOREIGN)
    if foreign:
        first = found[faults.index(_FOREIGN)].name
        lines.append(
            f"{table}: {counted(foreign, 'file')} left out, {_FOREIGN}: {first}"
            f"{' and others' if foreign > 1 else ''}; delete what an earlier version left"
        )
    return whole, lines


def left_out(folder: Path) -> list[str]:
    """Return a line on each file of the tables that is not whole."""
    return [line for name in TABLES for line in good(folder, name)[1]]


def remove_unfinished(folder: Path) -> None:
    """Remove what writers that died left of files; those of writers that live stay.

    A writer holds a lock on its file, and a lock ends with the process that holds it.
    """
    for name in TABLES:
        for file in (folder / name).glob(f".*{UNFINISHED}"):
            with suppress(OSError):
                lock = os.open(file, os.O_RDWR | os.O_CLOEXEC)
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    file.unlink()
                finally:
                    os.close(lock)


def _digest(data: memoryview) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def _written(file: Path, data: memoryview) -> bool:
    """Write a file, or say that another process took it for the rest of a dead one."""
    unfinished = file.with_name(f".{file.name}.{uuid4().hex[:8]}{UNFINISHED}")
    out = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        _lock(out)
        if os.fstat(out).st_nlink == 0:
            return False
        while data:
            data = data[os.write(out, data) :]
        os.fsync(out)
        os.rename(unfinished, file)
    except BaseException:
        with suppress(OSError):
            os.unlink(unfinished)
        raise
    finally:
        os.close(out)
    folder = os.open(file.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return True


def _lock(file: int) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
    except OSError as error:
        # Where there are no locks, nobody can remove the file either.
        if error.errno not in _NO_LOCKS:
            raise


def _fault(file: Path) -> str | None:
    """Return what is wrong with a file of a table."""
    named = _NAME.fullmatch(file.name)
    if named is None:
        return _FOREIGN
    try:
        now = file.stat()
        return _fault_in(file, named[1], now.st_size, now.st_mtime_ns, now.st_ino)
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"


@lru_cache(maxsize=65536)
def _fault_in(file: Path, digest: str, size: int, changed: int, inode: int) -> str | None:
    with file.open("rb") as opened:
        if hashlib.file_digest(opened, "sha256").hexdigest()[:32] != digest:
            return "damaged: its content is not what its name says" if size else "damaged: empty"
        try:
            schema = pq.read_schema(opened)
        except pa.ArrowInvalid:
            return "not Parquet"
    wanted = TABLES[file.parent.name]
    alike = schema.names == wanted.names and schema.types == wanted.types
    return None if alike else "of other columns than those of this version"
