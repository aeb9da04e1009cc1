"""Groups of realistic sizes with seeded random lags, for `benchmarks.lag`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.instances import columns

if TYPE_CHECKING:
    from groups import Group


def lags(kind: str, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return (count,) int64 lags: uniform, lognormal or by Zipf's law."""
    if kind == "uniform":
        return rng.integers(0, 100_001, count)
    if kind == "lognormal":
        return (1000 * rng.lognormal(0, 1.5, count)).astype(np.int64)
    return np.minimum(rng.zipf(1.5, count), 10**9).astype(np.int64)


def reading_all(lag: np.ndarray, members: int, *, topics: int = 1) -> Group:
    """Return a group with these lags whose members read all topics and own nothing."""
    counts = np.full(topics, len(lag) // topics)
    read = np.tile(np.arange(topics), members)
    return columns(counts, np.arange(members + 1) * topics, read, lag=lag)


def alike(partitions: int, members: int, kind: str, seed: int, *, topics: int = 1) -> Group:
    """Return a group whose members all read all topics, each of so many partitions."""
    lag = lags(kind, topics * partitions, np.random.default_rng(seed))
    return reading_all(lag, members, topics=topics)


def differing(members: int, topics: int, partitions: int, seed: int) -> Group:
    """Return a group whose members each read about a third of the topics, with uniform lags."""
    rng = np.random.default_rng(seed)
    reads = rng.random((members, topics)) < 1 / 3
    reads[rng.integers(0, members, topics), np.arange(topics)] = True
    counts = rng.multinomial(partitions - topics, np.ones(topics) / topics) + 1
    indptr = np.concatenate(([0], np.cumsum(reads.sum(axis=1))))
    return columns(counts, indptr, np.nonzero(reads)[1], lag=lags("uniform", partitions, rng))
