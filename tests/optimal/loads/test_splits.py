"""Splits of two members against all subsets, without and with a budget on moves."""

from __future__ import annotations

import random
from itertools import product

import numpy as np

from optimal.loads.candidates import Candidates
from optimal.loads.incumbent import Incumbent
from optimal.loads.neighbourhood import split


def case(rng: random.Random) -> tuple[Candidates, np.ndarray]:
    """Two members that both may hold up to eight partitions, and an assignment to them."""
    n = rng.randint(1, 8)
    size = np.array([rng.randint(0, rng.choice((3, 100, 2**40))) for _ in range(n)], np.int64)
    holder = np.array([rng.randint(0, 1) for _ in range(n)], np.int64)
    home = np.array([rng.randint(-1, 1) for _ in range(n)], np.int64)
    held = np.bincount(holder, minlength=2)
    least = np.maximum(held - rng.randint(0, 2), 0)[None]
    most = (held + rng.randint(0, 2))[None]
    read, one = np.arange(n), np.zeros(n, np.int64)
    made = int(((home >= 0) & (home != holder)).sum())
    moves = rng.choice((None, made, made + 1, made + 2))
    both = np.ones((1, 2), bool)
    return Candidates(read, size, one, both, one, least, most, home, moves), holder


def least_apart(candidates: Candidates) -> int:
    """How little the two can differ, by all assignments within the counts and the moves."""
    apart = []
    for owners in product((0, 1), repeat=len(candidates.size)):
        holder = np.array(owners, np.int64)
        found = Incumbent(candidates, holder)
        over = candidates.moves is not None and found.moves > candidates.moves
        if candidates.keeps(holder) and not over:
            apart.append(abs(int(found.loads[0] - found.loads[1])))
    return min(apart)


def test_no_split_within_the_counts_and_the_moves_is_more_even():
    rng, drawn = random.Random("splits"), np.random.default_rng(1)
    for _ in range(180):
        candidates, holder = case(rng)
        incumbent = Incumbent(candidates, holder)
        found = split(incumbent, 0, 1, drawn)
        assert found is not None
        incumbent.give((0, 1), found)
        assert candidates.keeps(incumbent.holder)
        assert candidates.moves is None or incumbent.moves <= candidates.moves
        assert abs(int(incumbent.loads[0] - incumbent.loads[1])) == least_apart(candidates)
