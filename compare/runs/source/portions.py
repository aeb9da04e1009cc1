"""Portions: things in their order, some at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Thing = TypeVar("Thing")


def in_portions(
    things: Iterable[Thing], size: Callable[[Thing], int], *, most: int, count: int
) -> Iterator[list[Thing]]:
    """Yield things whose sizes add up to so much at most, and no more than so many of them.

    One that is larger by itself is a portion of its own.
    """
    portion: list[Thing] = []
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
