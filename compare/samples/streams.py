"""Streams: write speeds of partitions that go up and down, by a published recipe."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# What a member takes: speeds are whole percents of it.
CAPACITY = 100


def speeds(partitions: int, delta: int, steps: int, seed: int) -> Iterator[tuple[int, ...]]:
    """Yield the speeds of all partitions, in percent of the capacity, a tuple a step.

    Each partition starts at 0 to 100, uniformly. At each step it changes by -delta to delta, a
    whole number that is as uniform, and stays within 0 to 100.

    Source: Landau, Andrade and Barbosa 2022, arXiv:2206.11170. Its formula has no ends; the speeds
    of the authors' own streams stay within them.
    """
    rng = Random(seed)
    now = tuple(rng.randint(0, CAPACITY) for _ in range(partitions))
    for _ in range(steps):
        yield now
        now = tuple(min(max(s + rng.randint(-delta, delta), 0), CAPACITY) for s in now)
