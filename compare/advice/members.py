"""Members: the next number of them for which the peak falls, and the fewest for the same peak."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from compare.advice.advice import Change, NoGain, least_gain
from compare.advice.changed import with_members
from compare.advice.worlds import least_peak, turn, with_few_moves
from compare.lag.lowest import hottest
from compare.sizes.resized import all_alike
from groups.wording import counted

if TYPE_CHECKING:
    from compare.advice.advice import Lower
    from compare.advice.worlds import Best, Worlds
    from optimal.time_left import TimeLeft


def more_members(
    worlds: Worlds,
    best: Best,
    lower: Lower,
    time_left: TimeLeft,
    *,
    total: int,
    like: str | None = None,
) -> Change | NoGain:
    """Return the fewest members more for which the peak falls for sure, by 1% or more.

    Another member never raises the least peak of partitions, so steps that double and then halve
    find them. Of lag it may, with loads as even as can be: then it is a number that does.

    Parameters
    ----------
    total : what all members have together
    like : new members read what this one reads
    """
    there, peak = len(worlds.least.members), best.peak
    most = there + int(worlds.most.partitions.sum())
    floor, because = lowest_of_all(worlds, lower)
    wanted = peak.bound - least_gain(peak.bound)
    if floor > wanted:
        none = peak.value - floor < least_gain(peak.value)
        return NoGain("members", f"{because}, however many members there are.", proved=none)
    known: dict[int, Best | None] = {}

    def falls(members: int) -> bool:
        found = known[members] = _with(worlds, members, lower, time_left, like)
        return found is not None and found.peak.value <= wanted

    # With fewer each would have more on average.
    low = max(there, -(-total // wanted) - 1)
    step = 1
    while not falls(low + step):
        low += step
        if low >= most or time_left.is_up:
            unknown = f"No number up to {low:,} is known to lower it by 1%."
            return NoGain("members", unknown, proved=False)
        step = min(2 * step, max(1, most - low))
    high = low + step
    while high - low > 1 and not time_left.is_up:
        middle = (low + high) // 2
        low, high = (low, middle) if falls(middle) else (middle, high)
    found = known[high]
    assert found is not None
    found = with_few_moves(found, lower, turn(time_left))
    return Change(
        "members",
        before=peak,
        after=found.peak,
        assignment=found.assignment,
        moves=len(found.assignment.moved),
        members=high,
    )


def fewer_members(worlds: Worlds, best: Best, lower: Lower, time_left: TimeLeft) -> Change | None:
    """Return the fewest members that have the same peak, where who leaves makes no difference.

    None where none is to spare, members differ, or the least peak is not proved. Of lag nothing is
    said: with fewer members it is read more slowly.
    """
    there, group = len(worlds.least.members), worlds.least
    if lower != "peak_load" or not (worlds.known and best.peak.proved and all_alike(group)):
        return None
    low, high, found = 0, there, None
    while high - low > 1 and not time_left.is_up:
        middle = (low + high) // 2
        one = _with(worlds, middle, lower, time_left)
        if one is not None and one.peak.value <= best.peak.value:
            high, found = middle, one
        else:
            low = middle
    if found is None:
        return None
    found = with_few_moves(found, lower, turn(time_left))
    stay = set(found.assignment.group.members)
    return Change(
        "fewer members",
        before=best.peak,
        after=found.peak,
        assignment=found.assignment,
        moves=len(found.assignment.moved),
        members=high,
        leaves=tuple(member for member in group.members if member not in stay),
    )


def lowest_of_all(worlds: Worlds, lower: Lower) -> tuple[int, str]:
    """(peak, why) below which no number of members comes, where somebody reads something."""
    most, group = hottest(worlds.least), worlds.least
    if lower == "peak_load":
        return 1, "A partition is with one member: somebody holds at least 1"
    if most is None:
        return 1, "There is some lag: somebody has at least 1"
    name = f"{group.topics[group.topic[most[0]]]}-{group.number[most[0]]}"
    return most[1], f"One partition ({name}) alone has {counted(most[1], 'record')} of lag"


def _with(
    worlds: Worlds, members: int, lower: Lower, time_left: TimeLeft, like: str | None = None
) -> Best | None:
    change = partial(with_members, members=members, like=like)
    return least_peak(worlds.changed(change), lower, turn(time_left))
