"""Start: bring up what an assignor needs in its process, before its time begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.errors import AssayError, in_one_line
from heuristics.child import Lost

if TYPE_CHECKING:
    from collections.abc import Callable

    from heuristics.assignor import Assignor
    from heuristics.child import Child

PREPARE_SECONDS = 120.0


def start(child: Child, assignor: Assignor) -> str | None:
    """Start what an assignor needs, such as a JVM, in a child process; return why that failed."""
    lost = child.call(_prepare, assignor.prepare, seconds=PREPARE_SECONDS)
    return lost.reason if isinstance(lost, Lost) else lost


def _prepare(prepare: Callable[[], None]) -> str | None:
    try:
        prepare()
    except Exception as error:
        return str(error) if isinstance(error, AssayError) else in_one_line(error)
    return None
