"""History: how a group changed over its captures: steadily worse, or good and bad in turns.

"Steadily worse" is the trend test of Mann (1945) and Kendall (1975). It only counts pairs of
captures that rise, so captures need not be at even intervals, and one peak is no trend. A step
needs no test: every capture since then is worse than every one before; of lag, which goes up and
down, twice as much.
"""

from __future__ import annotations

from collections import Counter
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from compare.lag.behind import waiting_in
from compare.verdict import BAD, DEPENDS, GOOD, distance
from groups.wording import counted, few

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from compare.judged import Judged

# Standard deviations: by chance, at most one in 740 groups of independent captures reaches it.
LEAST_Z = 3.0
LEAST_TURNS = 4
# A value that exceeds all before it less often does not rise steadily.
LEAST_RISES = 3
# So many captures are on each side of a step.
LEAST_BESIDE = 2
# Fewer captures show nothing; of more, only the last ones are compared.
LEAST_CAPTURES, MOST_CAPTURES = LEAST_TURNS + 1, 500
# Lag in all captures after a step is more than so many times that in all before.
LEAST_GROWTH = 2
What = Literal["balance", "step", "lag", "lag_step", "turns", "open"]
WHAT: tuple[What, ...] = get_args(What)
OF_LAG = ("lag", "lag_step")


class Capture(NamedTuple):
    """A capture of a group.

    Attributes
    ----------
    captured_at : ISO 8601
    says, tier, at_least : of its verdict, as in `compare.verdict.Verdict`; None without a verdict
    lag : total lag in records; None if unknown
    """

    captured_at: str
    says: str | None
    tier: str | None
    at_least: int | None
    lag: int | None

    @property
    def above(self) -> int | None:
        """How far its balance is above the best; None if unknown."""
        return distance(self.says, self.at_least if self.tier == "balance" else None)


class Trend(NamedTuple):
    """A change of a group over its captures.

    Attributes
    ----------
    group : its name
    what : ``balance`` or ``lag`` if that got steadily worse; ``step`` if balance did not, but is
        worse in all captures since one of them than in all before; ``lag_step`` the same of lag,
        if it is more than twice as much; ``turns`` if the group became improvable or not valid,
        and good again, several times; ``open`` if balance shows no trend in the captures in which
        it is known, and depends on who reads what in others
    first, last : how far balance was above the best, or lag in records; for turns, 0 and their
        number; for open ones, 0 and the number of captures in which balance is not known
    captures : number of captures in which this was known; of a step, those after it
    since : time of the first capture after a step, ISO 8601; None for all else
    """

    group: str
    what: What
    first: int
    last: int
    captures: int
    since: str | None = None

    @property
    def more(self) -> int:
        """How much worse it got."""
        return self.last - self.first

    def told(self) -> str:
        """Return the change in words."""
        over = f"in {counted(self.captures, 'capture')}"
        if self.what == "turns":
            return f"{self.group} changed {counted(self.last, 'time')} {over}"
        if self.what == "open":
            return f"{self.group} in {self.last:,} of {counted(self.captures, 'capture')}"
        what = "records" if self.what in OF_LAG else "above the best"
        if self.since is not None:
            over = f"in all {counted(self.captures, 'capture')} since {self.since}"
        return f"{self.group} from {self.first:,} to {self.last:,} {what} {over}"


SAID = {
    "balance": "Balance gets steadily worse",
    "step": "Balance is worse than before",
    "lag": "Total lag grows steadily",
    "lag_step": "Total lag is more than twice what it was before",
    "turns": "Good, and improvable or not valid, in turns",
    "open": "Balance depends on who reads what, so whether it gets worse is open",
}


def changes_of(group: str, captures: Iterable[Capture]) -> list[Trend]:
    """Return the changes of a group over its captures; of several at one time, the last counts."""
    ordered = sorted({one.captured_at: one for one in captures}.values())[-MOST_CAPTURES:]
    found = []
    balance = [(one.captured_at, one.above) for one in ordered if one.above is not None]
    lag = [(one.captured_at, one.lag) for one in ordered if one.lag is not None]
    unknown = sum(one.says == DEPENDS for one in ordered)
    kinds: tuple[tuple[What, What, int], ...] = (
        ("balance", "step", 1),
        ("lag", "lag_step", LEAST_GROWTH),
    )
    for (what, step, growth), series in zip(kinds, (balance, lag), strict=True):
        values = [value for _, value in series]
        if _rises(values) >= LEAST_RISES:
            found.append(Trend(group, what, values[0], values[-1], len(values)))
        elif series is balance and unknown and values:
            found.append(Trend(group, "open", 0, unknown, len(ordered)))
        elif at := _step(values, growth):
            since, after = series[at][0], len(values) - at
            found.append(Trend(group, step, values[at - 1], values[-1], after, since))
    sure = [one.says in BAD for one in ordered if one.says == GOOD or one.says in BAD]
    turns = sum(one != after for one, after in pairwise(sure))
    if turns >= LEAST_TURNS:
        found.append(Trend(group, "turns", 0, turns, len(sure)))
    return found


def _rises(values: Sequence[int]) -> int:
    """Return how often a value exceeds all before it; 0 if there is no trend up."""
    if not values or values[-1] <= values[0] or trend(values) < LEAST_Z:
        return 0
    return sum(one > before for before, one in pairwise(accumulate(values, max)))


def _step(values: Sequence[int], growth: int) -> int:
    """Return the index of the first value from which on all exceed all before; 0 without one.

    Parameters
    ----------
    growth : they exceed so many times the values before
    """
    most = [*accumulate(values, max)]
    least = [*accumulate(reversed(values), min)][::-1]
    places = range(LEAST_BESIDE, len(values) - LEAST_BESIDE + 1)
    if len(values) < LEAST_CAPTURES:
        return 0
    return next((at for at in places if least[at] > growth * most[at - 1]), 0)


def trend(values: Sequence[int]) -> float:
    """Return how many standard deviations more pairs of values rise than by chance.

    It is the statistic z of Mann and Kendall, with the usual corrections for ties and continuity.

    Examples
    --------
    >>> round(trend(range(7)), 2), trend([4] * 9), trend(range(9, 0, -1)) < 0
    (3.0, 0.0, True)
    """
    count = len(values)
    given = np.asarray(values, np.float64)
    rises = int(np.sign(given[None, :] - given[:, None])[np.triu_indices(count, 1)].sum())
    _, ties = np.unique(given, return_counts=True)

    def spread(many: int) -> int:
        return many * (many - 1) * (2 * many + 5)

    variance = (spread(count) - sum(map(spread, ties.tolist()))) / 18
    if not rises or variance <= 0:
        return 0.0
    return float((rises - np.sign(rises)) / np.sqrt(variance))


def history_of(judged: Sequence[Judged]) -> list[Trend]:
    """Return the changes of groups that were captured several times, in the order of `ordered`."""
    series: dict[str, list[Capture]] = {}
    for one in judged:
        if one.group.captured_at is not None:
            verdict, at, lag = one.verdict, one.group.captured_at, waiting_in(one.group)[0]
            capture = Capture(at, verdict.says, verdict.tier, verdict.at_least, lag)
            series.setdefault(one.group.name, []).append(capture)
    found = [
        change
        for name, captures in series.items()
        if len(captures) >= LEAST_CAPTURES
        for change in changes_of(name, captures)
    ]
    return ordered(found)


def ordered(changes: Iterable[Trend]) -> list[Trend]:
    """Return changes sorted by kind, largest first within each."""
    return sorted(changes, key=lambda one: (WHAT.index(one.what), -one.more, one.group))


def sentences_of(changes: Sequence[Trend], counts: Mapping[str, int] | None = None) -> list[str]:
    """Return a sentence for each kind of change, with the groups that changed most.

    Parameters
    ----------
    changes : as `ordered` returns them
    counts : number of groups with each kind of change; None: those in `changes`
    """
    many: Mapping[str, int] = Counter(one.what for one in changes) if counts is None else counts
    return [
        f"{SAID[what]}: {few(named, many.get(what))}."
        for what in WHAT
        if (named := [one.told() for one in changes if one.what == what])
    ]
