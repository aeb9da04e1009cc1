"""Topics: which one should have how many partitions more, for the lowest peak."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from compare.advice.advice import Change, NoGain
from compare.advice.changed import with_partitions
from compare.advice.worlds import Best, Worlds, least_peak, turn, with_few_moves
from groups.wording import counted

if TYPE_CHECKING:
    from optimal.time_left import TimeLeft

# Counts of partitions that are tried, and how large a count may be of that of today.
MOST_TRIED, MOST_TIMES = 12, 4


def more_partitions(worlds: Worlds, best: Best, time_left: TimeLeft) -> Change | NoGain:
    """Return the topic and the number of partitions with the lowest peak, in partitions of today.

    Tried are topics that have fewer partitions than readers, or a number that their readers do
    not divide: as many as readers, or the next multiple of them. What a topic has of records is
    taken to stay the same, and to be spread evenly over its partitions.
    """
    group = worlds.least
    even = Fraction(int(group.partitions[group.readers > 0].sum()), max(1, len(group.members)))
    if best.peak.value <= even:
        return NoGain("partitions", "Everybody has the same share.", proved=True)
    tried = _counts(worlds)
    if not tried:
        reason = "The readers of each topic divide its number of partitions."
        return NoGain("partitions", reason, proved=False)
    found: list[tuple[Fraction, int, int, int, Best]] = []
    for i, (topic, count) in enumerate(tried):
        least, per = with_partitions(worlds.least, topic, count)
        most = least if worlds.known else with_partitions(worlds.most, topic, count)[0]
        one = least_peak(Worlds(least, most), "peak_weight", turn(time_left, 2 * (len(tried) - i)))
        if one is None or one.peak.value >= best.peak.bound * per:
            continue
        in_parts = replace(one, peak=replace(one.peak, per=per))
        added = count - int(group.partitions[topic])
        found.append((Fraction(one.peak.value, per), added, topic, count, in_parts))
        if time_left.is_up:
            break
    if not found:
        reason = f"None of {len(tried):,} counts tried lowers it."
        if len(tried) == 1:
            ((topic, count),) = tried
            reason = f"{counted(count, 'partition')} of {group.topics[topic]} do not lower it."
        return NoGain("partitions", reason, proved=False)
    _, _, topic, count, least_found = min(found, key=lambda one: one[:3])
    least_found = with_few_moves(least_found, "peak_weight", turn(time_left))
    return Change(
        "partitions",
        before=best.peak.in_parts(least_found.peak.per),
        after=least_found.peak,
        assignment=least_found.assignment,
        moves=len(least_found.assignment.moved),
        topic=group.topics[topic],
        partitions_now=int(group.partitions[topic]),
        partitions=count,
    )


def _counts(worlds: Worlds) -> list[tuple[int, int]]:
    """(topic, number of partitions) to try, topics with most partitions first."""
    group = worlds.least
    readers, there = worlds.most.readers, group.partitions
    topics = np.flatnonzero((group.readers > 0) & (there > 0))
    topics = topics[there[topics] % readers[topics] != 0]
    topics = topics[np.argsort(-there[topics], kind="stable")]
    next_multiple = (-(-there[topics] // readers[topics])) * readers[topics]
    fits = next_multiple <= np.maximum(MOST_TIMES * there[topics], len(group.members))
    pairs = zip(topics[fits].tolist(), next_multiple[fits].tolist(), strict=True)
    return list(pairs)[:MOST_TRIED]
