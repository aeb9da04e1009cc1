"""Over time: figures of groups over their captures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compare.fleet.tables import stored
from compare.history import OF_LAG
from compare.page.drawing import as_csv, drawn
from compare.verdict import WORST_FIRST, distance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.figures.rows import Record
    from compare.fleet.aggregates import Aggregates
    from compare.overview import Glance
    from compare.page.drawing import Drawing

MOST_GROUPS = 12
MOST_CAPTURES = 400
VERDICTS = "For each time of capture (to the right) how many groups have each verdict (up)."
MOVES = (
    "For each capture (to the right) how many partitions have to move to the best (up), of groups "
    "that changed most and of those that are worst now. A gap is a capture of which that is not "
    "known."
)
LAG = "For each capture (to the right) how many records the members of a group are behind (up)."


def over_time(
    folder: str,
    objective: str,
    found: Aggregates,
    worst: Sequence[Glance],
) -> tuple[Drawing, ...]:
    """Return figures over time: groups by verdict, and moves and lag of some groups.

    Parameters
    ----------
    worst : groups, the worst first
    """
    drawings, changes = [], found.changes()
    verdicts = _verdicts(found)
    if len({row["captured_at"] for row in verdicts}) > 1:
        drawings.append(_drawing(verdicts, "groups", "Verdicts over time", VERDICTS))
    names = [one.group for one in changes if one.what not in OF_LAG]
    names += [one.name for one in worst if one.captured_at is not None]
    moves, _ = _moves_and_lag(folder, objective, list(dict.fromkeys(names))[:MOST_GROUPS])
    if any(row["value"] is not None for row in moves):
        drawings.append(
            _drawing(moves, "partitions to move to the best", "Groups over time", MOVES)
        )
    names = [one.group for one in changes if one.what in OF_LAG]
    if names:
        _, lag = _moves_and_lag(folder, objective, names[:MOST_GROUPS])
        drawings.append(_drawing(lag, "records of lag", "Lag that grows", LAG))
    return tuple(drawings)


def whole_time(at: str | None) -> str | None:
    """Return a time that was cut to the month, hour or minute as a whole ISO time or date.

    Examples
    --------
    >>> whole_time("2026-11-20T10"), whole_time("2026-11")
    ('2026-11-20T10:00:00Z', '2026-11-01')
    """
    if at is None or len(at) not in (7, 13, 16):
        return at
    return f"{at}-01" if len(at) == 7 else f"{at}{':00:00' if len(at) == 13 else ':00'}Z"


def _verdicts(found: Aggregates) -> list[Record]:
    rows = [row for row in found.rows("trend", "captured_at", "label") if row["label"]]
    rows.sort(key=lambda row: (row["captured_at"], WORST_FIRST.index(row["label"])))
    return [
        {
            "captured_at": whole_time(row["captured_at"]),
            "group": row["label"],
            "value": row["count"],
        }
        for row in rows
    ]


def _moves_and_lag(folder: str, objective: str, names: Sequence[str]) -> list[list[Record]]:
    """Return rows of moves to the best, and rows of lag, of groups with several captures."""
    columns = ("key", "group", "captured_at", "objective", "verdict", "lag")
    captures: dict[str, dict[str, tuple[int | None, int | None]]] = {}
    for row in stored(folder, "optima", columns, by="group", keys=names).to_pylist():
        # A group that could not be solved has no verdict, but it has its lag.
        verdict = row["verdict"] or {"says": None, "to_move": None}
        if row["objective"] == objective and row["captured_at"]:
            value = distance(verdict["says"], verdict["to_move"])
            captures.setdefault(row["group"], {})[row["captured_at"]] = value, row["lag"]
    return [
        [
            {"captured_at": at, "group": name, "value": values[which]}
            for name in names
            if len(captures.get(name, ())) > 1
            for at, values in sorted(captures[name].items())[-MOST_CAPTURES:]
        ]
        for which in (0, 1)
    ]


def _drawing(rows: list[Record], what: str, title: str, told: str) -> Drawing:
    from compare import figures

    heads = ("captured_at", "group", "value")
    data = as_csv(heads, ([row[head] for head in heads] for row in rows))
    return drawn(figures.trend(rows, what=what), title, told, data)
