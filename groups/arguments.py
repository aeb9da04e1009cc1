"""Arguments: checks and converts the arguments of public functions, by their annotations.

Where several groups are expected, one group will do, and where one is expected, a collection of
one. Functions of `assay` take a group as it is judged (`groups.unknown.settled`), as every command
does; methods take it as it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import replace
from functools import wraps
from inspect import Parameter, signature
from numbers import Integral, Real
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from groups.arrays import GREATEST
from groups.errors import BadInput
from groups.wording import counted, digits, few

P = ParamSpec("P")
T = TypeVar("T")
_GROUPS = "read_groups(path) has those of a file, Group.from_dict(document) makes one"
_MOST_SHOWN = 60


class Kind(NamedTuple):
    """What a parameter takes: whether a value fits, and what is expected, in words.

    `of_one` says whether a value is one item, which then stands for a collection of one.
    """

    fits: Callable[[object], bool]
    expected: str
    of_one: Callable[[object], bool] | None = None


def _is(*types: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, types) and not isinstance(value, bool)


def _is_a(package: str, name: str) -> Callable[[object], bool]:
    """Return a test whether a value is of the class of that name in one of our packages.

    It goes by name, since those packages import this module.
    """
    return lambda value: any(
        one.__name__ == name and one.__module__.split(".")[0] == package
        for one in type(value).__mro__
    )


def _all(fits: Callable[[object], bool]) -> Callable[[object], bool]:
    several = (list, tuple, range, Set, np.ndarray)
    return lambda value: isinstance(value, several) and all(map(fits, value))


def _is_assignor(value: object) -> bool:
    is_guest = _is_a("heuristics", "Assignor")
    return isinstance(value, str) or callable(value) or is_guest(value)


def _is_path(value: object) -> bool:
    return isinstance(value, os.PathLike) or (isinstance(value, str) and "\n" not in value)


def _is_seconds(value: object) -> bool:
    return _is(Real)(value) and bool(value >= 0)  # type: ignore[operator]


_is_name, _is_whole = _is(str), _is(Integral)
_is_group, _is_fleet = _is_a("groups", "Group"), _is_a("groups", "Fleet")
_is_assignment, _is_solution = _is_a("groups", "Assignment"), _is_a("optimal", "Solution")
_is_limit = _is_a("heuristics", "TimeLimit")
_NAME = Kind(_is_name, "a text")
_FUNCTION = Kind(callable, "a function")
# The function checks the value itself.
_UNCHECKED = Kind(lambda _: True, "")
# By annotation, without "| None".
KINDS = {
    "Solution": Kind(_is_solution, "a Solution as solve(group) gives it"),
    "Scenario": Kind(
        _is_a("compare", "Scenario"), "a Scenario: Scenario.of_group(group) or Scenario.read(path)"
    ),
    "Variation": Kind(_is_a("compare", "Variation"), "a Variation"),
    "Rule": Kind(_is_a("compare", "Rule"), "a Rule"),
    "TimeLimit": Kind(_is_limit, "a TimeLimit: with TimeLimit(10) as limit"),
    "TimeLimit | float": Kind(
        lambda value: _is_seconds(value) or _is_limit(value),
        "seconds, 0 or more, or a TimeLimit",
    ),
    "Assignment | AssignorFunction": Kind(
        lambda value: callable(value) or _is_assignment(value),
        "an Assignment as assign(group, 'range') gives it, or a function of yours",
    ),
    "Sequence[str | AssignorFunction]": Kind(
        _all(_is_assignor), "names or functions of assignors", _is_assignor
    ),
    **dict.fromkeys(("str", "MethodName", "Syntax", "Lower"), _NAME),
    "Literal['latest', 'earliest']": Kind(
        lambda value: isinstance(value, str) and value in ("latest", "earliest"),
        "latest or earliest",
    ),
    "str | Promise": Kind(
        lambda value: isinstance(value, str) or _is_a("compare", "Promise")(value),
        "the name of a promise",
    ),
    "str | Path": Kind(_is_path, "a path, not the text itself"),
    "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]": Kind(
        lambda value: _is_path(value) or _all(_is_path)(value),
        "a path or several, not the text itself",
    ),
    "bytes": Kind(_is(bytes), "bytes"),
    "bool": Kind(lambda value: isinstance(value, bool | Integral), "True or False"),
    "int": Kind(_is_whole, "a whole number"),
    "int | Sequence[str]": Kind(
        lambda value: _is_whole(value) or _all(_is_name)(value), "a whole number, or names"
    ),
    # Every float parameter is a time.
    "float": Kind(_is_seconds, "seconds, 0 or more"),
    "Fraction | float | str": Kind(_is(Real, str), "a share as in 0.1 or '10%'"),
    "Sequence[int]": Kind(_all(_is_whole), "whole numbers", _is_whole),
    "tuple[int, ...]": Kind(_all(_is_whole), "whole numbers", _is_whole),
    "Mapping[str, int]": Kind(_is(Mapping), "a mapping of names to numbers"),
    "Mapping[str, str]": Kind(_is(Mapping), "a mapping"),
    "Mapping[str, Sequence[str]]": Kind(
        lambda value: isinstance(value, Mapping) and all(map(_all(_is_name), value.values())),
        "a mapping as in {'c1': ['t2']}",
    ),
    "Callable[[str], object]": _FUNCTION,
    "Callable[[str], None]": _FUNCTION,
    "Path": Kind(_is(os.PathLike), "a path"),
    **dict.fromkeys(("object", "Mapping[str, object]", "SparkSession"), _UNCHECKED),
    **dict.fromkeys(("str | AssignorFunction", "str | AssignorFunction | Runner"), _UNCHECKED),
    # An objective.
    "str | Sequence[str]": _UNCHECKED,
}


def taking(
    function: Callable[P, T], as_judged: Callable[[Any], Any] = lambda group: group
) -> Callable[P, T]:
    """Return the function with its arguments checked and converted.

    Parameters
    ----------
    as_judged : converts each group before the function gets it; left out: it stays as it is

    Raises
    ------
    BadInput
        If an argument does not fit; the message names it and what to pass instead.
    """
    declared = signature(function)

    @wraps(function)
    def called(*given: P.args, **named: P.kwargs) -> T:
        try:
            bound = declared.bind(*given, **named)
        except TypeError:
            # Too few or too many arguments: Python's own error says so.
            return function(*given, **named)
        for name, value in bound.arguments.items():
            annotation = declared.parameters[name].annotation
            if annotation is Parameter.empty:
                continue  # self
            if value is not None or not annotation.endswith(" | None"):
                kind = annotation.removesuffix(" | None")
                taken = _convert(function.__qualname__, name, kind, value)
                bound.arguments[name] = _with_groups(taken, as_judged)
        return function(*bound.args, **bound.kwargs)

    return called


def _convert(function: str, name: str, kind: str, value: object) -> object:
    if isinstance(value, Iterator):
        value = tuple(value)
    if kind == "Group":
        return _one_group(function, name, value)
    if kind == "Sequence[Group]":
        return _groups(name, value, "groups")
    if kind == "Fleet | Sequence[Group]":
        return value if _is_fleet(value) else _groups(name, value, "a Fleet")
    fits, expected, of_one = KINDS[kind]
    if KINDS[kind] is not _UNCHECKED:
        value = _plain(value)
    if of_one is not None and of_one(value):
        return (value,)
    if not fits(value):
        raise BadInput(f"{name}: {shown(value)}, expected {expected}")
    return value


def _plain(value: Any) -> Any:
    """Return numbers and arrays of NumPy as Python's, which JSON can hold; also within others."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if type(value) is dict:
        return {name: _plain(one) for name, one in value.items()}
    return type(value)(map(_plain, value)) if type(value) in (list, tuple) else value


def _one_group(function: str, name: str, value: object) -> object:
    found = _groups(name, value, "a Group")
    failed = len(getattr(value, "failures", ()))
    if len(found) == 1 and not failed:
        return found[0]
    those = f" ({few([group.name for group in found])})" if found else ""
    unread = f" and {counted(failed, 'failure')}" if failed else ""
    each = f": call {function} for each of them" if found else ""
    raise BadInput(f"{name}: {counted(len(found), 'group')}{those}{unread}, expected one{each}")


def _groups(name: str, value: Any, expected: str) -> list[Any]:
    if _is_fleet(value):
        return [value.alone(number) for number in range(len(value))]
    found = list(value) if isinstance(value, Iterable) and not _is_group(value) else [value]
    for failure in () if found else getattr(value, "failures", ()):
        raise BadInput(str(failure))
    if not all(map(_is_group, found)):
        raise BadInput(f"{name}: {shown(value)}, expected {expected}: {_GROUPS}")
    return found


def _with_groups(value: Any, as_judged: Callable[[Any], Any]) -> Any:
    """Return a value with `as_judged` applied to the group that it is, holds or is about."""
    if _is_group(value):
        return as_judged(value)
    if isinstance(value, list):
        return [_with_groups(one, as_judged) for one in value]
    if not (_is_assignment(value) or _is_solution(value)):
        return value
    group = as_judged(value.group)
    if group is value.group:
        return value
    if _is_solution(value) and value.assignment is not None:
        value = replace(value, assignment=replace(value.assignment, group=group))
    return replace(value, group=group)


def require_whole(
    place: str, given: object, *, least: int = 0, below: tuple[int, str] | None = None
) -> int:
    """Return a whole number of at least `least` within 64 bits; a boolean is none.

    Parameters
    ----------
    below : what it is an index of, and how many there are, such as ``(2, "members")``

    Raises
    ------
    BadInput
        If it is something else.
    """
    if not isinstance(given, Integral) or isinstance(given, bool) or given < least:
        raise BadInput(f"{place}: {shown(given)}, expected a whole number of {least} or more")
    number = int(given)
    if number > GREATEST:
        raise BadInput(f"{place}: {digits(number)} leaves 64 bits")
    if below is not None and number >= below[0]:
        raise BadInput(f"{place}: {number}, but there are {below[0]} {below[1]}")
    return number


def shown(value: object) -> str:
    """Return a short text of an argument for a message: its type if it is no text or number."""
    if type(value) is int:
        return digits(value)
    if value is None or isinstance(value, str | Real):
        text = repr(value)
        return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
    return type(value).__name__
