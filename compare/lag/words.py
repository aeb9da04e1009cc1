"""Words: sentences on the lag that one member needs to have at least, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from compare.lag.behind import behind, if_latest, most_lag, peak_lag
from compare.lag.lowest import LowestPeak, hottest, kept_beside_lag
from compare.verdict import ALL_ALIKE
from groups.assignment import Assignment
from groups.tiers import LAG_PEAKS, MOVES, SAFE_TOTAL, TIERS, in_words
from groups.wording import duration, few, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.judged import Judged
    from compare.lag.lowest import Hottest
    from groups.group import Group
    from groups.wording import Nouns
    from optimal.solution import Solution


# What people call a tier that can be too high.
NAMED = {
    "peak_lag": "peak lag",
    "peak_time": "time to catch up",
    "peak_weight": "peak weight",
    "peak_load": "greatest load",
    "load_spread": "spread of loads",
    "balance": "balance",
}


# Said of an assignment that gives each member only topics that it surely reads.
WHOEVER = ", whoever reads what"


def measured(tier: str, value: int) -> str:
    """Return a tier's value as text: a duration for `peak_time`, else a number."""
    return duration(value) if tier == "peak_time" else f"{value:,}"


def lag_sentences(judged: Judged, lowest: LowestPeak | None) -> tuple[str, ...]:
    """Return sentences on who has most lag and how much less it could be; empty if lag is unknown.

    Parameters
    ----------
    lowest : the lowest peak lag, None if not known
    """
    most = most_lag(judged.now)
    said = [most]
    if lowest is not None and most and peak_lag(judged.now):
        said.append(needed(judged, lowest))
    return tuple(judged.group.nouns.said(one) for one in said if one)


def needed(judged: Judged, lowest: LowestPeak) -> str:
    """Return sentences on how much more lag the busiest member has now than needed, and why.

    If the lag depends on an assumption, the sentence of `most_lag`, which comes before, names it.

    Parameters
    ----------
    lowest : the lowest peak of the assignments that are as good in the tiers before it
    """
    now, asked = judged.now, () if judged.best is None else judged.best.objective
    before, after = behind(now), behind(lowest.assignment)
    if before is None or after is None or before.peak is None:
        return ""
    more = before.peak - lowest.records
    which = f"assignment {lowest.given}".rstrip()
    if lowest.before == ("balance",):
        which = "balanced assignment"
    if more > 0:
        given = _if_read(judged, lowest.assignment)
        many = "" if MOVES in lowest.before else "any number of moves"
        by = " and ".join(filter(None, (lowest.given.removeprefix("with "), many)))
        said = f"With {by}, the busiest" if by else "The busiest"
        said += f" {now.group.nouns.member} can have {lowest.records:,} of lag"
        if lowest.proved:
            said += f"{given}, and no less: {more:,} less than now."
        else:
            said += f" or less{given}: at least {more:,} less than now. It cannot have less than "
            said += f"{lowest.bound:,}."
        if asked and all(TIERS[tier].needs != "lag" for tier in asked):
            said += f" The objective, {in_words(asked)}, does not look at lag."
        if None not in (before.longest, after.longest) and len(set(after.rates)) == 1:
            said += f" That is {_time(after.longest)} to catch up, not {_time(before.longest)}."
        elif None not in (before.longest, after.longest):
            said += f" Catching up then takes {_time(after.longest)}, not {_time(before.longest)}."
    elif lowest.proved:
        less = "less" if more == 0 else f"less than {lowest.records:,}"
        said = f"No {which} has {less} on one member."
        if more == 0 and lowest.before == ("balance",):
            said = f"The assignor is not at fault: n{said[1:]}"
    else:
        said = f"No {which} has less than {lowest.bound:,} on one member; the best known has "
        said += f"{lowest.records:,}."
    if if_latest(now.group):
        said = f"If so, {said[0].lower()}{said[1:]}"
    if not lowest.in_time:
        said += " The search stopped early: time was up."
    return f"{said}{_because(now.group, lowest.records)}"


def least_of_as_good(judged: Judged) -> str:
    """Return the sentence that of equally good assignments the target has least lag.

    Empty if there was no search for that.
    """
    if judged.least_lag is None or judged.target is None:
        return ""
    found = "" if judged.least_lag else " that was found"
    good, given = "as good", _if_read(judged, judged.target)
    tiers = () if judged.best is None else judged.best.objective
    if kept_beside_lag(tiers) != tiers:
        good = "as good with as few moves"
    if given == WHOEVER:
        return f"Of all assignments {good}{given}, this one has the least peak lag{found}."
    return f"Of all assignments {good}, this one has the least peak lag{found}{given}."


def _if_read(judged: Judged, assignment: Assignment) -> str:
    """Return what an assignment assumes of unknown subscriptions; empty if all are known."""
    if judged.group.subscription_known.all():
        return ""
    most, readers = judged.lowest, assignment.group.readers
    alike = most is not None and np.array_equal(most.group.readers, readers)
    return f" if {ALL_ALIKE}" if alike else WHOEVER


def not_compared(groups: Sequence[Group]) -> str:
    """Return the note on groups whose lag is too large to add up and compare; empty if none."""
    names = [group.name for group in groups if _adds_up_too_high(group)]
    if not names:
        return ""
    whose = few([repr(name) for name in names])
    return f"peak lag: not compared for {whose}, whose lag adds up to 2^62 records or more"


def _adds_up_too_high(group: Group) -> bool:
    lag = group.lag_records
    if lag is None or float(lag.sum(dtype=float)) < SAFE_TOTAL / 2:
        return False
    total: int = sum(lag[lag > 0].tolist())
    return total >= SAFE_TOTAL


def sentence_on_hottest(group: Group, peak: int) -> str:
    """Return the sentence on the hottest partition's part in a peak; empty if no lag is known.

    If the lag depends on an assumption, an earlier sentence has to name it.

    Parameters
    ----------
    peak : the least lag that the busiest member can have
    """
    found = hottest(group)
    if found is None:
        return ""
    if found.records >= peak:
        return least_by_hottest(found, group.nouns)
    return f"{hottest_alone(found, group.nouns)}, however many members there are."


def hottest_alone(hot: Hottest, nouns: Nouns, what: str = "lag") -> str:
    """Return the beginning of a sentence on the partition with the most lag, or weight.

    It is ``One partition (t-0) alone has 1,200 of lag``.
    """
    name = nouns.one(hot.topic, hot.partition)
    return f"One partition ({name}) alone has {hot.records:,} of {what}"


def least_by_hottest(hot: Hottest, nouns: Nouns, what: str = "lag") -> str:
    """Return the sentence that the busiest member cannot have less than one partition alone."""
    why = "no assignment can put less on its member, however many members there are"
    return f"{hottest_alone(hot, nouns, what)}: {why}."


def peak_found(solution: Solution) -> str:
    """Return sentences on the peak that a solution reaches, and its distance from the best.

    Empty if the objective has no peak, or no assignment was found.
    """
    term = next((term for term in solution.terms if term.name in LAG_PEAKS), None)
    if term is None or solution.assignment is None:
        return ""
    now = Assignment.current(solution.group)
    before, after = behind(now), behind(solution.assignment)
    if before is None or after is None or before.peak is None or after.peak is None:
        said = ""
    elif not now.is_valid:
        said = f"Most lag on one member: {after.peak:,}, with all partitions assigned."
    else:
        given = if_latest(solution.group)
        said = _fall(before.peak, after.peak, f", {given}" if given else "")
        if before.longest is not None and after.longest is not None:
            said += f" To catch up takes {_time(after.longest)}, not {_time(before.longest)}."
            if before.longest == after.longest:
                said = said.rpartition(",")[0] + "."
    if term.bound is None:
        return f"{said} How much less is possible is not known."
    if term.bound < term.value:
        share = 100 * (term.value - term.bound) / term.value
        return f"{said} Not proved: the best may have up to {share:.2g}% less."
    if term.name == "peak_lag":
        return f"{said} {sentence_on_hottest(solution.group, term.value)}"
    return said


def _fall(now: int, then: int, given: str) -> str:
    if not now:
        return f"Most lag on one member: {then:,}{given}."
    if then == now:
        return f"Most lag on one member: {then:,}, as now{given}."
    by, way = percent(abs(now - then), now), "less" if then < now else "more"
    return f"Most lag on one member: {then:,}, now {now:,} ({by} {way}){given}."


def _because(group: Group, peak: int) -> str:
    """Return the sentence on a partition with at least nine tenths of the peak; empty if none."""
    found = hottest(group)
    if found is None or 10 * found.records < 9 * peak:
        return ""
    return f" {sentence_on_hottest(group, peak)}"


def _time(seconds: int | None) -> str:
    return "?" if seconds is None else duration(seconds)
