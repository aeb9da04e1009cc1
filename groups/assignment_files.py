"""Assignment files: assignments from a plan, a solution, or any file that holds groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from groups.assignment import Assignment
from groups.documents import fields
from groups.documents.json_files import parse_json
from groups.documents.snapshots import require_single
from groups.documents.texts import decode, named, read_bytes
from groups.errors import BadInput, Failure
from groups.files import is_folder, read_groups
from groups.importers import sniff
from groups.tiers import load_of
from groups.wording import one_of_several

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from groups.group import Group


SOLUTION = "assay-solution/1"
_FEW = 5
_EXPECTED = "a plan is JSON {member: {topic: [partition]}}, a solution or a capture"


@dataclass(frozen=True)
class AssignmentFile:
    """The assignments in a file.

    Attributes
    ----------
    name : name of the file in messages
    assignments : one for each group in it
    failures : why parts of it hold no group
    """

    name: str
    assignments: tuple[NamedAssignment, ...]
    failures: tuple[Failure, ...] = ()

    @property
    def damaged(self) -> list[Failure]:
        """The failures whose reason is the text, not the state or the kind of a group."""
        return [failure for failure in self.failures if not failure.not_to_be_had]

    def of(self, group: str | None) -> NamedAssignment:
        """Return the assignment of a group; None: of the only group in the file.

        Raises
        ------
        BadInput
            If the group is not in the file or is there more than once, or no group is given and
            there are several.
        """
        those = [one for one in self.assignments if group is None or one.group in (None, group)]
        if len(those) == 1:
            return those[0]
        if those and group is None:
            names = [one.group or "" for one in those]
            raise one_of_several(self.name, names)
        if those:
            raise BadInput(f"{self.name}: group {group} more than once, expected one")
        for failure in self.failures:
            if group is not None and failure.group == group:
                raise BadInput(str(failure))
        names = [one.group or "" for one in self.assignments]
        near = get_close_matches(group or "", names, n=3, cutoff=0.4) or names[:_FEW]
        said = "only" if len(near) == len(names) else f"of {len(names)} the nearest are"
        raise BadInput(f"{self.name}: no group {group} in it, {said} {', '.join(near)}")


def read_assignments(path: str) -> AssignmentFile:
    """Return the assignments in a file.

    Parameters
    ----------
    path : a bare ``{member: {topic: [partition, ...]}}``, an ``assay-solution/1`` document, or
        whatever `groups.files.read_groups` takes; ``-`` is standard input

    Raises
    ------
    BadInput
        If nothing in the file could be used; the message names the place.
    """
    name = named(path)
    data = b"" if is_folder(path) else read_bytes(path)
    document = _object(data)
    if document is not None and not _is_of_groups(name, decode(data), document):
        try:
            if document.get("format") == SOLUTION:
                return AssignmentFile(name, (NamedAssignment.from_solution(document, name),))
            return AssignmentFile(name, (NamedAssignment.from_dict(document, name),))
        except BadInput as error:
            raise error.within(name) from None
    groups = read_groups(path, standard_input=data)
    if not groups:
        for failure in groups.failures:
            raise BadInput(f"{failure}; {_EXPECTED}")
        raise BadInput(f"{name}: no group in it, and no assignment; {_EXPECTED}")
    found = tuple(NamedAssignment.from_group(group, name) for group in groups)
    return AssignmentFile(name, found, groups.failures)


def _object(data: bytes) -> dict[str, object] | None:
    """Return the JSON object of the bytes, None if they are anything else."""
    try:
        found = parse_json(decode(data))
    except BadInput:
        return None
    return found if isinstance(found, dict) else None


def _is_of_groups(name: str, text: str, document: dict[str, object]) -> bool:
    """Return whether a JSON object holds groups: it is a snapshot, or a tool printed it."""
    if isinstance(document.get("format"), str):
        return document["format"] != SOLUTION
    if all(
        isinstance(held, dict) and all(isinstance(numbers, list) for numbers in held.values())
        for held in document.values()
    ):
        return False
    try:
        sniff(name, text)
    except BadInput:
        return False
    return True


Held = Mapping[str, Mapping[str, "Sequence[int]"]]
_KNOWN_MEMBERS = 5


@dataclass(frozen=True)
class NamedAssignment:
    """What each member holds, by names.

    Attributes
    ----------
    source : the name of the file
    group : id of the group, None if the file does not say it
    held : ``{member: {topic: [partition, ...]}}``, ascending, with members that hold nothing
    exist : the partition numbers of each topic; None if the file does not say which there are
    client_ids : client ids by member, for those that have one
    captured_at : when it was captured, None if the file does not say it
    peak_lag_records : lag of the member with most lag, None if the file does not say it
    lag_records : lag of each partition of a topic, -1 where unknown; empty if the file does not
        say it
    commits : committed offset and end of the log of each partition of a topic, -1 where unknown;
        empty if the file does not say them
    assumed : what was assumed about the source, as lines for users
    """

    source: str
    group: str | None
    held: Held
    exist: Mapping[str, Collection[int]] | None = None
    client_ids: Mapping[str, str] = field(default_factory=dict)
    captured_at: str | None = None
    peak_lag_records: int | None = None
    lag_records: Mapping[str, Sequence[int]] = field(default_factory=dict)
    commits: Mapping[str, Sequence[tuple[int, int]]] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()

    @staticmethod
    def from_group(group: Group, source: str) -> NamedAssignment:
        """Return what members hold now: the raw claims, or the valid owners if there are none."""
        members = group.to_dict()["members"].items()
        starts = zip(group.topics, group.first.tolist(), group.partitions.tolist(), strict=False)
        places = {topic: slice(start, start + count) for topic, start, count in starts}
        lag, offsets = group.lag_records, group.offsets
        return NamedAssignment(
            source=source,
            group=group.name,
            held={member: fields["owned"] for member, fields in members},
            exist={topic: range(at.stop - at.start) for topic, at in places.items()},
            client_ids={
                member: client_id
                for member, fields in members
                if (client_id := fields.get("client_id")) is not None
            },
            captured_at=group.captured_at,
            peak_lag_records=None
            if lag is None
            else max(load_of(Assignment.current(group), lag), default=0),
            lag_records={}
            if lag is None
            else {topic: lag[at].tolist() for topic, at in places.items()},
            commits={}
            if offsets is None
            else {
                topic: [
                    *zip(offsets.committed[at].tolist(), offsets.end[at].tolist(), strict=True)
                ]
                for topic, at in places.items()
            },
            assumed=group.assumed,
        )

    @staticmethod
    def from_solution(document: Mapping[str, object], source: str) -> NamedAssignment:
        """Read the assignment of an ``assay-solution/1`` document.

        Raises
        ------
        BadInput
            If the document has no assignment, or one of another shape; the message names the
            place.
        """
        if document.get("assignment") is None:
            raise BadInput("assignment: null, so there is nothing to compare")
        held = _held(document["assignment"], "assignment.")
        left = _numbers(document.get("unassigned", {}), "unassigned")
        name = document.get("group")
        exist: dict[str, set[int]] = {topic: set(numbers) for topic, numbers in left.items()}
        for topics in held.values():
            for topic, numbers in topics.items():
                exist.setdefault(topic, set()).update(numbers)
        group = None if name is None else fields.name(name, "group")
        return NamedAssignment(source, group, held, exist)

    @staticmethod
    def from_dict(document: object, source: str) -> NamedAssignment:
        """Read a bare ``{member: {topic: [partition, ...]}}``.

        Raises
        ------
        BadInput
            If it has another shape; the message names the place.
        """
        return NamedAssignment(source, None, _held(document, ""))

    @property
    def shared_client_id(self) -> tuple[str, int] | None:
        """A client id that several members have, and how many; None if none is shared."""
        counts = Counter(self.client_ids.get(member, member) for member in self.held)
        return next((one for one in counts.items() if one[1] > 1), None)

    def by_client(self) -> NamedAssignment:
        """Return the assignment by client ids; a member without one keeps its id.

        Raises
        ------
        BadInput
            If several members have one client id.
        """
        if shared := self.shared_client_id:
            client, count = shared
            raise BadInput(
                f"{self.source}: {count:,} members have the client id {client}, so client ids do "
                "not tell them apart"
            )
        held = {
            self.client_ids.get(member, member): topics for member, topics in self.held.items()
        }
        return replace(self, held=dict(sorted(held.items())), client_ids={})

    def of(self, group: Group) -> Assignment:
        """Return it as an assignment of a group, which may be invalid.

        Raises
        ------
        BadInput
            If it is for another group, or names a member that the group does not have.
        """
        if self.group not in (None, group.name):
            raise BadInput(f"{self.source}: it is for group {self.group!r}, not {group.name!r}")
        known = {*group.members}
        for member in self.held:
            if member not in known:
                names = ", ".join(group.members[:_KNOWN_MEMBERS])
                more = len(group.members) - _KNOWN_MEMBERS
                rest = f" and {more} more" if more > 0 else ""
                raise BadInput(
                    f"{self.source}: {member!r} is no member of group {group.name}, "
                    f"which has {names or 'none'}{rest}"
                )
        return Assignment.from_dict(group, self.held)


def _held(value: object, place: str) -> dict[str, dict[str, list[int]]]:
    found = fields.mapping(value, place.rstrip("."))
    members = {fields.name(m, f"{place}member"): topics for m, topics in found.items()}
    return {m: _numbers(members[m], f"{place}{m}") for m in sorted(members)}


def _numbers(value: object, place: str) -> dict[str, list[int]]:
    found = fields.mapping(value, place)
    held = {}
    for topic, numbers in found.items():
        at = f"{place}.{topic}"
        fields.name(topic, place)
        given = sorted(fields.integers(numbers, at))
        require_single(given, at)
        held[topic] = given
    return dict(sorted(held.items()))
