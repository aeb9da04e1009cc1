"""Groups in the JSON of a tool: each by itself, so that a bad one does not stop the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from groups.documents import fields
from groups.documents.json_files import parse_json
from groups.errors import BadInput
from groups.importers.lines import MOST_NUMBER, Misread, brief, refuse
from groups.importers.seen import Finding, Refusal, SeenMember, SeenPartition, View, refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Show = Callable[[str, str, str, Mapping[str, object]], View]


def each_object(source: str, content: str, *, key: str, show: Show) -> Iterator[Finding]:
    """Yield what the JSON of one group or of a list of groups shows, as :func:`each_group`.

    Parameters
    ----------
    key : under which a group has its name

    Raises
    ------
    BadInput
        Where the text is not JSON, or not of groups.
    """
    found = parse_json(content)
    if not isinstance(found, list):
        return each_group(source, [(key, _under(key, found), found)], show)
    if not found:
        raise BadInput("no groups in it")
    groups = [(f"[{at}].{key}", _under(key, one), one) for at, one in enumerate(found)]
    return each_group(source, groups, show)


def _under(key: str, found: object) -> object:
    return found.get(key) if isinstance(found, Mapping) else None


def each_group(
    source: str, groups: Iterable[tuple[str, object, object]], show: Show
) -> Iterator[Finding]:
    """Yield the View that `show` makes of each group, or why it cannot.

    Parameters
    ----------
    groups : of each where its name stands, that name, and the object
    show : called with source, place, name and object
    """
    for where, name, described in groups:
        names = (name,) if isinstance(name, str) and name else ()
        place = f"{source}: {name}" if names else source
        try:
            found = fields.mapping(described, "" if names else where.rpartition(".")[0])
            yield show(source, place, fields.name(name, where), found)
        except Misread as error:
            yield refusal(source, error, names)
        except BadInput as error:
            yield Refusal(source, place, str(error), names)


def members_in(
    value: object, at: str, place: str, read: Callable[[str, object, str], SeenMember]
) -> dict[str, SeenMember]:
    """Return the members of a list by their ids; `read` is called with place, object and where.

    Raises
    ------
    BadInput
        Where it is no list, or one is there twice.
    """
    members: dict[str, SeenMember] = {}
    for i, found in enumerate(fields.listed(value, at)):
        member = read(place, found, f"{at}[{i}]")
        if member.member in members:
            refuse(place, f"{at}[{i}]: member {brief(member.member)} a second time")
        members[member.member] = member
    return members


def details_in(found: Mapping[str, object], at: str, **keys: str) -> dict[str, str]:
    """Return the details of a member that are there, by our keys; `keys` are the tool's."""
    details = {ours: text(found, theirs, at) for ours, theirs in keys.items()}
    return {key: detail for key, detail in details.items() if detail is not None}


def partition_number(value: object, at: str) -> int:
    """Return the number of a partition.

    Raises
    ------
    BadInput
        Where it is none.
    """
    number = fields.integer(value, at)
    if number > MOST_NUMBER:
        fields.refuse(at, f"{number}, more than any partition's number")
    return number


def offset(found: Mapping[str, object], key: str, at: str) -> int | None:
    """Return a position in the log, None where it is missing, null or -1.

    Raises
    ------
    BadInput
        Where it is anything but an integer.
    """
    if found.get(key) is None:
        return None
    value = fields.integer(found[key], f"{at}.{key}", least=-1)
    return value if value >= 0 else None


def text(found: Mapping[str, object], key: str, at: str) -> str | None:
    """Return a string, None where it is missing, null or empty.

    Raises
    ------
    BadInput
        Where it is anything else.
    """
    return fields.name(found[key], f"{at}.{key}") if found.get(key) not in (None, "") else None


def held_by(pairs: Iterable[tuple[str, int]], at: str) -> dict[str, tuple[int, ...]]:
    """Return what a member holds, from (topic, number) pairs.

    Raises
    ------
    BadInput
        Where a pair is there twice.
    """
    held: dict[str, list[int]] = {}
    seen = set()
    for topic, number in pairs:
        if (topic, number) in seen:
            fields.refuse(at, f"{brief(topic)} partition {number} a second time")
        seen.add((topic, number))
        held.setdefault(topic, []).append(number)
    return {topic: tuple(sorted(numbers)) for topic, numbers in held.items()}


def check_lag(place: str, seen: SeenPartition, lag: int | None) -> None:
    """Refuse a lag that its offsets contradict; tools round a negative one up to 0.

    Raises
    ------
    Misread
        Where they differ.
    """
    if lag is None or seen.end is None or seen.committed is None:
        return
    behind = seen.end - seen.committed
    if lag not in (behind, max(behind, 0)):
        refuse(place, f"lag {lag}, but the offsets of {seen.topic}-{seen.number} make {behind}")
