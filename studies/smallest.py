"""The promises of the shipped assignors: every small ordinary group, every promise.

``python -m studies.smallest`` makes ``docs/findings/smallest.json`` anew: of each assignor and
promise, on how many ordinary groups without racks it holds, in every order of names, or from which
size on it breaks. Assignors that cannot be called here, or are not named, keep the records that
they have.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from compare.promises.findings import Finding, as_lines, read_findings
from compare.promises.promise import PROMISES, promises_of
from compare.promises.shrink import Quarry
from compare.promises.trial import trials
from compare.samples.enumerated import joined, joins
from compare.samples.ordinary import is_ordinary, ordinary_in_racks
from heuristics.time_limit import TimeLimit
from studies.recorded_findings import renewed
from studies.shipped_findings import by_version, names_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compare.promises.trial import Trial
    from groups import Group

BATCH = 200
SECONDS = 2.0
SEED = 1
DRAWN = 6000
# Members and partitions in all, and the most topics among which the partitions are.
SMALL = ((6, 5),)
HOW = "every ordinary group of up to {} members and partitions in all; the smallest that breaks it"


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
            quarry = Quarry(found.group, judgement.measured)
            if self.smallest is None or quarry.is_smaller_than(self.smallest):
                self.smallest = quarry


def small(sizes: Sequence[tuple[int, int]] = SMALL) -> Iterator[Group]:
    """Return every ordinary group up to some sizes, by members and partitions in all."""
    least = 2
    for size, topics in sizes:
        for total in range(least, size + 1):
            for members in range(1, total):
                for many in range(1, min(topics, total - members) + 1):
                    yield from map(joined, joins(members, many, total - members))
        least = size + 1


def tally(
    groups: Iterable[Group],
    assignor: str,
    limits: Sequence[TimeLimit],
    promises: Sequence[str] = tuple(PROMISES),
) -> dict[str, Tally]:
    """Put to an assignor, on some groups, those of some promises that it makes."""
    found = {promise: Tally() for promise in promises_of(assignor) if promise in promises}
    if not found:
        return found
    stream = iter(groups)
    while batch := list(islice(stream, BATCH)):
        for trial in trials(batch, assignor, limits):
            for promise, one in found.items():
                one.add(trial, promise)
    return found


def record_of(assignor: str, promise: str, one: Tally, finding: Finding | None) -> dict[str, Any]:
    """Return the record of an assignor and a promise.

    `groups` counts all that were enumerated and `tested` those of them that put the promise to the
    test. Where it breaks on one of them, both count those of fewer members and partitions in all,
    and `breaks` says of that size how many break it, of how many that put it to the test.
    """
    size = None if one.smallest is None else one.smallest.size[0]
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


def main() -> None:
    """Make the records anew."""
    parser = ArgumentParser(description="hold the shipped assignors to their promises anew")
    parser.add_argument("names", nargs="*", help="assignors, all that can be called if left out")
    parser.add_argument("--to", type=Path, default=Path("docs/findings/smallest.json"))
    parser.add_argument("--findings", type=Path, default=Path("corpus/findings.jsonl"))
    parser.add_argument("--children", type=int, default=2, help="processes side by side")
    asked = parser.parse_args()
    for name in names_of(asked.names):
        started = perf_counter()
        with ExitStack() as open_:
            limits = [open_.enter_context(TimeLimit(SECONDS)) for _ in range(asked.children)]
            found = tally(small(), name, limits)
            racked = tally(islice(ordinary_in_racks(SEED), DRAWN), name, limits, ("settles",))
        findings = with_smaller(list(read_findings(asked.findings)), name, found)
        asked.findings.write_text(as_lines(findings), encoding="utf-8")
        by_promise = {
            f.promise: f for f in findings if _bare(f.assignor) == _bare(name) and not f.is_second
        }
        records = [
            record_of(name, promise, one, by_promise.get(promise))
            for promise, one in found.items()
        ]
        for record in records:
            if record["promise"] == "settles":
                one = racked["settles"]
                record["with_racks"] = {
                    "groups": one.broken.total(), "tested": one.tested.total()
                }  # fmt: skip
        _put(asked.to, records)
        sys.stderr.write(f"{name}: {perf_counter() - started:.0f} s\n")


def with_smaller(
    findings: Sequence[Finding], assignor: str, found: Mapping[str, Tally]
) -> list[Finding]:
    """Return findings with those groups that are smaller, or ordinary where theirs are not.

    Those are recorded, and were found today.
    """
    kept = {f.id: f for f in findings}
    smaller = []
    for promise, one in found.items():
        if one.smallest is None:
            continue
        made = Finding.of(assignor, promise, one.smallest.group, one.smallest.measured)
        known = kept.get(made.id)
        if (
            known is None
            or not is_ordinary(known.group)
            or Quarry(made.group, {}).size < Quarry(known.group, {}).size
        ):
            smaller.append(made)
    if smaller:
        how = HOW.format(SMALL[-1][0])
        with TimeLimit(SECONDS) as limit:
            versions = [by_version(made, limit) for made in smaller]
            kept |= {made.id: made for made in renewed(versions, findings, how, limit)}
    return [*kept.values()]


def _put(file: Path, records: Sequence[Mapping[str, object]]) -> None:
    """Write records beside those of other assignors, one to a line."""
    before = json.loads(file.read_text("utf-8")) if file.is_file() else []
    names = {record["assignor"] for record in records}
    rest = [record for record in before if record["assignor"] not in names]
    order = list(PROMISES)
    every = sorted(
        [*rest, *records], key=lambda r: (str(r["assignor"]), order.index(str(r["promise"])))
    )
    lines = ",\n ".join(json.dumps(record) for record in every)
    file.write_text(f"[{lines}]\n", encoding="utf-8")


def _bare(name: str) -> str:
    return name.partition("@")[0]


if __name__ == "__main__":
    main()
