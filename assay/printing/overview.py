"""Overview for people: a sentence about many groups, then a line a group, worst first."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from assay.printing.over_groups import print_over_groups
from assay.printing.table import Table, with_notes
from assay.printing.terminal import tell
from assay.streams import show
from compare.judged import worst_first
from compare.lag.condition import which_if_latest
from compare.lag.without_reader import sentences_without_reader
from compare.lag.words import not_compared
from compare.overview import GUESSES, is_lagging, latest_of, overview_of
from compare.sentences import EVEN_LAGGING, called
from groups.wording import counted, duration, few, rounded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from compare.judged import Judged
    from compare.lag.lowest import LowestPeak
    from compare.overview import Glance, Overview
    from compare.scores import Score
    from groups.errors import Failure
    from groups.tiers import Objective

MOST_QUESTIONS = 5


def print_groups(
    judged: Sequence[Judged],
    lowest: Sequence[LowestPeak | None],
    tiers: Objective,
    files: Sequence[str],
    unread: Sequence[Failure],
    not_had: Sequence[Failure] = (),
    rows: Sequence[Sequence[Score]] = (),
) -> None:
    """Print a sentence about all groups, then a line for each, worst first.

    Parameters
    ----------
    lowest : (groups,) the lowest peak of each
    unread : what could not be read
    not_had : groups that could not be judged in the state they were in
    rows : what was scored of each that counts, nothing where nobody named an assignor
    """
    overview = overview_of(judged, lowest, [*not_had, *unread])
    counting = latest_of(judged)
    ordered = [judged[i] for i in worst_first(judged) if i in counting]
    tell(overview.sentence())
    for said in overview.history():
        tell(said)
    print_not_read(unread)
    show("")
    missed = {one.about: "not judged" for one in (*not_had, *unread)}
    missed |= dict.fromkeys(overview.rebalancing, "rebalancing")
    if print_lines(overview.worst, missed):
        _print_meaning_of_lag(overview.worst, tiers)
        if said := which_if_latest([one.now.group for one in ordered]):
            tell(said)
        if said := not_compared([one.group for one in ordered]):
            tell(said)
    for said in sentences_without_reader([one.group for one in ordered]):
        tell(said)
    print_notes(overview)
    names = " ".join(shlex.quote(file) for file in files)
    show(f"{in_words(tiers)}; one in full: assay score --group NAME {names}")
    if rows:
        show("")
        print_over_groups(rows, tiers)


def print_not_read(unread: Sequence[Failure]) -> None:
    """Print what could not be read, where there is something."""
    if unread:
        tell(f"Not read, see the messages: {few(list(dict.fromkeys(f.about for f in unread)))}.")


def print_lines(
    worst: Sequence[Glance],
    not_judged: Mapping[str, str],
    *,
    several: bool = False,
) -> bool:
    """Print a line for each group; say whether some have a lag.

    Parameters
    ----------
    not_judged : names of groups, or places, without a verdict, and what is shown instead of it
    several : whether a group is there more than once, also where no two of its lines are shown
    """
    lags = [_peak_lags(one) for one in worst]
    times_behind = [_catch_up(one) for one in worst]
    # A group that is there more than once is told by when it was captured, in a second column.
    times = int(several or len({one.name for one in worst}) < len(worst))
    heads = [
        "group",
        *["captured at"] * times,
        "members",
        "partitions",
        "loads now",
        "best loads",
        "verdict",
        "moves",
    ]
    idle = any(one.idle for one in worst)
    heads += ["idle"] * idle
    behind_heads = {"peak lag now / best": lags, "catch-up now / best": times_behind}
    shown = {
        head: with_notes(cells)
        for head, cells in behind_heads.items()
        if any(now != "-" for now, _ in cells)
    }
    # Without a rate nothing but nought is known.
    if not any(one.longest for one in worst):
        shown.pop("catch-up now / best", None)
    heads += shown
    right = [times + column for column in (1, 2, 3, 4, 6, 7, 8, 9)]
    whole = [*[1] * times, times + 5]
    table = Table(*heads, right=right, whole=whole, gives_way=[times + 2, times + 1])
    for i, one in enumerate(worst):
        says, moves = one.verdict.says + " *" * bool(one.verdict.condition), one.moves
        if is_lagging(one) and one.fall is not None:
            says, moves = f"{EVEN_LAGGING}{says[len(one.verdict.says) :]}", one.fall.moves
        if one.verdict.says == "nobody reads":
            says += f": {rounded(one.verdict.waiting or 0)}"
        if one.without_owner:
            says = f"{counted(one.without_owner, 'partition')} without owner"
        time, nothing = [one.captured_at] * times, [one.idle] * idle
        cells = [one.members, one.partitions, one.now, one.best, says, moves]
        lag = [column[i] for column in shown.values()]
        table.add(one.name, *time, *cells, *nothing, *lag)
    for name, instead in not_judged.items():
        blank = [None] * (len(heads) - times - 6)
        table.add(name, *[None] * (times + 4), instead, *blank)
    table.show()
    return bool(shown)


def print_notes(overview: Overview) -> None:
    """Print what is not in the texts, what would decide a verdict, and on what one depends."""
    print_guessed(overview.guessed, overview.now)
    asked = [one for one in overview.worst if one.verdict.question]
    for one in asked[:MOST_QUESTIONS]:
        tell(f"{one.name}: {one.verdict.question}")
    if overview.questions > len(asked[:MOST_QUESTIONS]):
        more = overview.questions - len(asked[:MOST_QUESTIONS])
        show(f"and {counted(more, 'question')} more: see each in full")
    conditions = {one.verdict.condition for one in overview.worst}
    for condition in sorted(filter(None, conditions)):
        show(f"* if {condition}")


def print_guessed(guessed: Mapping[str, int], captured: int) -> None:
    """Print what some of the groups rest on that is not in their texts.

    Parameters
    ----------
    guessed : of each guess in `GUESSES`, how many groups rest on it
    captured : how many groups there are
    """
    for said, what in GUESSES.items():
        if count := guessed.get(said, 0):
            tell(f"not in the text of {count:,} of {counted(captured, 'group')}: {what}")


def in_words(tiers: Objective) -> str:
    """Return an objective in one line."""
    return " > ".join(map(called, tiers))


def _print_meaning_of_lag(worst: Sequence[Glance], tiers: Objective) -> None:
    """Print what the best peak lag is the best of, and that some are not proved."""
    known = [one for one in worst if one.peak is not None and one.lowest is not None]
    if not known:
        return
    which = f"the best in {' > '.join(tiers)}" if "peak_lag" in tiers else "balanced loads"
    unproved = any(not one.lowest_proved for one in known)
    tell(
        f"peak lag: of the member with most; best: the lowest that {which} can have"
        f"{'; ~ as far as known' if unproved else ''}"
    )


def _peak_lags(one: Glance) -> tuple[str, str]:
    """Return the peak lag now, and the lowest that there can be; ~ where that is not proved."""
    if one.peak is None:
        return "-", ""
    return rounded(one.peak), _best(one, one.lowest, rounded)


def _catch_up(one: Glance) -> tuple[str, str]:
    """Return the longest time to catch up now, and with the lowest peak where rates are equal."""
    if one.longest is None:
        return "-", ""
    return duration(one.longest), _best(one, one.longest_best, duration)


def _best(one: Glance, value: int | None, told: Callable[[int], str]) -> str:
    return " / -" if value is None else f" / {'' if one.lowest_proved else '~'}{told(value)}"
