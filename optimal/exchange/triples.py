"""Triples: what three members hold together, split anew so that all stay below a peak."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optimal.exchange.sums import sizes, subset_sums, subsets

if TYPE_CHECKING:
    from groups.arrays import Int64
    from optimal.exchange.hands import Hands

# Partitions of three members together, all of whose subsets are looked at.
MOST = 15
# Subsets of one member that are set against those of another.
WAYS = 1024


def split_three(
    hands: Hands, trio: tuple[int, int, int], below: int, rng: np.random.Generator
) -> list[Int64] | None:
    """Return a split of what three members hold in which each carries less than a peak.

    Each part weighs less than the peak, so none may leave the other two more than twice that:
    few subsets are left where the peak is nearly even.

    Returns
    -------
    what each of them holds then; None where there is none, or too many partitions to tell
    """
    choices = hands.choices
    joint = np.concatenate([hands.of[m] for m in trio])
    n = len(joint)
    total = int(choices.size[joint].sum())
    if n > MOST or total > 3 * (below - 1):
        return None
    sums, full = subset_sums(choices.size[joint]), 2**n - 1
    fits = (sums < below) & (sums >= total - 2 * (below - 1))
    every = np.flatnonzero(fits)
    own = [_allowed(hands, every, joint, m) for m in trio]
    if min(map(len, own)) == 0:
        return None
    a, b = (rng.permutation(ways)[:WAYS] for ways in own[:2])
    left = np.zeros(2**n, bool)
    left[own[2]] = True
    apart = (a[:, None] & b) == 0
    i, j = np.nonzero(apart)
    rest = full ^ a[i] ^ b[j]
    good = np.flatnonzero(left[rest])
    if not len(good):
        return None
    i, j, rest = i[good], j[good], rest[good]
    worst = np.maximum(np.maximum(sums[a[i]], sums[b[j]]), sums[rest])
    k = int(worst.argmin())
    parts = (a[i[k]], b[j[k]], rest[k])
    return [joint[subsets(n)[part] > 0] for part in parts]


def _allowed(hands: Hands, ways: Int64, joint: Int64, member: int) -> Int64:
    """Return the subsets that a member may hold, by kind and by count of each pile."""
    choices = hands.choices
    bits = 1 << np.arange(len(joint))
    barred = int(bits[~choices.may[choices.kind[joint], member]].sum())
    ways = ways[(ways & barred) == 0]
    pile = choices.pile[joint]
    for number in np.unique(pile).tolist():
        count = sizes(len(joint))[ways & int(bits[pile == number].sum())]
        least, most = choices.least[number, member], choices.most[number, member]
        ways = ways[(count >= least) & (count <= most)]
    return ways
