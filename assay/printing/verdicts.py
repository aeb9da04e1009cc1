"""Verdicts for people: a line a group, or one group with its members and assignors."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from assay.printing.loads import print_loads
from assay.printing.one_group import print_rows
from assay.printing.over_groups import print_over_groups
from assay.printing.table import Table, with_notes
from assay.printing.terminal import tell
from assay.streams import show
from compare.gains import early_gain
from compare.lag.behind import behind, most_lag
from compare.lag.words import needed, not_compared
from compare.score import scores_document
from compare.sentences import moves_needed, sentence, spread, summary
from compare.verdict import worst_first
from groups.columns.offsets import latest_assumed
from groups.wording import counted, duration, few, rounded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.lag.lowest import LowestPeak
    from compare.score import Score
    from compare.verdict import Judged
    from groups import Group
    from groups.tiers import Objective
    from optimal.solution import Solution

MOST_QUESTIONS = 5


def document(
    judged: Judged,
    reference: Solution | None,
    rows: Sequence[Score],
    tiers: Objective,
    assumed: Sequence[str],
) -> dict[str, object]:
    """Return the ``assay-scores/1`` document of a group, with its verdict."""
    if reference is None:
        found: dict[str, object] = {
            "format": "assay-scores/1",
            "group": judged.group.name,
            "objective": list(tiers),
            "optimum": {"status": "unknown", "terms": []},
            "scores": [],
        }
    else:
        found = scores_document(judged.group, reference, rows)
    return {
        **found,
        "captured_at": judged.group.captured_at,
        "verdict": judged.verdict.to_dict(),
        "question": judged.verdict.question,
        "assumed": list(assumed),
    }


def print_groups(
    judged: Sequence[Judged],
    lowest: Sequence[LowestPeak | None],
    tiers: Objective,
    files: Sequence[str],
    unread: Sequence[str],
    not_had: Sequence[str] = (),
    rows: Sequence[Sequence[Score]] = (),
) -> None:
    """Print a sentence about all groups, then a line for each, worst first.

    Parameters
    ----------
    lowest : (groups,) the lowest peak of each
    unread : names of groups, or places, that could not be read
    not_had : names of groups that could not be judged in the state they were in
    rows : (groups,) what was scored of each, nothing where nobody named an assignor
    """
    order = worst_first(judged)
    worst = [judged[i] for i in order]
    tell(summary(worst))
    if unread:
        tell(f"Not read, see the messages: {few(list(dict.fromkeys(unread)))}.")
    show("")
    lags = [_peak_lags(judged[i], lowest[i]) for i in order]
    times_behind = [_catch_up(judged[i], lowest[i]) for i in order]
    # A group that is there more than once is told by when it was captured, in a second column.
    times = int(len({one.group.name for one in worst}) < len(worst))
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
    idle = [len(one.now.idle) if one.best is not None else 0 for one in worst]
    heads += ["idle"] * any(idle)
    behind_heads = {"peak lag now / best": lags, "catch-up now / best": times_behind}
    shown = {
        head: with_notes(cells)
        for head, cells in behind_heads.items()
        if any(now != "-" for now, _ in cells)
    }
    heads += shown
    right = [times + column for column in (1, 2, 3, 4, 6, 7, 8, 9)]
    whole = [*[1] * times, times + 5]
    table = Table(*heads, right=right, whole=whole, gives_way=[times + 2, times + 1])
    for i, (one, none) in enumerate(zip(worst, idle, strict=True)):
        name, *cells = _line(one)
        time, nothing = [one.group.captured_at] * times, [none] * any(idle)
        table.add(name, *time, *cells, *nothing, *(column[i] for column in shown.values()))
    for name in dict.fromkeys((*not_had, *unread)):
        blank = [None] * (len(heads) - times - 6)
        table.add(name, *[None] * (times + 4), "not judged", *blank)
    table.show()
    if shown:
        _print_meaning_of_lag(lags, tiers)
        _print_latest_assumed([one.group for one in worst])
        if said := not_compared([one.group for one in worst]):
            tell(said)
    _print_guesses([one.group for one in worst])
    _print_notes(worst, tiers, files)
    if rows:
        show("")
        print_over_groups(rows, tiers)


def _print_meaning_of_lag(lags: Sequence[tuple[str, str]], tiers: Objective) -> None:
    """Print what the best peak lag is the best of, and that some are not proved."""
    if not any(best.strip(" /-") for _, best in lags):
        return
    which = f"the best in {' > '.join(tiers)}" if "peak_lag" in tiers else "balanced loads"
    unproved = any("~" in best for _, best in lags)
    tell(
        f"peak lag: of the member with most; best: the lowest that {which} can have"
        f"{'; ~ as far as known' if unproved else ''}"
    )


def _print_guesses(groups: Sequence[Group]) -> None:
    """Print of how many groups the text leaves out what could change the verdict."""
    for said, what in (
        ("members: those that hold", "members that hold nothing, add --describe --members"),
        ("highest number seen", "partition counts beyond those seen, add kafka-topics --describe"),
    ):
        count = sum(any(said in line for line in group.assumed) for group in groups)
        if count:
            tell(f"not in the text of {count} of {counted(len(groups), 'group')}: {what}")


def _print_latest_assumed(groups: Sequence[Group]) -> None:
    """Print on how many partitions the lag is nought because nobody said what is reset."""
    known = [(group.offsets, group.auto_offset_reset, group.partitions) for group in groups]
    count = sum(latest_assumed(*one) for one in known)
    if count:
        partitions = counted(count, "partition")
        counts = "counts" if count == 1 else "count"
        tell(
            f"lag: {partitions} without a commit {counts} as 0, as with auto.offset.reset=latest, "
            "which is assumed; see --reset"
        )


def _line(judged: Judged) -> list[object]:
    verdict, group, best = judged.verdict, judged.group, judged.target
    return [
        group.name,
        len(group.members),
        group.n_partitions,
        spread(judged.now.loads) if judged.best is not None else None,
        None if best is None or verdict.question else spread(best.loads),
        f"{verdict.says}{' *' if verdict.condition else ''}",
        _moves(judged),
    ]


def _print_notes(worst: Sequence[Judged], tiers: Objective, files: Sequence[str]) -> None:
    asked = [one for one in worst if one.verdict.question]
    for one in asked[:MOST_QUESTIONS]:
        tell(f"{one.group.name}: {one.verdict.question}")
    if len(asked) > MOST_QUESTIONS:
        show(f"and {counted(len(asked) - MOST_QUESTIONS, 'question')} more: see each in full")
    conditions = {one.verdict.condition for one in worst if one.verdict.condition}
    for condition in sorted(filter(None, conditions)):
        show(f"* if {condition}")
    names = " ".join(shlex.quote(file) for file in files)
    what = " > ".join("moves" if tier == "stickiness" else tier for tier in tiers)
    show(f"{what}; one in full: assay score --group NAME {names}")


def print_group(
    judged: Judged,
    reference: Solution | None,
    rows: Sequence[Score],
    lowest: LowestPeak | None = None,
    chosen: LowestPeak | None = None,
) -> None:
    """Print what is known of one group, its members' loads, and a row for each assignor.

    Parameters
    ----------
    lowest : the lowest peak lag, None where it is not known
    chosen : why it is this one of all as good, None where nothing was searched
    """
    tell(sentence(judged))
    if gain := early_gain(judged):
        tell(gain)
    if lag := most_lag(judged.now):
        tell(lag)
        if lowest is not None and (said := needed(judged.now, lowest)):
            tell(said)
        if lowest is None and (said := not_compared([judged.group])):
            tell(said)
    if rows and reference is not None:
        print_loads(judged)
        if chosen is not None:
            least = "least peak lag" if chosen.proved else "least peak lag that was found"
            tell(f"of all as good it has the {least}: {' > '.join((*chosen.before, 'peak_lag'))}")
        print_rows(reference, rows, lowest)


def _moves(judged: Judged) -> int | None:
    if judged.verdict.says == "as good as can be":
        return 0
    return moves_needed(judged) if judged.verdict.says == "improvable" else None


def _peak_lags(judged: Judged, lowest: LowestPeak | None) -> tuple[str, str]:
    """Return the peak lag now, and the lowest that there can be; ~ where that is not proved."""
    found = behind(judged.now)
    if found is None or found.peak is None:
        return "-", ""
    if lowest is None:
        return rounded(found.peak), " / -"
    return rounded(found.peak), f" / {'' if lowest.proved else '~'}{rounded(lowest.records)}"


def _catch_up(judged: Judged, lowest: LowestPeak | None) -> tuple[str, str]:
    """Return the longest time to catch up now, and with the lowest peak where rates are equal."""
    found = behind(judged.now)
    if found is None or found.longest is None:
        return "-", ""
    there = None if lowest is None else behind(lowest.assignment)
    if lowest is None or there is None or there.longest is None or len(set(there.rates)) > 1:
        return duration(found.longest), " / -"
    return duration(found.longest), f" / {'' if lowest.proved else '~'}{duration(there.longest)}"
