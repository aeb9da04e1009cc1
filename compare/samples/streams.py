"""Streams: random write speeds of partitions over time, by a published method."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# Capacity of a member; speeds are whole percents of it.
CAPACITY = 100


def speeds(partitions: int, delta: int, steps: int, seed: int) -> Iterator[tuple[int, ...]]:
    """Yield the speeds of all partitions, in percent of the capacity, a tuple for each step.

    Each partition starts at a uniform whole number from 0 to 100. At each step it changes by a
    uniform whole number from -delta to delta, and is kept within 0 to 100.

    Source: Landau, Andrade and Barbosa 2022, arXiv:2206.11170. Its formula does not limit the
    speeds, but those of the authors' own streams stay within 0 to 100.
    """
    rng = Random(seed)
    now = tuple(rng.randint(0, CAPACITY) for _ in range(partitions))
    for _ in range(steps):
        yield now
        now = tuple(min(max(s + rng.randint(-delta, delta), 0), CAPACITY) for s in now)
