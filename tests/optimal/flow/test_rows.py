"""Rows that are equal share a number; others never do."""

import random

import numpy as np
import pytest

from optimal.flow import pools
from optimal.flow.pools import alike


def numbered(keys) -> list[int]:
    """Number what is equal, in the order of its first appearance."""
    seen: dict[object, int] = {}
    return [seen.setdefault(key, len(seen)) for key in keys]


def random_rows(rng: random.Random) -> list[tuple[int, ...]]:
    kinds = [tuple(sorted(rng.sample(range(9), rng.randint(0, 4)))) for _ in range(5)]
    return [rng.choice(kinds) for _ in range(rng.randint(0, 12))]


def csr(listed: list[tuple[int, ...]]) -> tuple:
    indptr = np.cumsum([0, *map(len, listed)])
    return indptr, np.array([entry for row in listed for entry in row], np.int64)


@pytest.mark.parametrize("same_words", [0, 1, 2])
def test_equal_rows_share_a_number_whatever_their_hashes(monkeypatch, same_words):
    """The first `same_words` draws of words are all equal, so that hashes of one length meet."""
    words = pools.words_of

    def drawn(seed: int, width: int):
        return np.ones(width + 8, np.uint64) if seed < same_words else words(seed, width)

    monkeypatch.setattr(pools, "words_of", drawn)
    monkeypatch.setattr(pools, "FEW", 0)
    rng, several = random.Random(same_words), 0
    for _ in range(200):
        listed = random_rows(rng)
        column = [rng.randint(-1, 1) for _ in listed]
        for told_apart in ([], [column]):
            keys = list(zip(listed, *told_apart, strict=True))
            number, first = alike(*csr(listed), 9, [np.array(c, np.int64) for c in told_apart])
            assert number.tolist() == numbered(keys)
            assert [keys[i] for i in first] == list(dict.fromkeys(keys))
            several += 1 < len(first) < len(listed)
    assert several > 100
