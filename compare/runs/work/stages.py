"""Stages: where the time of a run went."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from compare.runs.work.clock import Clock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compare.runs.work.tally import Tally

# What is timed, in the order in which people see it, and what they see.
WORDS = {
    "decode": "decoding the input",
    # A group that is solved by itself is checked in there as well.
    "solve": "solving",
    "check": "checking what was found",
    "judge": "verdicts",
    "score": "scoring",
    "assignors": "asking assignors and scoring them",
    "find": "finding the input",
    "start": "starting Spark",
    "fetch": "reading the input",
    "key": "keys of groups",
    "plan": "finding what is missing",
    "open": "reading tables",
    "read": "rows to arrays",
    "pass": "passing rows between processes",
    "write": "writing tables",
    "lost": "groups that did harm",
    "other": "the rest of the tasks",
    "spark": "Spark, and cores that wait",
    "add": "adding up all groups in the tables",
    "end": "summing up",
}
# What a run is for.
WORK = ("decode", "solve", "check", "judge", "score", "assignors")


@dataclass
class Stages(Clock):
    """Seconds of a run by stage, which add up to all of them.

    What cores do side by side counts as the share of the time that it took of all cores.
    """

    @contextmanager
    def phase(self, cores: int) -> Iterator[list[Tally]]:
        """Share out the seconds of what happens within by what its tasks say; take their tally."""
        tallies: list[Tally] = []
        start = perf_counter()
        yield tallies
        left = perf_counter() - start
        for tally in tallies:
            taken = dict(tally.seconds)
            other = taken.pop("task", 0.0) - sum(taken.values())
            for stage, seconds in {**taken, "other": max(other, 0.0)}.items():
                self.seconds[stage] += seconds / cores
                left -= seconds / cores
        self.seconds["spark"] += max(left, 0.0)

    def rows(self) -> tuple[tuple[str, float], ...]:
        """Return the stages that took time, and their seconds."""
        return tuple((name, self.seconds[name]) for name in WORDS if name in self.seconds)


def timings(rows: tuple[tuple[str, float], ...]) -> list[str]:
    """Return lines for people: what took how long, and its share of the time."""
    total = sum(seconds for _, seconds in rows) or 1.0
    lines = [
        f"{seconds:9.1f} s {seconds / total:6.1%}  {WORDS[name]}"
        for name, seconds in rows
        if name in WORK or seconds >= 0.0005 * total
    ]
    work = sum(seconds for name, seconds in rows if name in WORK)
    return [
        *lines,
        f"{total:9.1f} s, {work / total:.0%} of it decoding, solving, checking and scoring",
    ]
