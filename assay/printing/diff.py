"""The tables of a diff: what changed between two assignments of a group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.printing.table import Table
from assay.printing.terminal import tell
from assay.streams import show
from compare.diff import loads, unassigned
from compare.sentences import spread
from groups.wording import counted, ranges

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from compare.diff import Diff
    from groups.named_assignment import NamedAssignment

MOST_LINES = 12
MOST_GROUPS = 20
LONGEST = 40


def print_diff(diff: Diff) -> None:
    """Print a sentence, the members whose partitions changed, and what went where."""
    before, after = diff.before, diff.after
    name = "the group" if diff.group is None else diff.group
    if diff.is_empty:
        held = counted(sum(loads(after)), "partition")
        members = counted(len(after.held), "member")
        hold = "holds" if len(after.held) == 1 else "hold"
        tell(f"{name}: the same in both. {members} {hold} {held}.")
        return
    moved = f"{counted(diff.moved, 'partition')} moved"
    for names, verb in ((diff.joined, "joined"), (diff.left, "left")):
        moved += f", {_named(names)} {verb}" if names else ""
    then, now = spread(loads(before)), spread(loads(after))
    kept = f"loads stay {now}" if then == now else f"loads were {then} and are {now}"
    tell(f"{name}: {moved}; {kept}.")
    for what, numbers in (("new", diff.appeared), ("gone", diff.vanished)):
        if numbers:
            tell(f"{what}: {_partitions(numbers)}")
    then_left, now_left = unassigned(before) or {}, unassigned(after) or {}
    if then_left == now_left and now_left:
        tell(f"with nobody, before and after: {_partitions(now_left)}")
    else:
        for when, left in (("before", then_left), ("after", now_left)):
            if left:
                tell(f"with nobody {when}: {_partitions(left)}")
    _print_members(diff)
    _print_moves(diff)
    again = _clients(before, diff.left) & _clients(after, diff.joined)
    if again:
        what = counted(len(again), "client id")
        tell(f"{what} of members that left came back with new members: see --by client-id")


def print_diffs(diffs: Sequence[Diff], before: Collection[str], after: Collection[str]) -> None:
    """Print a line for each group that changed, worst change first, and how many did not.

    Parameters
    ----------
    before, after : the names of the groups on each side
    """
    changed = [diff for diff in diffs if not diff.is_empty or any(diff.harm)]
    worse = [diff for diff in changed if diff.harm > (0, 0, 0)]
    same, otherwise = len(diffs) - len(changed), len(changed) - len(worse)
    tell(
        f"{len(worse)} of {counted(len(diffs), 'group')} got worse, {otherwise} changed without "
        f"getting worse, {same} did not change."
    )
    for names, when in ((before, "before"), (after, "after")):
        if alone := sorted(set(names) - {diff.group for diff in diffs}):
            tell(f"only {when}: {_named(alone, 'group')}")
    if not changed:
        return
    table = Table(
        "group", "moved", "joined", "left", "loads before", "after", "with nobody before",
        "after", "peak lag before", "after", right=range(1, 10), whole=[0],
    )  # fmt: skip
    for diff in changed[:MOST_GROUPS]:
        sides = (diff.before, diff.after)
        table.add(
            diff.group,
            diff.moved,
            len(diff.joined),
            len(diff.left),
            *(spread(loads(side)) for side in sides),
            *(_count(unassigned(side)) for side in sides),
            *(side.peak_lag_records for side in sides),
        )
    table.show()
    if len(changed) > MOST_GROUPS:
        show(f"and {counted(len(changed) - MOST_GROUPS, 'more group')}")
    tell(
        "worst first: more partitions with nobody, then loads farther apart, then more lag on the "
        "member with most; one group in full: --group NAME"
    )


def _count(numbers: Mapping[str, Sequence[int]] | None) -> int | None:
    return None if numbers is None else sum(map(len, numbers.values()))


def _clients(side: NamedAssignment, members: Sequence[str]) -> set[str]:
    return {side.client_ids[member] for member in members if member in side.client_ids}


def _named(names: Sequence[str], what: str = "member") -> str:
    """Return a few names, or how many members or groups that are."""
    text = ", ".join(names)
    return text if len(text) < LONGEST else counted(len(names), what)


def _partitions(numbers: Mapping[str, Sequence[int]]) -> str:
    """Return partitions as ``t0:0-3,7 t1:2``, cut with the number of those left out."""
    shown: list[str] = []
    left = sum(map(len, numbers.values()))
    for topic, listed in numbers.items():
        room = LONGEST - sum(map(len, shown)) - len(topic)
        runs = ranges(listed).split(",")
        while len(runs) > 1 and len(",".join(runs)) > room:
            runs.pop()
        if shown and len(",".join(runs)) > room:
            break
        shown.append(f"{topic}:{','.join(runs)}")
        left -= sum(_size(run) for run in runs)
    return " ".join(shown) + (f" and {left} more" if left else "")


def _size(run: str) -> int:
    first, _, last = run.partition("-")
    return int(last or first) - int(first) + 1


def _print_members(diff: Diff) -> None:
    changed = [
        c for c in diff.members if c.lost or c.gained or c.before is None or c.after is None
    ]
    changed.sort(key=lambda c: -sum(map(len, (*c.lost.values(), *c.gained.values()))))
    table = Table("member", "before", "after", "lost", "gained", right=(1, 2, 3, 4))
    for change in changed[:MOST_LINES]:
        lost, gained = (sum(map(len, of.values())) for of in (change.lost, change.gained))
        table.add(change.member, change.before, change.after, lost or None, gained or None)
    if changed:
        show("")
        table.show()
    if len(changed) > MOST_LINES:
        show(f"and {counted(len(changed) - MOST_LINES, 'more member')}")


def _print_moves(diff: Diff) -> None:
    table = Table("from", "to", "partitions", "", right=(2,))
    for move in diff.moves[:MOST_LINES]:
        origin, target = (who or "nobody" for who in (move.origin, move.target))
        table.add(origin, target, move.count, _partitions(move.partitions))
    if diff.moves:
        show("")
        table.show()
    if len(diff.moves) > MOST_LINES:
        more = sum(move.count for move in diff.moves[MOST_LINES:])
        show(f"and {counted(more, 'more partition')}")
