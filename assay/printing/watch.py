"""Watch for people: a line a capture, of what changed since the one before."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from compare.diff import Diff
from compare.sentences import moves_needed, not_valid
from compare.verdict import WORST_FIRST
from groups.named_assignment import NamedAssignment
from groups.wording import counted, few

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from compare.judged import Judged
    from groups.group import Group

MOST_GROUPS = 3
MOST_MEMBERS = 2


def news_line(
    before: Mapping[str, Judged],
    now: Sequence[Judged],
    failing: Collection[str] = (),
    unjudged: Collection[str] = (),
    missed: Collection[str] = (),
) -> str:
    """Return what changed in which groups; at first, how many have which verdict.

    Parameters
    ----------
    before : by name, each group as it was judged last
    failing : what could not be captured now
    unjudged : what could not be judged now
    missed : what was one or the other the last time
    """
    if not before:
        found = Counter(one.verdict.says for one in now)
        counts = ", ".join(f"{found[says]:,} {says}" for says in WORST_FIRST if found[says])
        if not now:
            return _lost("judged", unjudged) if unjudged else "no group yet"
        return f"{counted(len(now), 'group')}: {counts}"
    news = [line for one in now if (line := _news(before.get(one.group.name), one))]
    gone = before.keys() - {one.group.name for one in now} - {*failing, *unjudged}
    news += [f"{name}: gone" for name in sorted(gone)]
    shown = news[:MOST_GROUPS]
    if len(news) > len(shown):
        shown.append(f"and {counted(len(news) - len(shown), 'group')} more changed")
    for what, names in (("captured", failing), ("judged", unjudged)):
        if lost := before.keys() & {*names} - {*missed}:
            shown.append(_lost(what, lost))
    return "; ".join(shown) or no_change(now)


def no_change(now: Sequence[Judged]) -> str:
    """Return the line of a capture in which all groups are as they were in the one before."""
    return f"no change in {counted(len(now), 'group')}"


def _lost(what: str, names: Collection[str]) -> str:
    return f"not {what}: {few(sorted(names))}"


def _news(before: Judged | None, now: Judged) -> str | None:
    name, said = now.group.name, _verdict(now)
    if before is None:
        return f"{name}: new, {counted(len(now.group.members), 'member')}, {said}"
    diff = Diff(*(NamedAssignment.from_group(one.group, "") for one in (before, now)))
    changes = [
        f"{_members(names, group)} {what}"
        for names, group, what in (
            (diff.joined, now.group, "joined"),
            (diff.left, before.group, "left"),
        )
        if names
    ]
    if diff.moved:
        changes.append(f"{counted(diff.moved, 'partition')} moved")
    was = _verdict(before)
    if said != was:
        changes.append(f"{said} (before: {was})")
    return f"{name}: {', '.join(changes)}" if changes else None


def _verdict(judged: Judged) -> str:
    if judged.verdict.says == "not valid":
        return f"not valid, {not_valid(judged.now)}"
    moves = moves_needed(judged)
    improvable = judged.verdict.says == "improvable" and moves is not None
    return f"improvable by moving {moves:,}" if improvable else judged.verdict.says


def _members(names: Sequence[str], group: Group) -> str:
    """Return members by the names that people gave them."""
    clients = NamedAssignment.from_group(group, "").client_ids
    called = [clients.get(name, name) for name in names]
    if len(called) > MOST_MEMBERS:
        return counted(len(called), "member")
    return " and ".join(called)
