"""Assignors over several groups: a row each, for people who ask which one to run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.printing.table import Table
from assay.printing.terminal import tell
from compare.unscored import in_a_line, unscored_of
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.scores import Score
    from compare.unscored import NotScored
    from groups.tiers import Objective

MOST_UNSCORED = 10


def print_over_groups(rows: Sequence[Sequence[Score]], tiers: Objective) -> None:
    """Print how each assignor did on all groups, or why none could be tried.

    Parameters
    ----------
    rows : (groups,) what was scored of each
    """
    of: dict[str, list[Score]] = {}
    for row in (row for scored in rows for row in scored):
        of.setdefault(row.assignor, []).append(row)
    first = tiers[0]
    heads = ("assignor", "scored", "valid", "balanced", "as good as can be", f"worst {first}")
    table = Table(*heads, whole=[0])
    shown = 0
    for name, every in sorted(of.items(), key=lambda one: (-_optimal(one[1]), one[0])):
        scored = [row for row in every if row.terms is not None]
        if not scored:
            continue
        shown += 1
        above = [row.terms[0].excess for row in scored if row.terms]
        worst = max((one for one in above if isinstance(one, int)), default=None)
        valid, balanced = sum(bool(r.valid) for r in scored), sum(bool(r.balanced) for r in scored)
        count = f"{len(scored)} of {len(every)}"
        best = _optimal(scored)
        table.add(name, count, valid, balanced, best, None if worst is None else f"+{worst}")
    if shown:
        table.show()
        tell(f"worst {first}: how far it was above the optimum where it was farthest")
    print_unscored(unscored_of(row for scored in rows for row in scored))


def print_unscored(found: Sequence[NotScored]) -> None:
    """Print how many assignors are not scored on every group, and why."""
    if not found:
        return
    tell(in_a_line(found))
    table = Table("assignor", "groups", "status", "reason, for example")
    for one in found[:MOST_UNSCORED]:
        table.add(one.names, one.groups, one.status, one.reason)
    table.show()
    if len(found) > MOST_UNSCORED:
        tell(f"and {counted(len(found) - MOST_UNSCORED, 'row')} more, in the table scores")


def _optimal(rows: Sequence[Score]) -> int:
    """Return on how many groups an assignor was proved to be as good as can be."""
    return sum(row.is_optimal for row in rows)
