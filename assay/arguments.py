"""Arguments: what the functions of the door take, made of what is plainly meant or refused.

Each parameter is looked at by its annotation: one group stands for a collection of one where
several are taken, and a collection of one for its group. A group counts as it is judged: see
`groups.unknown.settled`, as for every command.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import wraps
from importlib import import_module
from inspect import signature
from numbers import Integral, Real
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from groups.errors import BadInput
from groups.wording import counted, few

if TYPE_CHECKING:
    from groups.group import Group

_GROUPS = "read_groups(path) has those of a file, Group.from_dict(document) makes one"
_MOST_SHOWN = 60


class Kind(NamedTuple):
    """What a parameter takes: whether a value fits, and what is expected in words.

    `of_one` says that a value alone stands for a collection of it.
    """

    fits: Callable[[object], bool]
    expected: str
    of_one: Callable[[object], bool] | None = None


def _is(*types: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, types) and not isinstance(value, bool)


def _is_a(module: str, name: str) -> Callable[[object], bool]:
    """Return whether a value is of that class; who passes one has loaded its module."""
    return lambda value: isinstance(value, getattr(import_module(module), name))


def _all(fits: Callable[[object], bool]) -> Callable[[object], bool]:
    several = (list, tuple, range, Set, np.ndarray)
    return lambda value: isinstance(value, several) and all(map(fits, value))


def _is_assignor(value: object) -> bool:
    is_guest = _is_a("heuristics.assignor", "Assignor")
    return isinstance(value, str) or callable(value) or is_guest(value)


def _is_path(value: object) -> bool:
    return isinstance(value, os.PathLike) or (isinstance(value, str) and "\n" not in value)


def _is_anything(_: object) -> bool:
    return True


_is_name, _is_whole = _is(str), _is(Integral)
_NAME = Kind(_is_name, "a name")
_FUNCTION = Kind(callable, "a function")
# The function itself says what is wrong with it.
_OWN = Kind(_is_anything, "")
# By annotation, of which "| None" is cut off.
KINDS = {
    "Solution": Kind(_is_a("optimal", "Solution"), "a Solution as solve(group) gives it"),
    "Scenario": Kind(
        _is_a("compare", "Scenario"), "a Scenario: Scenario.of_group(group) or Scenario.read(path)"
    ),
    "Variation": Kind(_is_a("compare.scenarios.variation", "Variation"), "a Variation"),
    "Rule": Kind(_is_a("compare.scenarios.rollout", "Rule"), "a Rule"),
    "TimeLimit": Kind(
        _is_a("heuristics.time_limit", "TimeLimit"), "a TimeLimit: with TimeLimit(10) as limit"
    ),
    "TimeLimit | float": Kind(
        lambda value: _is(Real)(value) or _is_a("heuristics.time_limit", "TimeLimit")(value),
        "seconds or a TimeLimit",
    ),
    "Assignment | AssignorFunction": Kind(
        lambda value: callable(value) or _is_a("groups", "Assignment")(value),
        "an Assignment as assign(group, 'range') gives it, or a function of yours",
    ),
    "Sequence[str | AssignorFunction]": Kind(
        _all(_is_assignor), "names or functions of assignors", _is_assignor
    ),
    "str": _NAME,
    "MethodName": _NAME,
    "Syntax": _NAME,
    "Lower": _NAME,
    "Literal['latest', 'earliest']": _NAME,
    "str | Promise": Kind(
        lambda value: (
            isinstance(value, str) or _is_a("compare.promises.promise", "Promise")(value)
        ),
        "the name of a promise",
    ),
    "str | Sequence[str]": Kind(
        lambda value: isinstance(value, str) or _all(_is_name)(value),
        "a text as in 'balance > stickiness', or the names of tiers",
    ),
    "str | Path": Kind(_is_path, "a path, not the text itself"),
    "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]": Kind(
        lambda value: _is_path(value) or _all(_is_path)(value),
        "a path or several, not the text itself",
    ),
    "bytes": Kind(_is(bytes), "bytes"),
    "bool": Kind(lambda value: isinstance(value, bool | Integral), "True or False"),
    "int": Kind(_is_whole, "a whole number"),
    "float": Kind(_is(Real), "a number"),
    "Fraction | float | str": Kind(_is(Real, str), "a share as in 0.1"),
    "Sequence[int]": Kind(_all(_is_whole), "whole numbers", _is_whole),
    "tuple[int, ...]": Kind(_all(_is_whole), "whole numbers", _is_whole),
    "Mapping[str, int]": Kind(_is(Mapping), "a mapping as in {'peak_lag': 100}"),
    "Mapping[str, str]": Kind(_is(Mapping), "a mapping"),
    "Callable[[str], object]": _FUNCTION,
    "Callable[[str], None]": _FUNCTION,
    "str | AssignorFunction": _OWN,
    "str | AssignorFunction | Runner": _OWN,
    "SparkSession": _OWN,
}


def taking(function: Callable[..., object]) -> Callable[..., object]:
    """Return a function that takes what is plainly meant by its arguments.

    Raises
    ------
    BadInput
        Where an argument is something else; the message names it and what to pass instead.
    """
    declared = signature(function)

    @wraps(function)
    def called(*given: object, **named: object) -> object:
        try:
            bound = declared.bind(*given, **named)
        except TypeError:
            # Too few or too many: Python says so.
            return function(*given, **named)
        for name, value in bound.arguments.items():
            annotation = declared.parameters[name].annotation
            if value is not None or not annotation.endswith(" | None"):
                kind = annotation.removesuffix(" | None")
                bound.arguments[name] = _taken(function.__name__, name, kind, value)
        return function(*bound.args, **bound.kwargs)

    # What pickles it finds it here.
    called.__module__ = "assay"
    return called


def _taken(function: str, name: str, kind: str, value: object) -> object:
    from groups.fleet import Fleet

    if isinstance(value, Iterator):
        value = tuple(value)
    if kind == "Group":
        return _one_group(function, name, value)
    if kind == "Sequence[Group]":
        return _groups(name, value, "groups")
    if kind == "Fleet":
        return value if isinstance(value, Fleet) else Fleet.of(_groups(name, value, "a Fleet"))
    fits, expected, of_one = KINDS[kind]
    if of_one is not None and of_one(value):
        return (value,)
    if not fits(value):
        raise BadInput(f"{name}: {_shown(value)}, expected {expected}")
    return value


def _one_group(function: str, name: str, value: object) -> Group:
    found = _groups(name, value, "a Group")
    failed = len(getattr(value, "failures", ()))
    if len(found) == 1 and not failed:
        return found[0]
    those = f" ({few([group.name for group in found])})" if found else ""
    unread = f" and {counted(failed, 'failure')}" if failed else ""
    each = f": call {function} for each of them" if found else ""
    raise BadInput(f"{name}: {counted(len(found), 'group')}{those}{unread}, expected one{each}")


def _groups(name: str, value: object, expected: str) -> list[Group]:
    from groups.fleet import Fleet
    from groups.group import Group
    from groups.unknown import settled

    if isinstance(value, Group):
        return [settled(value)]
    if isinstance(value, Fleet):
        return [settled(value.alone(number)) for number in range(len(value))]
    found = list(value) if isinstance(value, Iterable) else [value]
    groups = [settled(one) for one in found if isinstance(one, Group)]
    if len(groups) < len(found):
        raise BadInput(f"{name}: {_shown(value)}, expected {expected}: {_GROUPS}")
    return groups


def _shown(value: object) -> str:
    if value is None or isinstance(value, str | Real):
        text = repr(value)
        return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
    return type(value).__name__
