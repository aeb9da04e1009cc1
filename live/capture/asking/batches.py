"""Batches: a long list as a few short ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

T = TypeVar("T")


def batches(of: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    """Yield the parts of a list, in order, `most` of it at a time.

    Examples
    --------
    >>> list(batches([1, 2, 3], 2))
    [[1, 2], [3]]
    """
    return (of[start : start + most] for start in range(0, len(of), most))
