"""Tallies: how promises fare on many groups, and the smallest group on which each breaks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from compare.promises.promise import PROMISES, promises_of
from compare.promises.shrink import Quarry
from compare.promises.trial import trials

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from compare.promises.trial import Trial
    from groups import Group
    from heuristics.time_limit import TimeLimit

BATCH = 500


@dataclass
class Tally:
    """How a promise fared, by members and partitions in all.

    Attributes
    ----------
    groups, tested, broken : all groups, those that put it to the test, those on which it breaks
    smallest : the smallest of those
    """

    groups: Counter[int] = field(default_factory=Counter)
    tested: Counter[int] = field(default_factory=Counter)
    broken: Counter[int] = field(default_factory=Counter)
    smallest: Quarry | None = None

    def add(self, found: Trial, promise: str) -> None:
        """Count one group."""
        judgement = PROMISES[promise].judge(found)
        size = len(found.group.members) + found.group.n_partitions
        self.groups[size] += 1
        self.tested[size] += judgement.holds is not None
        if judgement.holds is False:
            self.broken[size] += 1
            self.offer(Quarry(found.group, judgement.measured))

    def offer(self, quarry: Quarry | None) -> None:
        """Keep the smaller of two groups; of two alike the one whose document sorts first."""
        best = self.smallest
        if quarry is not None and (best is None or quarry.is_smaller_than(best)):
            self.smallest = quarry

    def __iadd__(self, other: Tally) -> Tally:
        """Add what was counted on other groups."""
        self.groups += other.groups
        self.tested += other.tested
        self.broken += other.broken
        self.offer(other.smallest)
        return self


def tally(
    groups: Iterable[Group],
    asked: Mapping[str, Sequence[str]],
    tried: Callable[[Sequence[Group]], Iterable[Trial]],
) -> dict[tuple[str, str], Tally]:
    """Put promises to assignors on some groups.

    Parameters
    ----------
    asked : of each assignor the promises
    tried : returns trials of these assignors on a batch of groups

    Returns
    -------
    dict
        A tally for each (assignor, promise).
    """
    found = {(name, promise): Tally() for name, some in asked.items() for promise in some}
    stream = iter(groups)
    while found and (batch := list(islice(stream, BATCH))):
        for trial in tried(batch):
            name = trial.run.assignor
            for promise in asked[name]:
                # KIP-881 puts racks before few moves.
                if promise != "optimal-moves" or trial.group.racks is None:
                    found[name, promise].add(trial, promise)
    return found


def tally_of(
    assignor: str,
    groups: Iterable[Group],
    limits: Sequence[TimeLimit],
    promises: Iterable[str] = tuple(PROMISES),
) -> dict[str, Tally]:
    """Put to an assignor, on some groups, those of some promises that it makes.

    Parameters
    ----------
    limits : each has a process of its own, in which a part of the calls runs
    """
    asked = {assignor: [one for one in promises_of(assignor) if one in promises]}
    found = tally(groups, asked, lambda batch: trials(batch, assignor, limits))
    return {promise: one for (_, promise), one in found.items()}
