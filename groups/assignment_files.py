"""Assignment files: who holds what, from a plan, a solution, or whatever holds groups."""

from __future__ import annotations

from difflib import get_close_matches

from groups.documents.json_files import parse_json
from groups.documents.texts import decode, read_bytes
from groups.errors import BadInput
from groups.files import is_folder, read_groups
from groups.importers import sniff
from groups.named_assignment import NamedAssignment

SOLUTION = "assay-solution/1"
_FEW = 5


def read_assignments(path: str) -> list[NamedAssignment]:
    """Return what members hold as a file says it, one for each group in it.

    Parameters
    ----------
    path : a bare ``{member: {topic: [partition, ...]}}``, an ``assay-solution/1`` document, or
        whatever `groups.files.read_groups` takes; ``-`` is standard input

    Raises
    ------
    BadInput
        Where none of it could be used, or a part of it is damaged; the message names the place.
    """
    name = "standard input" if path == "-" else path
    data = b"" if is_folder(path) else read_bytes(path)
    document = _object(data)
    if document is not None and not _is_of_groups(name, decode(data), document):
        try:
            if document.get("format") == SOLUTION:
                return [NamedAssignment.from_solution(document, name)]
            return [NamedAssignment.from_dict(document, name)]
        except BadInput as error:
            raise error.within(name) from None
    groups, failures = read_groups([path], standard_input=data)
    damaged = [failure for failure in failures if not failure.not_to_be_had]
    for failure in damaged or ([] if groups else failures):
        raise BadInput(f"{failure.place}: {failure.reason}")
    if not groups:
        raise BadInput(f"{name}: no group in it, and no assignment")
    return [NamedAssignment.from_group(group, name) for group in groups]


def read_assignment(path: str, group: str | None) -> NamedAssignment:
    """Return what the members of one group hold as a file says it.

    Parameters
    ----------
    path : see `read_assignments`
    group : its id; None where the file holds just one

    Raises
    ------
    BadInput
        Where that group is not in it, or several are and none is named.
    """
    name = "standard input" if path == "-" else path
    return one_of(read_assignments(path), name, group)


def one_of(found: list[NamedAssignment], name: str, group: str | None) -> NamedAssignment:
    """Return the assignment of a group, of those in one file.

    Raises
    ------
    BadInput
        Where that group is not among them, it is there more than once, or none is named and
        there are several.
    """
    those = [one for one in found if group is None or one.group in (None, group)]
    if len(those) == 1:
        return those[0]
    if those:
        what = "several groups" if group is None else f"group {group} more than once"
        raise BadInput(f"{name}: {what}, expected one{'; add --group NAME' * (group is None)}")
    names = [one.group or "" for one in found]
    near = get_close_matches(group or "", names, n=3, cutoff=0.4) or names[:_FEW]
    raise BadInput(f"{name}: no group {group} in it, only {', '.join(near)}")


def _object(data: bytes) -> dict[str, object] | None:
    """Return the one JSON object that the bytes are, None where they are something else."""
    try:
        found = parse_json(decode(data))
    except BadInput:
        return None
    return found if isinstance(found, dict) else None


def _is_of_groups(name: str, text: str, document: dict[str, object]) -> bool:
    """Say whether a JSON object holds groups: a snapshot, or what some tool printed."""
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
