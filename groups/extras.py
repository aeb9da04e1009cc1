"""Extras: what only some users install, and the command that brings it."""

from __future__ import annotations


def command_for(extra: str) -> str:
    """Return the command that installs an extra: from a clone, as no package index has this.

    Examples
    --------
    >>> command_for("java")
    "in the clone of kafka-assay, pip install '.[java]'"
    """
    return f"in the clone of kafka-assay, pip install '.[{extra}]'"
