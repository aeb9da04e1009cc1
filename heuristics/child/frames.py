"""Frames: pieces of bytes, each with its length before it, on a socket between two processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import BinaryIO

WIDTH = 8
# What a frame from the child begins with: it can call the function; an answer; why there is none.
READY, ANSWER, NONE = b"R", b"A", b"N"


def framed(pieces: Iterable[bytes]) -> bytes:
    """Return the pieces as frames, one after the other."""
    found: list[bytes] = []
    for piece in pieces:
        found += (len(piece).to_bytes(WIDTH, "little"), piece)
    return b"".join(found)


def frame_of(stream: BinaryIO) -> bytes:
    """Return the next frame.

    Raises
    ------
    EOFError
        Where the other end was closed.
    """
    return _exactly(stream, int.from_bytes(_exactly(stream, WIDTH), "little"))


def taken(received: bytearray) -> bytes | None:
    """Take the first frame off what was received; None where it is not all there."""
    if len(received) < WIDTH:
        return None
    end = WIDTH + int.from_bytes(received[:WIDTH], "little")
    if len(received) < end:
        return None
    with memoryview(received) as whole:
        frame = bytes(whole[WIDTH:end])
    del received[:end]
    return frame


def _exactly(stream: BinaryIO, size: int) -> bytes:
    found = stream.read(size)
    if len(found) < size:
        raise EOFError
    return found
