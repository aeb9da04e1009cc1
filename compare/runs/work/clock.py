"""Clock: seconds by stage, which add up."""

from __future__ import annotations

from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass
class Clock:
    """Seconds by stage.

    Attributes
    ----------
    seconds : by the names in `compare.runs.work.stages.WORDS`; "task" is all that a task took
    """

    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the seconds of what happens within to a stage."""
        start = perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] += perf_counter() - start

    def add(self, seconds: Mapping[str, float]) -> None:
        """Add seconds by stage that somebody else took."""
        for stage, taken in seconds.items():
            self.seconds[stage] += taken
