"""KIP-54, against a word-for-word transcription that rescans everything at every step."""

from itertools import product

import numpy as np
import pytest

from groups import Group
from groups.tiers import pairwise_difference
from heuristics import assign
from tests.heuristics.conftest import every_small_group


def transcribe(group: Group) -> tuple[list[int], int, bool]:
    """Return each partition's owner, the number of moves in step 4, and whether step 5 reverts."""
    members = range(len(group.members))
    can = [
        [m for m in members if group.subscribes(np.array([m]), np.array([t]))[0]]
        for t in group.topic.tolist()
    ]
    owner = group.owner.tolist()

    def load(m: int) -> int:
        return owner.count(m)

    in_order = sorted(range(len(owner)), key=lambda p: (len(can[p]), p))
    for p in in_order:
        if owner[p] < 0 and can[p]:
            owner[p] = min(can[p], key=lambda m: (load(m), m))
    mobile = [m for m in members if any(m in c and len(c) > 1 for c in can)]

    def score() -> int:
        return pairwise_difference([load(m) for m in mobile])

    def score_after(p: int, m: int) -> int:
        holder, owner[p] = owner[p], m
        found = score()
        owner[p] = holder
        return found

    def balanced() -> bool:
        loads = [load(m) for m in mobile]
        return max(loads, default=0) - min(loads, default=0) <= 1 or not any(
            score_after(p, m) < score()
            for p in in_order
            if len(can[p]) > 1
            for m in can[p]
            if m != owner[p]
        )

    before, score_before, moves = list(owner), score(), 0
    for p in in_order:
        if balanced():
            break
        others = [m for m in can[p] if m != owner[p]]
        if not others:
            continue
        least = min(others, key=lambda m: (load(m), m))
        if score_after(p, least) < score():
            owner[p] = least
            moves += 1
    reverts = moves > 0 and score() >= score_before
    return (before if reverts else owner), moves, reverts


@pytest.mark.parametrize(
    ("topics", "members", "partitions"),
    [
        (1, 3, 6),
        (2, 2, 5),
        *(
            pytest.param(*size, marks=pytest.mark.exhaustive)
            for size in ((2, 3, 5), (2, 4, 4), (3, 3, 4))
        ),
    ],
)
def test_on_every_small_group_the_kip_is_followed_and_its_revert_rule_never_fires(
    topics, members, partitions
):
    moved = 0
    for group in every_small_group(topics, members, partitions):
        owner, moves, reverts = transcribe(group)
        assert assign(group, "kip-54-sticky").owner.tolist() == owner
        assert not reverts
        moved += moves > 0
    assert moved > 10


def test_a_single_move_improves_the_score_exactly_when_it_narrows_two_members_by_two():
    for loads in product(range(6), repeat=4):
        for giver, taker in ((0, 1), (1, 0), (2, 3)):
            after = list(loads)
            after[giver] -= 1
            after[taker] += 1
            improves = pairwise_difference(after) < pairwise_difference(loads)
            assert improves == (loads[giver] - loads[taker] >= 2)


@pytest.mark.parametrize(
    ("topics", "members"),
    [(1, 4), (2, 3), *(pytest.param(*n, marks=pytest.mark.exhaustive) for n in ((2, 4), (3, 3)))],
)
def test_no_group_of_three_partitions_is_left_unbalanced(topics, members):
    for group in every_small_group(topics, members, 3):
        assert assign(group, "kip-54-sticky").balanced()
