"""Portions: items in their order, in lists of limited size."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

T = TypeVar("T")


def in_portions(
    items: Iterable[T], size: Callable[[T], int], *, most: int, count: int | None = None
) -> Iterator[list[T]]:
    """Yield the items in portions whose sizes add up to at most `most`.

    An item that is larger than that is a portion of its own.

    Parameters
    ----------
    count : the most items in a portion; None: any number
    """
    portion: list[T] = []
    total = 0
    for item in items:
        more = size(item)
        if portion and (total + more > most or len(portion) == count):
            yield portion
            portion, total = [], 0
        portion.append(item)
        total += more
    if portion:
        yield portion
