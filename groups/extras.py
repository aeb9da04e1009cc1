"""Extras: optional dependencies, and the command that installs them."""

from __future__ import annotations

from importlib.util import find_spec

from groups.errors import BadInput


def command_for(extra: str) -> str:
    """Return the command that installs an extra: from a clone, since no package index has it.

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
    """Raise BadInput with the command that installs an extra if a module of it is missing."""
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        raise BadInput(f"{missing[0]} is not installed: {command_for(extra)}")
