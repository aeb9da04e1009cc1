"""Small groups: every one there is within limits, and seeded ones beyond."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, product
from typing import TYPE_CHECKING, Any

import numpy as np

from groups import Group

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Small:
    """A group in few words; every partition has a lag of 1.

    Attributes
    ----------
    counts : partitions of each topic
    rows : topics that each member reads, ascending
    owner : of each partition, topic by topic, -1 nobody
    """

    counts: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...]
    owner: tuple[int, ...]

    def group(self) -> Group:
        """Build the group: topics t0, t1, ..., members m0, m1, ..."""
        return Group.from_arrays(
            group="small",
            topics=[f"t{i}" for i in range(len(self.counts))],
            partitions=self.counts,
            members=[f"m{i}" for i in range(len(self.rows))],
            subscription_indptr=np.cumsum([0, *map(len, self.rows)]),
            subscription_topics=np.array([t for row in self.rows for t in row], np.int64),
            owner=np.array(self.owner, np.int64),
            lag=np.ones(len(self.owner), np.int64),
        )


def equal(members: int, partitions: int) -> Iterator[Small]:
    """Every group of that size and smaller whose members all read the same, by what each owns.

    With equal subscriptions and no rival claims a group is, up to renaming, what its members own;
    here in every order of the members. Twice: one topic, and a topic for each partition.
    """
    for size, total in product(range(1, members + 1), range(1, partitions + 1)):
        for owned in ownership_counts(size, total):
            owner = tuple(m for m, mine in enumerate(owned) for _ in range(mine))
            owner += (-1,) * (total - len(owner))
            yield Small((total,), ((0,),) * size, owner)
            if total > 1:
                yield Small((1,) * total, (tuple(range(total)),) * size, owner)


def fresh(topics: int, members: int, partitions: int) -> Iterator[Small]:
    """Every group of that size and smaller in which nobody owns anything, in every order."""
    for counts, rows in _shapes(topics, members, partitions):
        yield Small(counts, rows, (-1,) * sum(counts))


def owned(topics: int, members: int, partitions: int) -> Iterator[Small]:
    """Every group of that size and smaller in which somebody owns something that it reads.

    Of the partitions of a topic only how many each member owns counts.
    """
    for counts, rows in _shapes(topics, members, partitions):
        readers = [[m for m, row in enumerate(rows) if t in row] for t in range(len(counts))]
        owners = [
            combinations_with_replacement([*readers[t], -1], counts[t]) for t in range(len(counts))
        ]
        for held in product(*owners):
            owner = tuple(m for of_topic in held for m in of_topic)
            if max(owner) >= 0:
                yield Small(counts, rows, owner)


def ownership_counts(members: int, partitions: int) -> Iterator[tuple[int, ...]]:
    """Return how many partitions each member owns, in every way; some may be nobody's."""
    if not members:
        yield ()
        return
    for mine in range(partitions + 1):
        for others in ownership_counts(members - 1, partitions - mine):
            yield (mine, *others)


def drawn(seed: int) -> Iterator[Group]:
    """Return groups without end, drawn by seed: up to 8 members, 6 topics, 36 partitions.

    Every other one is smaller: up to 4 members, 3 topics, 12 partitions.
    Subscriptions are equal, nested or random. Nobody owns anything, or the claims are arbitrary,
    or what a round robin gave before members came and went; in one group out of ten some of them
    are rival or of an older generation.
    """
    rng = np.random.default_rng(seed)
    number = 0
    while True:
        number += 1
        yield Group.from_dict(_document(rng, f"seed-{seed}-{number}"))


def _shapes(
    topics: int, members: int, partitions: int
) -> Iterator[tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]]:
    for many in range(1, topics + 1):
        choices = [c for size in range(1, many + 1) for c in combinations(range(many), size)]
        for counts in product(range(1, partitions + 1), repeat=many):
            if sum(counts) <= partitions:
                for size in range(1, members + 1):
                    for rows in product(choices, repeat=size):
                        yield counts, rows


def _document(rng: np.random.Generator, name: str) -> dict[str, Any]:
    few = rng.random() < 0.5
    counts = rng.integers(1, 5 if few else 7, rng.integers(1, 4 if few else 7))
    topics = [f"t{i}" for i in range(len(counts))]
    size = int(rng.integers(2, 5 if few else 9))
    rows = _rows(rng, size, topics)
    members: dict[str, dict[str, Any]] = {
        f"m{i}": {"subscription": row, "owned": {}, "generation": 1} for i, row in enumerate(rows)
    }
    history = rng.choice(["nothing", "anything", "dealt"])
    newcomers = rng.integers(0, 2, size) * rng.integers(0, 2) if history == "dealt" else [0] * size
    if history != "nothing":
        _own(rng, members, dict(zip(topics, counts.tolist(), strict=True)), newcomers, history)
    lags = {t: rng.integers(0, 100, n).tolist() for t, n in zip(topics, counts, strict=True)}
    described = {t: {"partitions": len(lag), "lag": lag} for t, lag in lags.items()}
    return {"format": "assay-group/1", "group": name, "topics": described, "members": members}


def _rows(rng: np.random.Generator, size: int, topics: list[str]) -> list[list[str]]:
    kind = rng.choice(["equal", "nested", "random"], p=[0.25, 0.25, 0.5])
    if kind == "equal":
        return [list(topics)] * size
    if kind == "nested":
        return [topics[: int(rng.integers(1, len(topics) + 1))] for _ in range(size)]
    picked = rng.random((size, len(topics))) < rng.choice([0.3, 0.5, 0.8])
    picked[np.arange(size), rng.integers(0, len(topics), size)] = True
    return [[t for t, reads in zip(topics, row, strict=True) if reads] for row in picked]


def _own(
    rng: np.random.Generator,
    members: dict[str, dict[str, Any]],
    topics: dict[str, int],
    newcomers: Any,
    history: str,
) -> None:
    old = [said for said, new in zip(members.values(), newcomers, strict=True) if not new]
    gone = int(rng.integers(0, 2))
    odd = rng.random() < 0.1
    turn = 0
    for topic, count in topics.items():
        readers = [said for said in old if topic in said["subscription"]]
        for number in range(count):
            # One place in the round, that of a member who left, owns nothing any more.
            at = turn % (len(readers) + gone) if readers else 0
            if history == "anything":
                at = int(rng.integers(0, len(readers) + 1))
            turn += 1
            for holder in readers[at : at + (2 if odd and rng.random() < 0.2 else 1)]:
                holder["owned"].setdefault(topic, []).append(number)
    if odd:
        for said in members.values():
            said["generation"] = int(rng.integers(0, 2))
