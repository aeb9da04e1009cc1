"""Drawn groups: small random groups by seed, with claims of every sort."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups import Group

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from groups.documents.assay_group import JsonObject


def drawn(seed: int) -> Iterator[Group]:
    """Yield random groups without end: up to 8 members, 6 topics, 36 partitions.

    About half of them are smaller: up to 4 members, 3 topics, 12 partitions. Subscriptions are
    equal, nested or random. Nobody owns anything, or claims are arbitrary, or they are what a
    round robin gave before members joined and left. In one group out of ten, some claims are rival
    or of an older generation.
    """
    rng = np.random.default_rng(seed)
    number = 0
    while True:
        number += 1
        yield Group.from_dict(_document(rng, f"seed-{seed}-{number}"))


def _document(rng: np.random.Generator, name: str) -> JsonObject:
    few = rng.random() < 0.5
    counts = rng.integers(1, 5 if few else 7, rng.integers(1, 4 if few else 7))
    topics = [f"t{i}" for i in range(len(counts))]
    size = int(rng.integers(2, 5 if few else 9))
    rows = _rows(rng, size, topics)
    members: dict[str, JsonObject] = {
        f"m{i}": {"subscription": row, "owned": {}, "generation": 1} for i, row in enumerate(rows)
    }
    history = rng.choice(["nothing", "anything", "dealt"])
    newcomers = [0] * size
    if history == "dealt":
        newcomers = (rng.integers(0, 2, size) * rng.integers(0, 2)).tolist()
    if history != "nothing":
        _own(rng, members, dict(zip(topics, counts.tolist(), strict=True)), newcomers, history)
    lags = {t: rng.integers(0, 100, n).tolist() for t, n in zip(topics, counts, strict=True)}
    described: dict[str, int | JsonObject] = {
        t: {"partitions": len(lag), "lag": lag} for t, lag in lags.items()
    }
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
    members: dict[str, JsonObject],
    topics: dict[str, int],
    newcomers: Sequence[int],
    history: str,
) -> None:
    old = [said for said, new in zip(members.values(), newcomers, strict=True) if not new]
    gone = int(rng.integers(0, 2))
    odd = rng.random() < 0.1
    turn = 0
    for topic, count in topics.items():
        readers = [said for said in old if topic in (said["subscription"] or ())]
        for number in range(count):
            # One turn of the round robin may be that of a member that left: nobody owns it now.
            at = turn % (len(readers) + gone) if readers else 0
            if history == "anything":
                at = int(rng.integers(0, len(readers) + 1))
            turn += 1
            for holder in readers[at : at + (2 if odd and rng.random() < 0.2 else 1)]:
                holder["owned"].setdefault(topic, []).append(number)
    if odd:
        for said in members.values():
            said["generation"] = int(rng.integers(0, 2))
