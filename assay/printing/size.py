"""A sweep over numbers of members: what is enough, and a row a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.printing.table import Table
from assay.terminal import tell
from compare.sentences import spread
from groups.tiers import LAG_PEAKS
from groups.wording import counted, duration, rounded

if TYPE_CHECKING:
    from compare.sizes.sizing import Size, Sizing
    from compare.sizes.target import Aim, Target


def print_sizing(sizing: Sizing) -> None:
    """Print what is enough and why, then a row for each number of members."""
    partitions, now = counted(sizing.partitions, "partition"), sizing.members_now
    tell(f"{sizing.group}: {partitions}, {counted(now, 'member')} now. {answer(sizing)}".rstrip())
    tell(
        f"A partition is with one member: with more than {sizing.partitions:,} some hold nothing."
    )
    if sizing.hottest is not None:
        topic, number, records = sizing.hottest
        tell(
            f"However many there are, one has at least {rounded(records)} of lag: that of one "
            f"partition ({topic}-{number})."
        )
    tell(sizing.reads)
    _print_rows(sizing)


def answer(sizing: Sizing) -> str:
    """Return how many members the target takes; nothing where there is none."""
    fewer = sizing.smallest_uneven
    if fewer is None:
        return _enough(sizing)
    return (
        f"{_enough(sizing)} {fewer:,} would do if loads may be uneven: "
        f"--objective {next(tier for tier in sizing.objective if tier in LAG_PEAKS)}."
    )


def _enough(sizing: Sizing) -> str:
    target, few, rows = sizing.target, sizing.smallest, sizing.rows
    if target is None:
        return ""
    aim = _aim(target)
    if target.aim in LAG_PEAKS and sizing.objective[0] == "balance":
        aim += " with balanced loads"
    if few is None:
        looked = f"{rows[0].members} to {rows[-1].members}"
        if _is_above_all(sizing, target):
            return f"No number of members is enough {_aim(target)}."
        none = "No number" if sizing.sure else "No number is known that"
        return f"{none} from {looked} is enough {aim}.{_least(sizing, target)}"
    enough = [row.members for row in rows if row.meets]
    if any(row.members > few and row.meets is False for row in rows):
        # More members are not always enough: loads are even where they divide the partitions.
        named = ", ".join(map(str, enough[:-1])) + " and " * (len(enough) > 1) + str(enough[-1])
        members = f"{named} member{'' if enough == [1] else 's'}"
        if not target.at_most:
            return f"Loads are even with {members}, and with no other number tried."
        are = "is" if enough == [1] else "are"
        return f"{members} {are} enough {aim}; no other number tried is."
    are = "member is" if few == 1 else "members are"
    said = f"{few:,} {are} enough {aim}"
    if few == rows[0].members:
        return f"{said}." if few == 1 else f"{said}; fewer than {few:,} were not tried."
    if not sizing.sure:
        return f"{said}; that fewer are not is not proved."
    before = next(row for row in reversed(rows) if row.members < few)
    value, bound = before.of(target.aim)
    if bound is None:
        return f"{said}."
    exact = "" if value == bound else "at least "
    return f"{said}; with {before.members:,} it is {exact}{_value(target.aim, bound)}."


def _is_above_all(sizing: Sizing, target: Target) -> bool:
    """Return whether the partition with most lag alone is above the target."""
    return (
        target.aim == "peak_lag"
        and sizing.hottest is not None
        and sizing.hottest[2] > target.at_most
    )


def _least(sizing: Sizing, target: Target) -> str:
    """Return what the least is that any of the numbers has."""
    found = [row.of(target.aim)[0] for row in sizing.rows]
    known = [value for value in found if value is not None]
    return f" The least found is {_value(target.aim, min(known))}." if known else ""


def _aim(target: Target) -> str:
    most = _value(target.aim, target.at_most)
    if target.aim == "peak_time":
        return f"to catch up within {most}"
    named = {
        "peak_lag": "peak lag",
        "peak_load": "greatest load",
        "load_spread": "spread of loads",
        "balance": "balance",
    }[target.aim]
    return f"for a {named} of at most {most}"


def _value(aim: Aim, value: int) -> str:
    if aim != "peak_time":
        return f"{value:,}"
    minutes, seconds = divmod(value, 60)
    if minutes and seconds and minutes < 60:
        return f"{minutes} min {seconds} s"
    return duration(value)


def _print_rows(sizing: Sizing) -> None:
    lag = any(row.peak_lag is not None for row in sizing.rows)
    bounds = lag and any(row.peak_lag != row.peak_lag_bound for row in sizing.rows)
    times = any(row.peak_seconds is not None for row in sizing.rows)
    heads = ["members", "loads", "balance"]
    heads += ["peak lag"] * lag + ["at least"] * bounds + ["catch-up"] * times
    table = Table(*heads, "", right=range(len(heads)), gives_way=[2])
    like: dict[int, int] = {}
    for row in sizing.rows:
        cells: list[object] = [row.members, spread([row.least_load, row.most_load]), row.balance]
        if lag:
            cells.append(None if row.peak_lag is None else f"{row.peak_lag:,}")
        if bounds:
            known = row.peak_lag_bound is not None and row.peak_lag_bound != row.peak_lag
            cells.append(f"{row.peak_lag_bound:,}" if known else "")
        if times:
            cells.append(None if row.peak_seconds is None else duration(row.peak_seconds))
        table.add(*cells, _noted(row, like.setdefault(row.most_load, row.members), sizing))
    table.show()
    tell(f"each row: the best assignment of so many members, {' > '.join(sizing.objective)}")
    if bounds:
        tell("at least: where the lowest peak is not proved, no assignment has less")


def _noted(row: Size, like: int, sizing: Sizing) -> str:
    """Return what is to be said of a row.

    Parameters
    ----------
    like : the fewest members with the same greatest load
    """
    notes = []
    if row.members == sizing.members_now:
        notes.append("now")
    if row.members == sizing.smallest:
        notes.append("enough")
    if row.idle:
        notes.append(f"{row.idle} idle")
    elif like < row.members:
        notes.append(f"the fullest as with {like}")
    return ", ".join(notes)
