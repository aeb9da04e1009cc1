"""Extras: what only some users install, and the command that brings it."""

from __future__ import annotations

from importlib.util import find_spec

from groups.errors import BadInput


def command_for(extra: str) -> str:
    """Return the command that installs an extra: from a clone, as no package index has this.

    Examples
    --------
    >>> command_for("java")
    "in the clone of kafka-assay, pip install '.[java]'"
    """
    return f"in the clone of kafka-assay, pip install '.[{extra}]'"


def require_plots() -> None:
    """Raise BadInput with the command that installs what pages and figures need."""
    require("altair", "vl_convert", "pandas", "pyarrow", extra="plots")


def require(*modules: str, extra: str) -> None:
    """Raise BadInput with the command that installs an extra, where a module of it is missing."""
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        raise BadInput(f"{missing[0]} is not installed: {command_for(extra)}")
