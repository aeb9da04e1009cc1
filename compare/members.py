"""Members: who is meant by a name, be it an id of a member or of its client."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groups.group import Group


def members_named(group: Group, name: str) -> list[int]:
    """Return the member of an id, else those of that client id; nothing where there is none."""
    if name in group.members:
        return [group.members.index(name)]
    return [m for m, details in enumerate(group.details) if details.client_id == name]
