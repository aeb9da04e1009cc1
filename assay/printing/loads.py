"""Loads of one group's members: a line and a bar each, the most uneven first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.printing.lag import members_behind
from assay.printing.table import Table
from assay.printing.terminal import bar
from assay.streams import show
from compare.lag.behind import behind

if TYPE_CHECKING:
    from compare.judged import Judged

MOST_MEMBERS = 12
WIDEST_BAR = 20


def print_loads(judged: Judged) -> None:
    """Print the members whose load should change, and who gives what to whom.

    Where nothing should, or it is not sure, print what the members hold, if it differs by more
    than one.
    """
    best = judged.target
    if best is not None and judged.verdict.says == "improvable":
        _print_changes(judged)
    elif len(judged.now.loads) and np.ptp(judged.now.loads) > 1:
        _print_uneven(judged)


def _print_changes(judged: Judged) -> None:
    best = judged.target
    if best is None:
        return
    now, then, members = judged.now.loads, best.loads, judged.group.members
    lags = members_behind(behind(judged.now), behind(best))
    changed = np.flatnonzero(now != then)
    if not len(changed):
        before, after = (one.owner[best.moved] for one in (judged.now, best))
        changed = np.union1d(before, after)
    changed = changed[np.argsort(-np.abs(now[changed] - then[changed]), kind="stable")]
    gives: dict[str, list[str]] = {}
    for (origin, target), count in best.moves_by_pair().items():
        gives.setdefault(origin, []).append(f"{count} to {target}")
    right = range(4, 4 + len(lags))
    heads = ("member", "", "now", "best", *lags, "gives")
    table = Table(*heads, whole=[1], right=right, gives_way=[1])
    for member in changed[:MOST_MEMBERS].tolist():
        name = members[member]
        late = [column[member] for column in lags.values()]
        given = ", ".join(gives.get(name, [])).replace(", ", ",\0").split("\0")
        table.add(name, _bar(judged, member), now[member], then[member], *late, given)
    table.show()
    _say_how_many_more(len(changed))


def _print_uneven(judged: Judged) -> None:
    now, members = judged.now.loads, judged.group.members
    uneven = np.argsort(-np.abs(now - now.mean()), kind="stable")
    shown = sorted(uneven[:MOST_MEMBERS].tolist(), key=lambda member: (-now[member], member))
    table = Table("member", "", "now", whole=[1])
    for member in shown:
        table.add(members[member], _bar(judged, member), now[member])
    table.show()
    _say_how_many_more(len(members))


def _bar(judged: Judged, member: int) -> str:
    now = judged.now.loads
    return bar(int(now[member]), most=int(now.max(initial=1)), width=WIDEST_BAR)


def _say_how_many_more(members: int) -> None:
    if members > MOST_MEMBERS:
        show(f"and {members - MOST_MEMBERS:,} more")
