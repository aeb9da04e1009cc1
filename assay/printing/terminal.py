"""Terminal: how wide it is, and sentences that fit it."""

from __future__ import annotations

import shutil
import sys
import textwrap

from assay.streams import printable, put


def width() -> int | None:
    """Return how many columns a line may have; None where there is no terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def tell(sentence: str) -> None:
    """Print a sentence; on a terminal it goes on in the next line between two words."""
    text, room = printable(sentence), width()
    if room is not None and len(text) > room:
        text = textwrap.fill(text, room, break_long_words=False, break_on_hyphens=False)
    put(text)
