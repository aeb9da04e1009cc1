"""Portions: things in their order, some at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

T = TypeVar("T")


def in_portions(
    things: Iterable[T], size: Callable[[T], int], *, most: int, count: int | None = None
) -> Iterator[list[T]]:
    """Yield things whose sizes add up to so much at most.

    One that is larger by itself is a portion of its own.

    Parameters
    ----------
    count : the most things of a portion; None: any number
    """
    portion: list[T] = []
    total = 0
    for thing in things:
        more = size(thing)
        if portion and (total + more > most or len(portion) == count):
            yield portion
            portion, total = [], 0
        portion.append(thing)
        total += more
    if portion:
        yield portion
