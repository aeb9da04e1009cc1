"""Texts: reads files and standard input, unpacks gzip, and decodes UTF-8 or UTF-16."""

from __future__ import annotations

import codecs
import gzip
import os
import sys
import zlib
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from groups.errors import BadInput, Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

STANDARD_INPUT = "standard input"
MOST_UNPACKED_BYTES = 2**28
_PIECE = 2**20
START = 4096
_GZIP = b"\x1f\x8b"
_WIDER = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_MARKED = (
    (codecs.BOM_UTF8, "UTF-8-SIG"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


def read_bytes(path: str | Path) -> bytes:
    """Return the bytes of a file, ``-`` for standard input; a gzip file is unpacked.

    Raises
    ------
    BadInput
        If there is no such file, it cannot be read, or it is gzip that is damaged or unpacks to
        more than `MOST_UNPACKED_BYTES`.
    """
    name = named(str(path))
    if name == STANDARD_INPUT and sys.stdin is None:
        raise Unreadable(f"{name}: cannot be read: it is closed")
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise Unreadable(f"{name}: cannot be read: {reason}") from None
    try:
        return _unpack(data) if data.startswith(_GZIP) else data
    except BadInput as error:
        raise error.within(name) from None


def is_read_once(path: str) -> bool:
    """Return whether a path is standard input or a pipe, which holds nothing once it is read."""
    return path == "-" or (os.path.exists(path) and not os.path.isfile(path))


def named(path: str) -> str:
    """Return the name of a file in messages: its path, or ``standard input`` for ``-``."""
    return STANDARD_INPUT if path == "-" else path


def decode(data: bytes) -> str:
    """Return the text of some bytes, UTF-8 or UTF-16, without its byte order mark.

    UTF-16 needs no mark if most of its beginning is ASCII, as in everything that tools print.

    Raises
    ------
    BadInput
        If the bytes are neither, with the place of the first bad one.
    """
    if data.startswith(_WIDER):
        raise BadInput("UTF-32, expected UTF-8 or UTF-16")
    encoding = _encoding(data)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        name = encoding.removesuffix("-SIG").removesuffix("-LE").removesuffix("-BE")
        raise BadInput(f"byte {error.start}: not {name} text") from None


def beginning(data: bytes) -> str:
    """Return the first few thousand characters of a text after blanks, without bad ones."""
    return data[:START].decode(_encoding(data), "ignore").lstrip()


def without_gz(name: str) -> str:
    """Return the name of a file without ``.gz``."""
    return name.removesuffix(".gz")


def _encoding(data: bytes) -> str:
    for mark, encoding in _MARKED:
        if data.startswith(mark):
            return encoding
    start = data[: min(len(data) // 2 * 2, START)]
    # UTF-8 texts that are read here have no zero bytes; ASCII in UTF-16 has one in each pair.
    if b"\0" in start:
        high, low, pairs = start[::2].count(0), start[1::2].count(0), len(start) // 2
        if 4 * low >= 3 * pairs and 10 * high < pairs:
            return "UTF-16-LE"
        if 4 * high >= 3 * pairs and 10 * low < pairs:
            return "UTF-16-BE"
    return "UTF-8"


@contextmanager
def unpacking() -> Iterator[None]:
    """Turn the errors of damaged gzip that is read within into BadInput."""
    try:
        yield
    except EOFError:
        raise BadInput("gzip that is cut off: get the whole file") from None
    except (gzip.BadGzipFile, zlib.error):
        raise BadInput("gzip that is damaged") from None


def _unpack(data: bytes) -> bytes:
    pieces, size = [], 0
    with unpacking(), gzip.GzipFile(fileobj=BytesIO(data)) as file:
        while piece := file.read(_PIECE):
            pieces.append(piece)
            size += len(piece)
            if size > MOST_UNPACKED_BYTES:
                most = MOST_UNPACKED_BYTES // 2**20
                raise BadInput(f"gzip of more than {most} MiB, unpack it first")
    return b"".join(pieces)
