"""Tallies: on how many groups promises hold or break, and the smallest that breaks each."""

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
    """The counts of a promise, by size of the group (members plus partitions).

    Attributes
    ----------
    groups, tested, broken : numbers of all groups, of those that test it, of those that break it
    smallest : the smallest group that breaks it
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
        """Keep a group if it is smaller; ties: the one whose document sorts first."""
        best = self.smallest
        if quarry is not None and (best is None or quarry.is_smaller_than(best)):
            self.smallest = quarry

    def __iadd__(self, other: Tally) -> Tally:
        """Add the counts of other groups."""
        self.groups += other.groups
        self.tested += other.tested
        self.broken += other.broken
        self.offer(other.smallest)
        return self


def tally(
    groups: Iterable[Group],
    asked: Mapping[str, Sequence[str]],
    trials_of: Callable[[Sequence[Group]], Iterable[Trial]],
) -> dict[tuple[str, str], Tally]:
    """Judge promises of assignors on some groups.

    Parameters
    ----------
    asked : promises of each assignor
    trials_of : returns trials of these assignors on a batch of groups

    Returns
    -------
    dict
        A tally for each (assignor, promise).
    """
    found = {(name, promise): Tally() for name, promises in asked.items() for promise in promises}
    stream = iter(groups)
    while found and (batch := list(islice(stream, BATCH))):
        for trial in trials_of(batch):
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
    """Judge an assignor on some groups, by those of `promises` that it makes.

    Parameters
    ----------
    limits : the calls are divided among their processes
    """
    asked = {assignor: [one for one in promises_of(assignor) if one in promises]}
    found = tally(groups, asked, lambda batch: trials(batch, assignor, limits))
    return {promise: one for (_, promise), one in found.items()}
