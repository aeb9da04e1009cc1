"""Absent topics: members that read only topics that do not exist, and so can hold nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.wording import few

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.group import Group


def readers_of_nothing(groups: Sequence[Group]) -> str | None:
    """Return which members read only topics that do not exist, in one line; None if none."""
    found: list[str] = []
    for group in groups:
        absent: dict[int, list[str]] = {}
        for member, topic in group.absent_subscriptions:
            absent.setdefault(member, []).append(group.absent_topics[topic])
        where = f" of {group.name}" if len(groups) > 1 else ""
        found += [
            f"{group.members[member]}{where} ({few(sorted(topics))})"
            for member, topics in sorted(absent.items())
            if not group.reads[member]
        ]
    if not found:
        return None
    who = "1 member reads" if len(found) == 1 else f"{len(found)} members read"
    return f"{who} only topics that do not exist: {few(found)}"
