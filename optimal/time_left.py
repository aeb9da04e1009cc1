"""TimeLeft: a time limit that methods check between solver calls."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

from groups.seconds import seconds_of


class OutOfTime(Exception):
    """The time limit has passed; `solve` turns it into a result."""


@dataclass(frozen=True)
class TimeLeft:
    """Seconds left until a deadline of the monotonic clock; None: no limit."""

    deadline: float | None = None

    @staticmethod
    def of(seconds: float | None) -> TimeLeft:
        """Start the clock on a time limit in seconds.

        Raises
        ------
        BadInput
            If it is no number; a limit below 0 is up at once.
        """
        limit = seconds_of(seconds)
        return TimeLeft(None if limit is None else monotonic() + limit)

    def check(self) -> None:
        """Raise OutOfTime when nothing is left."""
        if self.deadline is not None and monotonic() > self.deadline:
            raise OutOfTime

    @property
    def is_up(self) -> bool:
        """Whether nothing is left."""
        return self.deadline is not None and monotonic() >= self.deadline

    def share(self, parts: int) -> float | None:
        """Return the seconds left divided by `parts`; None without a limit."""
        return None if self.deadline is None else max(0.0, self.deadline - monotonic()) / parts
