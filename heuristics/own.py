"""OWN: the user's assignors; any callable from a group to an assignment of it.

It is named as ``module:function``, installed as an entry point of the group
``kafka_assay.assignors``, or passed as an object.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import sysconfig
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.metadata import entry_points
from importlib.util import find_spec
from operator import attrgetter, index
from pathlib import Path
from typing import TYPE_CHECKING

from groups import Assignment, BadInput, Failed, Refused
from groups.errors import AssayError, in_one_line
from heuristics.assignor import Assignor, Plan
from heuristics.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.machinery import ModuleSpec

    from groups import Group


ENTRY_POINTS = "kafka_assay.assignors"


def is_own(name: str) -> bool:
    """Return whether a name is ``module:function``."""
    return ":" in name and "/" not in name


def own_named(name: str) -> Assignor | None:
    """Return the assignor ``module:function``, or the one installed under a name; else None.

    Nothing is imported yet. A digest after an @, as :func:`versioned` adds it, is ignored.

    Raises
    ------
    BadInput
        If it has a colon but is not ``module:function``.
    """
    asked = name.partition("@")[0]
    if is_own(asked):
        return _at(name, asked, None)
    return next((replace(own, name=name) for own in installed() if own.name == asked), None)


def versioned(own: Assignor) -> str:
    """Return the name of the user's assignor, an @ and a digest of its file.

    Results of one name can only be compared if the digests are equal.
    """
    digest = Place.of(own.source).digest
    return own.name if digest is None or "@" in own.name else f"{own.name}@{digest}"


def name_of(function: AssignorFunction) -> str:
    """Return the ``module:function`` by which another process can import a function.

    Raises
    ------
    BadInput
        If it cannot be imported by name, such as a partial or a method.
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
    """Return a callable as an assignor; its name is ``module:function``.

    Raises
    ------
    BadInput
        If another process could not import the function.
    """
    if not callable(function):
        said = type(function).__name__
        raise BadInput(f"assignor: {said}, expected a name or a callable from Group to Assignment")
    named = function if hasattr(function, "__qualname__") else type(function)
    name = f"{function.__module__}:{named.__qualname__}"
    if function.__module__ == "__main__":
        raise BadInput(
            f"assignor: {name} cannot be imported by another process, as it is in the script or "
            "notebook that runs: put it into a file of its own and import it, or give its result"
        )
    try:
        pickle.dumps(function)
    except Exception as error:
        reason = " ".join(str(error).split())
        advice = "define it at the top of a module"
        raise BadInput(f"assignor: {name} cannot be pickled, {reason}: {advice}") from None
    return Assignor(name, "own", name, None, partial(call, function))


def installed() -> Iterator[Assignor]:
    """Yield the assignors that installed packages declare as entry points, sorted by name."""
    for point in sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.name):
        release = None if point.dist is None else point.dist.version
        value = point.value.partition("[")[0].strip()
        try:
            yield _at(point.name, value, release)
        except BadInput as error:
            # A malformed entry point must not hide the assignors of other packages.
            refuse = partial(_refuse, str(error))
            missing = partial(str, error)
            yield Assignor(point.name, "own", value, release, refuse, missing)


def require_importable(assignors: Sequence[Assignor]) -> None:
    """Import the user's assignors in another process, to check that they can be.

    Raises
    ------
    BadInput
        If that fails; one line says why.
    """
    if not assignors:
        return
    from heuristics.assignor import start
    from heuristics.child import Child

    with Child() as child:
        for assignor in assignors:
            reason = assignor.missing() or start(child, assignor.prepare)
            if reason is not None:
                raise BadInput(f"assignor: {assignor.name}: {reason}")


def _at(name: str, value: str, release: str | None) -> Assignor:
    place = Place.of(value)
    return Assignor(name, "own", value, release, place.plan, place.missing, place.load)


def _refuse(reason: str, _: Group) -> Plan:
    raise Failed(reason)


@dataclass(frozen=True)
class Place:
    """The place of a function.

    Attributes
    ----------
    module, function : dotted names
    folder : searched first for the module, as with ``python -m``: the working directory
    """

    module: str
    function: str
    folder: str

    @staticmethod
    def of(text: str) -> Place:
        """Read ``module:function``; nothing is imported yet.

        Raises
        ------
        BadInput
            If it has another form.
        """
        module, _, function = text.partition(":")
        parts = (*module.split("."), *function.split("."))
        if not all(part.isidentifier() for part in parts):
            raise BadInput(f"assignor: {text!r}, expected module:function")
        return Place(module, function, os.getcwd())

    def load(self) -> AssignorFunction:
        """Import the function.

        Raises
        ------
        Failed
            If there is no such module or function, or its code fails as it is imported.
        """
        reason = self.missing()
        if reason is not None:
            raise Failed(reason)
        if self.folder not in sys.path:
            sys.path.insert(0, self.folder)
        try:
            with redirect_stdout(sys.stderr):
                module = import_module(self.module)
        except (Exception, SystemExit) as error:
            raise Failed(f"{self.module} cannot be imported: {one_line(error)}") from None
        try:
            found: AssignorFunction = attrgetter(self.function)(module)
        except AttributeError:
            there = [name for name, value in vars(module).items() if callable(value)]
            near = f"; nearest: {nearest(self.function, there)}" if there else ""
            file = getattr(module, "__file__", None) or self.module
            raise Failed(f"there is no {self.function!r} in {file}{near}") from None
        if not callable(found):
            raise Failed(f"{self.module}:{self.function} is {kind_of(found)}, not a function")
        return found

    def plan(self, group: Group) -> Plan:
        """Import the function and call it."""
        return call(self.load(), group)

    def missing(self) -> str | None:
        """Return a message if there is no such module, else None; nothing is imported."""
        if self._spec() is None:
            return f"there is no module {self.module} in this folder, nor is one installed"
        return None

    def _spec(self) -> ModuleSpec | None:
        """Find the module without importing it or its parent packages."""
        first, *rest = self.module.split(".")
        spec = PathFinder.find_spec(first, [self.folder]) or find_spec(first)
        for part in rest:
            if spec is None or spec.submodule_search_locations is None:
                return None
            # find_spec with the full name would import the parent packages.
            spec = PathFinder.find_spec(part, [*spec.submodule_search_locations])
        return spec

    @property
    def digest(self) -> str | None:
        """Digest of the module's file, which changes with its code; None without a file."""
        spec = self._spec()
        file = None if spec is None or spec.origin is None else Path(spec.origin)
        if file is None or not file.is_file():
            return None
        return hashlib.sha256(file.read_bytes()).hexdigest()[:12]


_HERE = Path(__file__).parents[1]
_OURS = ("groups", "heuristics", "optimal", "compare", "assay")
_INSTALLED = tuple({Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib")})
Held = Mapping[str, Mapping[str, Sequence[int]]]
AssignorFunction = Callable[["Group"], Assignment | Plan | Held]


def call(function: AssignorFunction, group: Group) -> Plan:
    """Call the user's function; what it prints goes to standard error.

    Raises
    ------
    Refused
        If the function raises it.
    Failed
        If the function raises anything else, or does not return an assignment of the group.
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
    members = len(group.members)
    for stray in plan.assignment.strays:
        match stray:
            case tuple((int(member), str(), int(number))) if 0 <= member < members and number >= 0:
                continue
        raise Failed(f"it returned the stray {stray!r}, expected (member, topic, number)")
    counts = (plan.rounds, plan.revoked, plan.ownerless)
    if not all(isinstance(count, int) and count >= 0 for count in counts):
        raise Failed(f"it returned counts of {counts!r}, expected whole numbers of 0 or more")
    return plan


def _shape(group: Group) -> tuple[object, ...]:
    return group.members, group.topics, group.partitions.tolist()


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
    """Return the type of an object with its article: ``a list``."""
    name = type(thing).__name__
    return "None" if thing is None else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def one_line(error: BaseException) -> str:
    """Return an error in one line, with the file and line of the user's code that raised it."""
    said = in_one_line(error)
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if _is_users_code(Path(frame.filename)):
            return f"{said} ({Path(frame.filename).name}:{frame.lineno})"
    return said


def _is_users_code(file: Path) -> bool:
    """Return whether a file is not part of this project, of a library or of Python."""
    if file.is_relative_to(_HERE) and file.relative_to(_HERE).parts[0] in _OURS:
        return False
    return file.is_absolute() and not any(file.is_relative_to(one) for one in _INSTALLED)
