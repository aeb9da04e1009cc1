"""Instances: the groups to time, by name, built from columns and a seed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from groups.group import Group

if TYPE_CHECKING:
    from collections.abc import Callable

    from groups.arrays import Bools, Int64, Ints

SEED = 20_261_121


def columns(
    counts: Ints,
    indptr: Ints,
    topics_read: Ints,
    owner: Ints | None = None,
    lag: Ints | None = None,
) -> Group:
    """Return a group of (topics,) partition counts and CSR subscriptions."""
    return Group.from_arrays(
        group="g",
        topics=[f"t{i:06}" for i in range(len(counts))],
        partitions=counts,
        members=[f"m{i:06}" for i in range(len(indptr) - 1)],
        subscription_indptr=indptr,
        subscription_topics=topics_read,
        owner=owner,
        lag=lag,
    )


def random_owner(
    rng: np.random.Generator, counts: Ints, reading: Ints, read: Ints, stays: Bools
) -> Int64:
    """(partitions,) int64: for each partition a random reader among the members that stay."""
    old = stays[reading]
    order = np.argsort(read[old], kind="stable")
    topics, readers = read[old][order], reading[old][order]
    starts = np.searchsorted(topics, np.arange(len(counts) + 1))
    choices = np.diff(starts)
    topic = np.repeat(np.arange(len(counts)), counts)
    at = starts[topic] + (rng.random(len(topic)) * choices[topic]).astype(np.int64)
    return np.where(choices[topic] > 0, readers[np.minimum(at, len(readers) - 1)], -1)


def some_topics(members: int, partitions: int, topics: int, each: int) -> Group:
    """Return a group whose members read `each` random topics; 5% of them own nothing yet."""
    counts, stays = np.full(topics, partitions // topics), np.arange(members) < 0.95 * members
    return _owned(np.random.default_rng(SEED), counts, stays, each)


def skewed(members: int, partitions: int, topics: int, each: int) -> Group:
    """Return a group with topics of very unequal size, so that there are hundreds of levels."""
    rng = np.random.default_rng(SEED)
    share = rng.pareto(0.8, topics) + 0.01
    counts = np.maximum((share / share.sum() * partitions).astype(np.int64), 1)
    return _owned(rng, counts, np.arange(members) % 20 > 0, each)


def _owned(rng: np.random.Generator, counts: Int64, stays: Bools, each: int) -> Group:
    """Return a group whose members read `each` random topics, owned by those that stay."""
    members = len(stays)
    drawn = rng.random((members, len(counts)))
    read = np.sort(np.argpartition(drawn, each, axis=1)[:, :each], axis=1).ravel()
    owner = random_owner(rng, counts, np.repeat(np.arange(members), each), read, stays)
    return columns(counts, np.arange(members + 1) * each, read, owner)


def equal(
    members: int, partitions: int, topics: int, *, joins: bool, buckets: int = 1, odd: bool = False
) -> Group:
    """Return a group whose members read all topics, or one of `buckets` disjoint sets.

    With `odd`, the first member reads only one topic. With `joins`, one member is new and the
    others own all partitions, evenly.
    """
    counts = np.full(topics, partitions // topics)
    rows = [np.arange(b, topics, buckets) for b in range(buckets)]
    chosen = [rows[m % buckets] for m in range(members)]
    if odd:
        chosen[0] = np.array([0])
    indptr = np.cumsum([0, *map(len, chosen)])
    owner = None
    if joins:
        topic = np.repeat(np.arange(topics), counts)
        number = np.arange(len(topic)) // (buckets if buckets > 1 else 1)
        old = (members - 1) // buckets
        owner = (number % old) * buckets + topic % buckets
        if odd:
            owner = np.where((owner == 0) & (topic > 0), 1, owner)
    return columns(counts, indptr, np.concatenate(chosen), owner)


def sparse(members: int, topics: int, share: float, partitions: int) -> Group:
    """Return a new group in which each member reads each topic with probability `share`."""
    rng = np.random.default_rng(SEED)
    reads = rng.random((members, topics)) < share
    counts = np.full(topics, partitions // topics)
    indptr = np.concatenate(([0], np.cumsum(reads.sum(axis=1))))
    return columns(counts, indptr, np.nonzero(reads)[1])


def chain(members: int, partitions: int, *, badly_owned: bool) -> Group:
    """Return a group in which members i and i + 1 read topic i.

    If it is badly owned, member i owns all of topic i.
    """
    counts = np.full(members - 1, partitions // (members - 1))
    counts[: partitions % (members - 1)] += 1
    rows = [np.arange(max(m - 1, 0), min(m + 1, members - 1)) for m in range(members)]
    indptr = np.cumsum([0, *map(len, rows)])
    owner = np.repeat(np.arange(members - 1), counts) if badly_owned else None
    return columns(counts, indptr, np.concatenate(rows), owner)


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


_FRESH = partial(equal, topics=100, joins=False)
_JOINS = partial(equal, topics=100, joins=True)
INSTANCES: dict[str, tuple[float, Callable[[], Group]]] = {
    "10,000 x 1,000,000, 10 of 1000 topics, 5% new":
        (0.8, partial(some_topics, 10_000, 1_000_000, 1000, 10)),
    "5000 x 1,000,000, skewed topics": (0.5, partial(skewed, 5000, 1_000_000, 1000, 10)),
    "2000 x 1,000,000, equal, fresh": (0.05, partial(_FRESH, 2000, 1_000_000)),
    "2000 x 1,000,000, equal, one joins": (0.05, partial(_JOINS, 2000, 1_000_000)),
    "2000 x 1,000,000, one reads one topic, fresh":
        (0.15, partial(_FRESH, 2000, 1_000_000, odd=True)),
    "2000 x 1,000,000, one reads one topic, one joins":
        (0.15, partial(_JOINS, 2000, 1_000_000, odd=True)),
    "10,000 x 500,000, equal, one joins": (0.02, partial(_JOINS, 10_000, 500_000)),
    "10,000 x 500,000, 5 buckets, one joins": (0.05, partial(_JOINS, 10_000, 500_000, buckets=5)),
    # The buckets are not alike: one has a member more than the others.
    "10,001 x 500,000, 5 buckets, one joins": (0.05, partial(_JOINS, 10_001, 500_000, buckets=5)),
    "2100 x 2100, half of 21 topics": (0.01, partial(sparse, 2100, 21, 0.5, 2100)),
    "2100 x 2100, 10% of 2100 topics": (0.3, partial(sparse, 2100, 2100, 0.1, 2100)),
    "chain of 21 x 8400, fresh": (0.004, partial(chain, 21, 8400, badly_owned=False)),
    "chain of 21 x 8400, badly owned": (0.004, partial(chain, 21, 8400, badly_owned=True)),
    "chain of 1001 x 1,000,000": (0.5, partial(chain, 1001, 1_000_000, badly_owned=True)),
}  # fmt: skip
