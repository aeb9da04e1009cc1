"""Extras: what only some users install, asked for by name before it is used."""

from __future__ import annotations

from importlib.util import find_spec

from groups.errors import BadInput
from groups.extras import command_for


def require(*modules: str, extra: str) -> None:
    """Raise BadInput with the command that installs an extra, where a module of it is missing."""
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        raise BadInput(f"{missing[0]} is not installed: {command_for(extra)}")
