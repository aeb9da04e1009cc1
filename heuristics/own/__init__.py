"""OWN: assignors of the user's, any callable from a group to an assignment of it.

Named as ``module:function``, installed as an entry point of the group
``kafka_assay.assignors``, or handed over as they are.
"""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import partial
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from groups import BadInput, Failed
from heuristics.assignor import Assignor
from heuristics.own.call import AssignorFunction, Held, call
from heuristics.own.place import Place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from groups import Group
    from heuristics.assignor import Plan

__all__ = [
    "ENTRY_POINTS",
    "AssignorFunction",
    "Held",
    "installed",
    "is_own",
    "name_of",
    "own_function",
    "own_named",
    "require_importable",
    "versioned",
]

ENTRY_POINTS = "kafka_assay.assignors"


def is_own(name: str) -> bool:
    """Return whether a name is ``module:function``."""
    return ":" in name and "/" not in name


def own_named(name: str) -> Assignor | None:
    """Return the assignor ``module:function``, or the one installed under a name.

    Nothing is imported yet. What follows an @, as :func:`versioned` puts it there, counts for
    nothing. None where there is none of the name.

    Raises
    ------
    BadInput
        Where it has a colon but is not ``module:function``.
    """
    asked = name.partition("@")[0]
    if is_own(asked):
        return _at(name, asked, None)
    return next((replace(own, name=name) for own in installed() if own.name == asked), None)


def versioned(own: Assignor) -> str:
    """Return the name of an assignor of the user's with a digest of its file behind an @.

    Two runs of one name are alike only where the digest is.
    """
    digest = Place.of(own.source).digest
    return own.name if digest is None or "@" in own.name else f"{own.name}@{digest}"


def name_of(function: AssignorFunction) -> str:
    """Return the ``module:function`` by which any process finds a function.

    Raises
    ------
    BadInput
        Where no name leads to it: it is a partial, a method or the like.
    """
    name = own_function(function).name
    try:
        found = Place.of(name).load() is function
    except (BadInput, Failed):
        found = False
    if not found:
        raise BadInput(f"assignor: {name} is not a function at the top of a module")
    return name


def own_function(function: AssignorFunction) -> Assignor:
    """Return the assignor that a callable is; its name is ``module:function``.

    Raises
    ------
    BadInput
        Where another process could not import the function.
    """
    if not callable(function):
        said = type(function).__name__
        raise BadInput(f"assignor: {said}, expected a name or a callable from Group to Assignment")
    named = function if hasattr(function, "__qualname__") else type(function)
    name = f"{function.__module__}:{named.__qualname__}"
    advice = "define it at the top of a module"
    if function.__module__ == "__main__":
        raise BadInput(f"assignor: {name} cannot be imported by another process: {advice}")
    try:
        pickle.dumps(function)
    except Exception as error:
        reason = " ".join(str(error).split())
        raise BadInput(f"assignor: {name} cannot be pickled, {reason}: {advice}") from None
    return Assignor(name, "own", name, None, partial(call, function))


def installed() -> Iterator[Assignor]:
    """Return the assignors that installed packages bring as entry points, by name."""
    for point in sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.name):
        release = None if point.dist is None else point.dist.version
        value = point.value.partition("[")[0].strip()
        try:
            yield _at(point.name, value, release)
        except BadInput as error:
            # What one package got wrong is no reason to refuse the others.
            refused = partial(_refuse, str(error))
            told = partial(str, error)
            yield Assignor(point.name, "own", value, release, refused, told)


def require_importable(assignors: Sequence[Assignor]) -> None:
    """Import assignors of the user's in a process of its own.

    Raises
    ------
    BadInput
        Where that fails; one line says why.
    """
    if not assignors:
        return
    from heuristics.child import Child
    from heuristics.start import start

    with Child() as child:
        for assignor in assignors:
            reason = assignor.missing() or start(child, assignor)
            if reason is not None:
                raise BadInput(f"assignor: {assignor.name}: {reason}")


def _at(name: str, value: str, release: str | None) -> Assignor:
    place = Place.of(value)
    return Assignor(name, "own", value, release, place.plan, place.missing, place.prepare)


def _refuse(reason: str, _: Group) -> Plan:
    raise Failed(reason)
