"""Who holds which partition, from all views of a group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.importers.lines import Contradiction, brief, refuse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from groups.importers.seen import View

Key = tuple[str, int]
Owners = dict[Key, tuple[str, ...]]
"""The members that hold a partition, ascending; a partition may have none, or several."""


def owners_of(views: Sequence[View]) -> Owners:
    """Return who holds each partition that a view shows.

    Views that list what every member holds must be equal. The rows of an offsets view may be
    only a part, as after ``grep``, and must not say otherwise.

    Raises
    ------
    Misread
        Where two views were captured at different times, or one was changed.
    """
    owners: Owners = {}
    listing = next((view for view in views if _lists(view)), None)
    if listing is not None:
        owners = _listed(listing)
        for view in views:
            if _lists(view):
                _agree(_listed(view), owners, view.place, whole=True)
    for view in views:
        rows = _rows(view)
        _agree(rows, owners, view.place, whole=False, closed=listing is not None)
        owners = rows | owners
    return owners


def _lists(view: View) -> bool:
    return view.every_member and any(member.held is not None for member in view.members)


def _listed(view: View) -> Owners:
    held: dict[Key, list[str]] = {}
    for member in view.members:
        for topic, numbers in (member.held or {}).items():
            for number in numbers:
                held.setdefault((topic, number), []).append(member.member)
    return {key: tuple(sorted(members)) for key, members in held.items()}


def _rows(view: View) -> Owners:
    held: dict[Key, list[str]] = {}
    for seen in view.partitions:
        members = held.setdefault((seen.topic, seen.number), [])
        repeated = members and (seen.owner is None or seen.owner in members)
        if repeated:
            refuse(seen.place, f"{brief(seen.topic)} partition {seen.number} a second time")
        if seen.owner is not None:
            members.append(seen.owner)
    return {key: tuple(sorted(members)) for key, members in held.items()}


def _agree(
    found: Owners, owners: Owners, place: str, *, whole: bool, closed: bool = False
) -> None:
    shared: Mapping[Key, object] = {**owners, **found} if whole else found
    for key in sorted(shared):
        if not whole and not closed and key not in owners:
            continue
        ours, theirs = found.get(key, ()), owners.get(key, ())
        if ours != theirs:
            raise Contradiction(
                place,
                f"{key[0]}-{key[1]} is with {_named(ours)}, but with {_named(theirs)} in another "
                "view",
            )


def _named(members: tuple[str, ...]) -> str:
    return " and ".join(brief(member) for member in members) or "nobody"
