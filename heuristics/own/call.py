"""Call: a function of the user's, and what it returns as a plan."""

from __future__ import annotations

import sys
import sysconfig
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING

from groups import Assignment, Failed, Refused
from groups.errors import AssayError, in_one_line
from heuristics.assignor import Plan

if TYPE_CHECKING:
    from groups import Group

_HERE = Path(__file__).parents[2]
_OURS = ("groups", "heuristics", "optimal", "compare", "assay")
_INSTALLED = tuple({Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib")})
Held = Mapping[str, Mapping[str, Sequence[int]]]
AssignorFunction = Callable[["Group"], Assignment | Plan | Held]


def call(function: AssignorFunction, group: Group) -> Plan:
    """Call a function of the user's; what it prints goes to standard error.

    Raises
    ------
    Refused
        As the function does.
    Failed
        As the function does, where it raises anything else, and where it returns what is no
        assignment of the group.
    """
    try:
        with redirect_stdout(sys.stderr):
            made = function(group)
    except (Refused, Failed):
        raise
    except (Exception, SystemExit) as error:
        raise Failed(one_line(error)) from None
    return _as_plan(group, made)


def _as_plan(group: Group, made: object) -> Plan:
    if isinstance(made, Mapping):
        made = _of_names(group, made)
    plan = Plan(made) if isinstance(made, Assignment) else made
    if not isinstance(plan, Plan) or not isinstance(plan.assignment, Assignment):
        raise Failed(f"it returned {kind_of(made)}, expected an Assignment")
    of = plan.assignment.group
    if of is not group and _shape(of) != _shape(group):
        raise Failed(f"it returned an assignment of another group, {of.name}")
    for stray in plan.assignment.strays:
        if not _is_stray(stray, len(group.members)):
            raise Failed(f"it returned the stray {stray!r}, expected (member, topic, number)")
    counts = (plan.rounds, plan.revoked, plan.ownerless)
    if not all(isinstance(count, int) and count >= 0 for count in counts):
        raise Failed(f"it returned counts of {counts!r}, expected whole numbers of 0 or more")
    return plan


def _shape(group: Group) -> tuple[object, ...]:
    return group.members, group.topics, group.partitions.tolist()


def _is_stray(stray: object, members: int) -> bool:
    if not isinstance(stray, tuple) or len(stray) != 3:
        return False
    member, topic, number = stray
    numbers = isinstance(member, int) and isinstance(number, int) and isinstance(topic, str)
    return numbers and 0 <= member < members and number >= 0


def _of_names(group: Group, made: Held) -> Assignment:
    try:
        # Numbers may be NumPy's.
        named = {
            member: {topic: [*map(index, numbers)] for topic, numbers in held.items()}
            for member, held in made.items()
        }
        return Assignment.from_dict(group, named)
    except (AttributeError, TypeError):
        raise Failed("it returned a dict that is not {member: {topic: [partition]}}") from None
    except AssayError as error:
        raise Failed(f"it returned no assignment of the group: {error}") from None


def kind_of(thing: object) -> str:
    """Return what sort of thing something is: ``a list``."""
    name = type(thing).__name__
    return "None" if thing is None else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def one_line(error: BaseException) -> str:
    """Return an error in one line, with the line of the user's code that raised it."""
    said = in_one_line(error)
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if _is_theirs(Path(frame.filename)):
            return f"{said} ({Path(frame.filename).name}:{frame.lineno})"
    return said


def _is_theirs(file: Path) -> bool:
    """Return whether a file is the user's: no part of this project, of a library or of Python."""
    if file.is_relative_to(_HERE) and file.relative_to(_HERE).parts[0] in _OURS:
        return False
    return file.is_absolute() and not any(file.is_relative_to(one) for one in _INSTALLED)
