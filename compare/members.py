"""Members: who is meant by a name, be it an id of a member or of its client."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groups.group import Group


def members_named(group: Group, name: str) -> list[int]:
    """Return the member of an id, else those of that client id; nothing where there is none."""
    if name in group.members:
        return [group.members.index(name)]
    return [m for m, details in enumerate(group.details) if details.client_id == name]


def members_matching(group: Group, pattern: str) -> list[int]:
    """Return the members whose id or client id a glob matches."""
    ids = [details.client_id or "" for details in group.details] or [""] * len(group.members)
    named = enumerate(zip(group.members, ids, strict=True))
    return [m for m, names in named if any(fnmatchcase(name, pattern) for name in names)]
