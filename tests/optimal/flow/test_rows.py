"""Rows that are equal share a number, others never do; what few and many rows fall into."""

import random

import numpy as np
import pytest

from optimal.flow import pools
from optimal.flow.flows import Stages
from optimal.flow.levels import components
from optimal.flow.pools import alike, pools_of
from tests.optimal.random_groups import random_group


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
    rng, several = random.Random(same_words), 0
    for _ in range(200):
        listed = random_rows(rng)
        columns = [[rng.randint(-1, 1) for _ in listed] for _ in range(2)]
        for told_apart in ([], columns[:1], columns):
            keys = list(zip(listed, *told_apart, strict=True))
            number, first = alike(*csr(listed), 9, [np.array(c, np.int64) for c in told_apart])
            assert number.tolist() == numbered(keys)
            assert [keys[i] for i in first] == list(dict.fromkeys(keys))
            several += 1 < len(first) < len(listed)
    assert several > 100


STAGES = Stages.of(("balance", "stickiness"))


def test_components_are_what_reads_lead_to_from_one_pool_or_class():
    rng, several = random.Random("components"), 0
    for _ in range(200):
        group = random_group(rng, members=rng.randint(1, 8), partitions=rng.randint(1, 20))
        some = pools_of(group, STAGES)
        of_pool, of_class = (part.tolist() for part in components(some))
        together = [{("pool", p)} for p in range(len(of_pool))]
        together += [{("class", c)} for c in range(len(of_class))]
        for p, c in zip(some.read_pool.tolist(), some.read_by.tolist(), strict=True):
            one, *other = (part for part in together if part & {("pool", p), ("class", c)})
            together = [part for part in together if part not in other]
            one.update(*other)
        number = {"pool": of_pool, "class": of_class}
        assert all(len({number[kind][at] for kind, at in part}) == 1 for part in together)
        assert len({*of_pool, *of_class}) == len(together)
        several += len(together) > 1
    assert several > 20
