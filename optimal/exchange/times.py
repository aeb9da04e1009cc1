"""Bounds on the time to catch up: of members of several rates, the last is no quicker than that.

Uniform machines, Q||Cmax with counts. An average is one of rates; and where the heaviest
partitions do not all fit within a time, whoever holds which, it takes longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optimal.exchange.floor import Floor
from optimal.exchange.lightest import lightest_with_one

if TYPE_CHECKING:
    from collections.abc import Iterator

    from groups.arrays import Bools, Int64
    from optimal.exchange.choices import Choices

# How many numbers of heavy partitions are looked at.
CROWDS = 24


def floors_of_times(choices: Choices, members: Bools, best: int) -> Iterator[tuple[int, Floor]]:
    """Yield the seconds that some members take at least, on average and for their crowds.

    Parameters
    ----------
    best : crowds that show no more seconds than that are left out
    """
    only = np.asarray(~choices.may[:, ~members].any(axis=1), bool)
    able = np.asarray(choices.may[:, members].any(axis=1), bool)
    mine = np.flatnonzero(only[choices.kind])
    if not len(mine):
        return
    size, names = choices.size, tuple(np.flatnonzero(members).tolist())
    rates = choices.rates[members].tolist()
    yield -(-int(size[mine].sum()) // sum(rates)), Floor("average", names)
    mine = mine[np.argsort(-size[mine], kind="stable")]
    rest = np.flatnonzero(able[choices.kind])
    rest = rest[np.argsort(size[rest], kind="stable")]
    if len(choices.least) > 1:
        heaviest = int(size[mine[0]])
        with_one = lightest_with_one(choices, only, heaviest)
        seconds = [int((-(-loads // choices.rates[who])).min()) for who, loads in with_one]
        yield min(seconds), Floor("crowd", names, heaviest)
        return
    room = int(choices.most[0, members].sum()) - len(mine)
    least, most = choices.least[0, members], choices.most[0, members]
    held = list(zip(np.maximum(least, most - room).tolist(), most.tolist(), strict=True))
    places = np.unique(np.geomspace(1, len(mine), CROWDS).astype(np.int64)) - 1
    for at_least in dict.fromkeys(size[mine[places]].tolist()):
        if at_least == 0:
            continue
        heavy = mine[size[mine] >= at_least]
        light = rest[~np.isin(rest, heavy)]
        sums = _sums(size[heavy[::-1]]), _sums(size[light])
        bound = _least_time(sums, rates, held, best)
        if bound > best:
            best = bound
            yield bound, Floor("crowd", names, at_least)


def _least_time(
    sums: tuple[Int64, Int64], rates: list[int], held: list[tuple[int, int]], best: int
) -> int:
    """Return the least seconds in which members may hold the heavy partitions together.

    Parameters
    ----------
    sums : of the 0, 1, 2, ... lightest of the heavy partitions, and of the others
    held : how many partitions each member holds at least and at most
    best : that many seconds where they are enough
    """
    heavy, light = sums
    number, carried = len(heavy) - 1, []
    for least, most in held:
        taken = np.arange(min(number, most) + 1)
        more = np.clip(least - taken, 0, len(light) - 1)
        carried.append(np.minimum.accumulate((heavy[taken] + light[more])[::-1])[::-1])

    def is_enough(seconds: int) -> bool:
        fits = 0
        for rate, loads in zip(rates, carried, strict=True):
            room = min(seconds * rate, int(loads[-1]))
            fits += max(0, int(np.searchsorted(loads, room, side="right")) - 1)
        return fits >= number

    low, high = best, -(-int(heavy[-1] + light[-1]) // min(rates))
    if low >= high or is_enough(low):
        return low
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle + 1, high)
    return low


def _sums(sizes: Int64) -> Int64:
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
