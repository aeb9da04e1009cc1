"""Exports: the public names of a package, each loaded on first use (PEP 562)."""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def exports(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and the public names of a package, ascending.

    The names are those that its source imports under ``if TYPE_CHECKING``, so that they are listed
    once, for type checkers and for Python.
    """
    home = _imported_for_type_checkers(package)

    def load(name: str) -> object:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(home[name]), name)
        setattr(sys.modules[package], name, found)
        return found

    return load, lambda: sorted({*vars(sys.modules[package]), *home}), sorted(home)


def _imported_for_type_checkers(package: str) -> dict[str, str]:
    """Return the module of each name that a package imports under its first ``if``."""
    source = sys.modules[package].__spec__.loader.get_source(package)  # type: ignore[union-attr]
    block = next(node for node in ast.parse(source).body if isinstance(node, ast.If))
    return {
        one.name: str(node.module)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for one in node.names
    }
