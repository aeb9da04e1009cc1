"""Tallies: on how many groups promises hold or break, and the smallest that breaks each.

``docs/findings/smallest.json`` says for each shipped assignor and promise on how many ordinary
groups without racks it holds, in every order of names, or from which size on it breaks.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compare.promises.promise import PROMISES, promises_of
from compare.promises.shrink import Quarry
from compare.promises.trial import trials
from compare.samples.enumerated import joined, joins

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from compare.promises.findings import Finding
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


RECORDS = Path("docs/findings/smallest.json")
# Members and partitions in all.
SMALL = 6


def small(size: int = SMALL) -> Iterator[Group]:
    """Yield all ordinary groups up to a size, which is members plus partitions."""
    for total in range(2, size + 1):
        for members in range(1, total):
            for topics in range(1, total - members + 1):
                yield from map(joined, joins(members, topics, total - members))


def record_of(assignor: str, promise: str, one: Tally, finding: Finding | None) -> dict[str, Any]:
    """Return the record of an assignor and a promise.

    `groups` counts the enumerated groups, `tested` those that test the promise. If the promise
    breaks, both count only groups smaller than the smallest that breaks it, and `breaks` has the
    numbers of breaking and tested groups of that size.
    """
    size = min(one.broken, default=None)
    groups, tested = (
        sum(count for total, count in counts.items() if size is None or total < size)
        for counts in (one.groups, one.tested)
    )
    record: dict[str, Any] = {
        "assignor": assignor,
        "promise": promise,
        "holds": size is None and finding is None,
        "finding": None if finding is None else finding.id,
        "groups": groups,
        "tested": tested,
    }
    if size is not None:
        record["breaks"] = {"size": size, "groups": one.broken[size], "tested": one.tested[size]}
    return record


def put_records(records: Sequence[Mapping[str, object]]) -> None:
    """Write records, one a line, in place of those of the same assignors."""
    names = {record["assignor"] for record in records}
    before = json.loads(RECORDS.read_text("utf-8"))
    rest = [record for record in before if record["assignor"] not in names]
    order = list(PROMISES)
    every = sorted(
        [*rest, *records], key=lambda r: (str(r["assignor"]), order.index(str(r["promise"])))
    )
    lines = ",\n ".join(json.dumps(record) for record in every)
    RECORDS.write_text(f"[{lines}]\n", encoding="utf-8")
