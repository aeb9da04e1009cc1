"""Groups: a collection of groups, in order and by name, as read from files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import index
from typing import TYPE_CHECKING, SupportsIndex, overload

from groups.assignment import Assignment
from groups.framed import Framed
from groups.group import Group
from groups.wording import counted, few, nearest_or_some

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from groups.errors import Failure


class Groups(Framed, Sequence[Group]):
    """Groups that were read, in the order in which they were found; ``groups["orders"]`` is one.

    Attributes
    ----------
    failures : why a text, or a group in it, could not be read
    places : the file, or the file and the line, of each group; empty if they are not from files
    """

    def __init__(
        self,
        groups: Sequence[Group],
        failures: Sequence[Failure] = (),
        places: Sequence[str] = (),
    ) -> None:
        self._groups = tuple(groups)
        self.failures = tuple(failures)
        self.places = tuple(places)

    def __len__(self) -> int:
        """Count the groups."""
        return len(self._groups)

    @overload
    def __getitem__(self, key: SupportsIndex | str) -> Group: ...

    @overload
    def __getitem__(self, key: slice) -> Groups: ...

    def __getitem__(self, key: SupportsIndex | str | slice) -> Group | Groups:
        """Return a group by its index or its name; of several captures of one, the newest.

        Raises
        ------
        KeyError
            If no group has that name.
        IndexError
            If the index is out of range.
        """
        if isinstance(key, slice):
            return Groups(self._groups[key], self.failures, self.places[key])
        if isinstance(key, str):
            return self._groups[newest_named(self._groups, key)]
        if not -len(self) <= index(key) < len(self):
            raise IndexError(f"no group {key}: there are {counted(len(self), 'group')}")
        return self._groups[key]

    def __contains__(self, asked: object) -> bool:
        """Return whether a group, or one with a name, is among them."""
        return is_among(asked, self._groups, self._groups)

    def __repr__(self) -> str:
        failures = f", {counted(len(self.failures), 'failure')}" if self.failures else ""
        return f"Groups({counted(len(self), 'group')}{failures})"

    def to_rows(self) -> Iterator[dict[str, object]]:
        """Return one row per group.

        The columns are `group`, `captured_at`, `members`, `topics`, `partitions`, `most` and
        `fewest` (partitions that a member holds) and `lag_records` (the total, None if the lag of
        a partition is unknown).
        """
        for group in self._groups:
            loads = Assignment(group, group.owner).loads
            lag = group.lag_records
            known = lag is not None and not (lag < 0).any()
            yield {
                "group": group.name,
                "captured_at": group.captured_at,
                "members": len(group.members),
                "topics": len(group.topics),
                "partitions": group.n_partitions,
                "most": int(loads.max(initial=0)),
                "fewest": int(loads.min()) if len(loads) else 0,
                "lag_records": int(lag.sum()) if lag is not None and known else None,
            }


def is_among(asked: object, each: Iterable[object], groups: Iterable[Group]) -> bool:
    """Return whether something is one of `each`, or the name of one of their groups."""
    return any(asked is one for one in each) or any(asked == group.name for group in groups)


def newest_named(groups: Sequence[Group], name: str) -> int:
    """Return the index of the group with a name; of several captures of one, the newest.

    Of captures at the same time it is the last one.

    Raises
    ------
    KeyError
        If no group has it.
    """
    named = [at for at, group in enumerate(groups) if group.name == name]
    if not named:
        hint = nearest_or_some(name, (group.name for group in groups))
        raise KeyError(f"no group is named {name}{hint}")
    return max(named, key=lambda at: (groups[at].captured_at or "", at))


def file_order(source: str, place: str) -> tuple[str, int, str]:
    """Return the key that sorts what was read by the names of its files, then by lines.

    Of several captures of a group at one time, the last one in this order counts.

    Parameters
    ----------
    source : the file, or several files
    place : the same, or with a line of it: a shorter one is that of an earlier line
    """
    return source, len(place), place


def of_one_time(captures: Sequence[tuple[Hashable, str | None]]) -> dict[int, int]:
    """Return how many captures of its group have its time, by the index of each that counts.

    Captures that have a time of their own are left out.

    Parameters
    ----------
    captures : as in `latest_in`

    Examples
    --------
    >>> of_one_time([("a", "2026-11-20"), ("a", "2026-11-20"), ("b", None), ("c", None)])
    {1: 2}
    """
    many = Counter(captures)
    return {at: many[captures[at]] for at in latest_in(captures) if many[captures[at]] > 1}


def latest_in(captures: Sequence[tuple[Hashable, str | None]]) -> list[int]:
    """Return the indices of captures that are the latest of their group.

    Of captures at the same time it is the last one. Captures without a time always count.

    Parameters
    ----------
    captures : (group, or what else it is the latest of; time of capture)

    Examples
    --------
    >>> latest_in([("a", "2026-11-20"), ("a", "2026-11-21"), ("b", None), ("b", None)])
    [1, 2, 3]
    """
    last: dict[Hashable, tuple[str, int]] = {}
    for i, (name, at) in enumerate(captures):
        if at is not None:
            last[name] = max(last.get(name, (at, i)), (at, i))
    return [i for i, (name, at) in enumerate(captures) if at is None or last[name] == (at, i)]


def latest_of(groups: Sequence[Group]) -> list[int]:
    """Return the indices of the groups that count: of each, its latest capture, by `latest_in`."""
    return latest_in([(group.name, group.captured_at) for group in groups])


def readers_of_nothing(groups: Sequence[Group]) -> str | None:
    """Return a line that names the members reading only topics that do not exist, None if none."""
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
