"""Stored: what the tables held when a run began, and what it found since, looked up by keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from compare.runs.tables.files import good
from compare.runs.tables.stored_keys import StoredKeys

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


@dataclass
class Stored:
    """The keys of the tables, each read when it is first asked for.

    Attributes
    ----------
    out, run : folder of the tables, and the name of the run, whose own files are looked at besides
    files : of each table, those that were whole when the run began
    """

    out: Path
    run: str
    files: Mapping[str, Sequence[Path]]
    _keys: dict[str, StoredKeys] = field(default_factory=dict)

    def __getitem__(self, name: str) -> StoredKeys:
        """Return the keys of a table."""
        if name not in self._keys:
            # A task that is tried again finds what the first try has written.
            own, _ = good(self.out, name, self.run)
            self._keys[name] = StoredKeys([*self.files[name], *own])
        return self._keys[name]
