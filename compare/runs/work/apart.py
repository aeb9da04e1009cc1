"""Apart: a batch that comes to harm is taken apart until what did it stands alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from heuristics.child import Lost

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# A death costs a new process, rows that are well cost next to nothing: few rounds, many parts.
PARTS = 32
Answer = TypeVar("Answer")


def taken_apart(
    first: int, end: int, ask: Callable[[int, int], Answer | Lost]
) -> Iterator[tuple[int, int, Answer | Lost]]:
    """Ask about rows together, and where no answer comes, about parts of them, down to one row.

    Parameters
    ----------
    first, end : the rows, from the first to the one before the end
    ask : what to ask about such a stretch; Lost where no answer came

    Yields
    ------
    stretch : first, end and the answer, in order; Lost only of one row
    """
    answer = ask(first, end)
    if not isinstance(answer, Lost) or end - first <= 1:
        yield first, end, answer
        return
    size = -(-(end - first) // PARTS)
    for start in range(first, end, size):
        yield from taken_apart(start, min(start + size, end), ask)
