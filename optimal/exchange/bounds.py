"""Bounds: what the busiest member carries at least, whatever is done, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optimal.exchange.densest import densest
from optimal.exchange.floor import Floor
from optimal.exchange.lightest import lightest_with_one
from optimal.exchange.times import floors_of_times

if TYPE_CHECKING:
    from collections.abc import Iterator

    from groups.arrays import Bools
    from optimal.exchange.choices import Choices

# Kinds of partitions whose readers are looked at: those of the heaviest ones.
KINDS = 200
# How many heavy partitions a member may have to hold in a crowd that is looked at.
CROWDS = 32


def highest_floor(choices: Choices) -> tuple[int, Floor | None]:
    """Return the highest bound on the peak that the checker can recompute, and its reason.

    None, with bound 0, where nothing weighs anything.
    """
    best: tuple[int, Floor | None] = 0, None
    for members in _sets(choices):
        floors = _floors(choices, members)
        if choices.rate is not None:
            floors = floors_of_times(choices, members, best[0])
        for bound, floor in floors:
            if bound > best[0]:
                best = bound, floor
    return best


def _sets(choices: Choices) -> Iterator[Bools]:
    """Yield sets of members that may have much to carry, (members,) bool each.

    All; those who may hold the partitions of one kind, with the heaviest partition first; and
    the one that has most to carry on average.
    """
    everybody = np.ones(choices.members, bool)
    yield everybody
    if choices.may.all() or not len(choices.size):
        return
    seen = {everybody.tobytes()}
    heaviest = np.zeros(len(choices.may), np.int64)
    np.maximum.at(heaviest, choices.kind, choices.size)
    rows = choices.may[np.argsort(-heaviest, kind="stable")[:KINDS]]
    for members in (densest(choices), *_parts(choices), *rows):
        if members.tobytes() not in seen:
            seen.add(members.tobytes())
            yield members


def _parts(choices: Choices) -> list[Bools]:
    """Return the members of each connected part: who shares partitions, if through others."""
    label = np.arange(choices.members)
    beyond = choices.members
    while True:
        of_kind = np.where(choices.may, label, beyond).min(axis=1, initial=beyond)
        least = np.where(choices.may, of_kind[:, None], beyond).min(axis=0, initial=beyond)
        found = np.minimum(label, least)
        if np.array_equal(found, label):
            return [label == part for part in np.unique(label)][:KINDS]
        label = found


def _floors(choices: Choices, members: Bools) -> Iterator[tuple[int, Floor]]:
    """Yield what a set of members has to carry on average, and what its crowds make of it."""
    only = np.asarray(~choices.may[:, ~members].any(axis=1), bool)
    able = np.asarray(choices.may[:, members].any(axis=1), bool)
    mine = np.flatnonzero(only[choices.kind])
    if not len(mine):
        return
    size, count = choices.size, int(members.sum())
    names = tuple(np.flatnonzero(members).tolist())
    yield -(-int(size[mine].sum()) // count), Floor("average", names)
    mine = mine[np.argsort(-size[mine], kind="stable")]
    if len(choices.least) > 1:
        heaviest = int(size[mine[0]])
        with_one = lightest_with_one(choices, only, heaviest)
        yield min(int(loads.min()) for _, loads in with_one), Floor("crowd", names, heaviest)
        return
    held = _held(choices, members, len(mine))
    rest = np.flatnonzero(able[choices.kind])
    rest = rest[np.argsort(size[rest], kind="stable")]
    for first in range(0, len(mine), count)[:CROWDS]:
        at_least = int(size[mine[first]])
        heavy = mine[size[mine] >= at_least]
        share = -(-len(heavy) // count)
        taken = heavy[len(heavy) - share :]
        more = rest[~np.isin(rest, taken)][: max(0, held - share)]
        yield int(size[taken].sum() + size[more].sum()), Floor("crowd", names, at_least)


def _held(choices: Choices, members: Bools, only: int) -> int:
    """Return how many partitions each of some members holds at least."""
    least, most = choices.least[0, members], choices.most[0, members]
    room = int(most.sum()) - only
    return int(np.maximum(least, most - room).min())
