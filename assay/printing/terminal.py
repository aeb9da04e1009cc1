"""Terminal: how wide it is, what it can show, and sentences that fit it."""

from __future__ import annotations

import locale
import os
import shutil
import sys
import textwrap

from assay.streams import printable, put

EIGHTHS = " ▏▎▍▌▋▊▉█"
# Their fonts lack the eighths of a block.
PLAIN_TERMINALS = ("dumb", "linux")


def width() -> int | None:
    """Return how many columns a line may have; None where there is no terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def tell(sentence: str) -> None:
    """Print a sentence; on a terminal it goes on in the next line between two words."""
    text, room = printable(sentence), width()
    if room is not None and len(text) > room:
        text = textwrap.fill(text, room, break_long_words=False, break_on_hyphens=False)
    put(text)


def bar(value: int, *, most: int, width: int) -> str:
    """Return a bar that is `width` columns long for `most`; 0 alone is none at all.

    It is made of blocks where the terminal has them, else, and in a file, of ``#``.
    """
    most = max(most, 1)
    if not _has_blocks():
        return "#" * max(round(width * value / most), int(value > 0))
    eighths = max(round(8 * width * value / most), int(value > 0))
    return f"{EIGHTHS[-1] * (eighths // 8)}{EIGHTHS[eighths % 8]}".rstrip()


def _has_blocks() -> bool:
    if not sys.stdout.isatty() or os.environ.get("TERM", "dumb") in PLAIN_TERMINALS:
        return False
    return locale.getencoding().lower() in ("utf-8", "utf8")
