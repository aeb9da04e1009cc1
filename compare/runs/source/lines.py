"""Lines: of files that may be far larger than the memory, and so may single lines be."""

from __future__ import annotations

from dataclasses import dataclass
from io import BufferedReader, FileIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from gzip import GzipFile

MARK = b"\xef\xbb\xbf"
PIECE_BYTES = 2**20
KEPT_BYTES = 2**12


@dataclass(frozen=True)
class TooLong:
    """A line that is not read: how many bytes it has, and the first few of them."""

    size: int
    beginning: bytes


def opened(path: str) -> BufferedReader:
    """Open a file to be read in large pieces."""
    return BufferedReader(FileIO(path), PIECE_BYTES)


def lines_of(
    stream: BufferedReader | GzipFile, size: int | None, *, first: int, most: int
) -> Iterator[tuple[int, bytes | TooLong]]:
    """Yield the lines that are not blank, each with its number.

    Parameters
    ----------
    stream : where the first line begins
    size : bytes that belong to the lines; None: all there are
    first : number of the first line
    most : bytes of a line that is read; of a longer one no more than a piece is held at once
    """
    number, left = first, size
    held: list[bytes] = []
    length = 0
    while True:
        # Of a stream that breaks off, this still returns what came before.
        piece = stream.read1(PIECE_BYTES if left is None else min(left, PIECE_BYTES))
        if left is not None:
            left -= len(piece)
        start = 0
        while (end := piece.find(b"\n", start)) >= 0:
            line = _line(held, length, piece[start:end], most)
            if line:
                yield number, line
            held, length, start = [], 0, end + 1
            number += 1
        if not piece:
            line = _line(held, length, b"", most)
            if line:
                yield number, line
            return
        tail = piece[start:]
        length += len(tail)
        if length <= most:
            held.append(tail)
        else:
            held = [b"".join(held)[:KEPT_BYTES] or tail[:KEPT_BYTES]]


def _line(held: list[bytes], before: int, last: bytes, most: int) -> bytes | TooLong | None:
    """Return a line of its pieces, None for a blank one."""
    size = before + len(last)
    if size > most:
        return TooLong(size, (b"".join(held) or last)[:KEPT_BYTES])
    line = b"".join((*held, last)).rstrip(b"\r") if held else last.rstrip(b"\r")
    return None if not line or line.isspace() else line


def line_starts(stream: BufferedReader, every: int) -> Iterator[tuple[int, int]]:
    """Yield where lines begin, the first one after every so many bytes, and their numbers."""
    number, place, wanted = 1, 0, every
    while piece := stream.read(PIECE_BYTES):
        start = 0
        while place + len(piece) > wanted:
            end = piece.find(b"\n", max(wanted - place, start))
            if end < 0:
                break
            number += piece.count(b"\n", start, end + 1)
            start = end + 1
            yield place + start, number
            wanted = place + start + every
        number += piece.count(b"\n", start)
        place += len(piece)
