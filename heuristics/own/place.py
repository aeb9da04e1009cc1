"""Place: a module and the function in it that is an assignor, for whatever process asks for it."""

from __future__ import annotations

import hashlib
import os
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from groups import BadInput, Failed
from heuristics.nearest import nearest
from heuristics.own.call import call, kind_of, one_line

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

    from groups import Group
    from heuristics.assignor import Plan
    from heuristics.own.call import AssignorFunction


@dataclass(frozen=True)
class Place:
    """Where a function is.

    Attributes
    ----------
    module, function : their dotted names
    folder : where modules are looked for first, as by ``python -m``: the working directory
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
            Where it is something else.
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
            Where there is no such module or function, or its code fails as it is imported.
        """
        reason = self.missing()
        if reason is not None:
            raise Failed(reason)
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

    def prepare(self) -> None:
        """Import the function, which may take longer than a call of it."""
        self.load()

    def missing(self) -> str | None:
        """Return that there is no such module, without importing anything; None if there is."""
        if self._spec() is None:
            return f"there is no module {self.module} in this folder, nor is one installed"
        return None

    def _spec(self) -> ModuleSpec | None:
        """Find the module without importing it or what it is in."""
        first, *rest = self.module.split(".")
        spec = PathFinder.find_spec(first, [self.folder]) or find_spec(first)
        for part in rest:
            if spec is None or spec.submodule_search_locations is None:
                return None
            # By its whole name a folder without __init__.py would import the one around it.
            spec = PathFinder.find_spec(part, [*spec.submodule_search_locations])
        return spec

    @property
    def digest(self) -> str | None:
        """A digest of the module's file, None where there is none: what changes with the code."""
        spec = self._spec()
        file = None if spec is None or spec.origin is None else Path(spec.origin)
        if file is None or not file.is_file():
            return None
        return hashlib.sha256(file.read_bytes()).hexdigest()[:12]
