"""Members: finds members by name or pattern, of either the member id or the client id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.errors import BadInput
from groups.unknown import members_matching
from groups.wording import MOST_LISTED, few, nearest_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from groups.group import Group


def member_meant(group: Group, name: str, place: str) -> int:
    """Return the one member that an id, a client id or a glob on either names.

    Raises
    ------
    BadInput
        If it names no member, or several.
    """
    meant = _members_meant(group, name, place)
    if len(meant) > 1:
        those = few([group.members[m] for m in meant])
        raise BadInput(f"{place}: {name!r} is {len(meant):,} members, expected one of {those}")
    return meant[0]


def ids_meant(group: Group, names: Iterable[str], place: str) -> tuple[str, ...]:
    """Return the ids of the named members, in the order of the names.

    Parameters
    ----------
    names : each an id, a client id for all that have it, or a glob on either
    place : where the names stand, for messages

    Raises
    ------
    BadInput
        If a name matches no member, or one that an earlier name matches.
    """
    found: list[str] = []
    for name in names:
        meant = [group.members[m] for m in _members_meant(group, name, place)]
        if {*meant} & {*found}:
            raise BadInput(f"{place}: {name!r} appears twice")
        found += meant
    return tuple(found)


def _members_meant(group: Group, name: str, place: str) -> list[int]:
    if name in group.members:
        return [group.members.index(name)]
    named = [m for m, details in enumerate(group.details) if details.client_id == name]
    if meant := named or members_matching(group, name):
        return meant
    expected = ", ".join(group.members)
    if len(group.members) > MOST_LISTED:
        expected = f"{few(group.members)}{nearest_of(name, group.members)}"
    raise BadInput(f"{place}: no member {name!r}, expected one of {expected}")
