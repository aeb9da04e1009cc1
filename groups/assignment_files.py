"""Assignment files: who holds what, from a plan, a solution, or whatever holds groups."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from groups.documents.json_files import parse_json
from groups.documents.texts import decode, named, read_bytes
from groups.errors import BadInput, Failure
from groups.files import read_groups
from groups.folders import is_folder
from groups.importers import sniff
from groups.named_assignment import NamedAssignment
from groups.wording import one_of_several

SOLUTION = "assay-solution/1"
_FEW = 5
_EXPECTED = "a plan is JSON {member: {topic: [partition]}}, a solution or a capture"


@dataclass(frozen=True)
class AssignmentFile:
    """What a file says of who holds what.

    Attributes
    ----------
    name : of the file, for people
    assignments : one for each group in it
    failures : why a part of it holds none
    """

    name: str
    assignments: tuple[NamedAssignment, ...]
    failures: tuple[Failure, ...] = ()

    @property
    def damaged(self) -> list[Failure]:
        """Where the text is the reason, and not the state or the kind of a group."""
        return [failure for failure in self.failures if not failure.not_to_be_had]

    def of(self, group: str | None) -> NamedAssignment:
        """Return the assignment of a group; None where the file holds just one.

        Raises
        ------
        BadInput
            Where that group is not in it or is there more than once, or none is named and there
            are several.
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
                raise BadInput(f"{failure.place}: {failure.reason}")
        names = [one.group or "" for one in self.assignments]
        near = get_close_matches(group or "", names, n=3, cutoff=0.4) or names[:_FEW]
        said = "only" if len(near) == len(names) else f"of {len(names)} the nearest are"
        raise BadInput(f"{self.name}: no group {group} in it, {said} {', '.join(near)}")


def read_assignments(path: str) -> AssignmentFile:
    """Return what members hold as a file says it.

    Parameters
    ----------
    path : a bare ``{member: {topic: [partition, ...]}}``, an ``assay-solution/1`` document, or
        whatever `groups.files.read_groups` takes; ``-`` is standard input

    Raises
    ------
    BadInput
        Where nothing in it could be used; the message names the place.
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
            raise BadInput(f"{failure.place}: {failure.reason}; {_EXPECTED}")
        raise BadInput(f"{name}: no group in it, and no assignment; {_EXPECTED}")
    found = tuple(NamedAssignment.from_group(group, name) for group in groups)
    return AssignmentFile(name, found, groups.failures)


def _object(data: bytes) -> dict[str, object] | None:
    """Return the one JSON object that the bytes are, None where they are something else."""
    try:
        found = parse_json(decode(data))
    except BadInput:
        return None
    return found if isinstance(found, dict) else None


def _is_of_groups(name: str, text: str, document: dict[str, object]) -> bool:
    """Return whether a JSON object holds groups: a snapshot, or what some tool printed."""
    if isinstance(document.get("format"), str):
        return document["format"] != SOLUTION
    if all(isinstance(held, dict) and _is_held(held) for held in document.values()):
        return False
    try:
        sniff(name, text)
    except BadInput:
        return False
    return True


def _is_held(topics: dict[str, object]) -> bool:
    return all(isinstance(numbers, list) for numbers in topics.values())
