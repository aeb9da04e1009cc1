"""Prints Markdown tables, each row as soon as it is known."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def say(line: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def row(*cells: object) -> None:
    """Print a row of a table."""
    say(f"| {' | '.join(map(str, cells))} |")


def heading(*titles: str) -> None:
    """Print the titles of a table, after an empty line."""
    say("")
    row(*titles)
    say("|---" * len(titles) + "|")


def spans(*figures: Iterable[float]) -> list[str]:
    """Return cells of several times each, such as the least and the median seconds."""
    return [", ".join(f"{one:.4f}" for one in each) for each in figures]
