"""The promises of the shipped assignors: every small ordinary group, every promise.

``python -m studies.smallest`` makes ``docs/findings/smallest.json`` anew: of each assignor and
promise, on how many ordinary groups it holds, or what breaks it. Assignors that cannot be called
here, or are not named, keep the records that they have.
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
from typing import TYPE_CHECKING

from compare.promises.findings import Finding, as_lines, read_findings
from compare.promises.promise import PROMISES
from compare.promises.promised import promises_of
from compare.promises.shrink import Quarry
from compare.promises.trial import trials
from compare.samples.joins import joined, joins
from compare.samples.ordinary import is_ordinary, ordinary_in_racks
from groups.wording import counted
from heuristics.time_limit import TimeLimit
from studies.many_joins.calls import RECORDS as JOINS
from studies.many_joins.calls import sentence_of
from studies.page import read
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
NOT_LEAST = ", and not proved to be the smallest"
JOINED = "; and on every join"


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


def said_of(sizes: Sequence[tuple[int, int]] = SMALL) -> str:
    """Return which groups `small` returns, as a sentence."""
    each = [
        f"up to {total} members and partitions in all, in up to {counted(topics, 'topic')}"
        for total, topics in sizes
    ]
    return f"every ordinary group of {'; of '.join(each)}, in every order of names, without racks"


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


def record_of(
    assignor: str, promise: str, one: Tally, finding: Finding | None, enumerated: str
) -> dict[str, object]:
    """Return the record of an assignor and a promise.

    Where the promise breaks on a group that was enumerated, `groups` counts the smaller ones.
    """
    groups = one.tested.total()
    enumerated += _put_to_the_test(groups, one.groups.total())
    sentence = enumerated
    if one.smallest is not None:
        size = len(one.smallest.group.members) + one.smallest.group.n_partitions
        groups, smaller = (
            sum(count for total, count in counts.items() if total < size)
            for counts in (one.tested, one.groups)
        )
        sentence = (
            f"it holds on every ordinary group without racks of fewer than {size} members and "
            f"partitions in all{_put_to_the_test(groups, smaller)}, and breaks on "
            f"{one.broken[size]:,} of {one.tested[size]:,} of {size}"
        )
    elif finding is not None and is_ordinary(finding.group):
        size = len(finding.group.members) + finding.group.n_partitions
        between = NOT_LEAST if size > SMALL[-1][0] + 1 else ""
        sentence = f"it holds on {enumerated}; the finding is larger{between}"
    elif finding is not None:
        sentence = f"it holds on {enumerated}; the group of the finding is not an ordinary one"
    return {
        "assignor": assignor,
        "promise": promise,
        "holds": one.smallest is None and finding is None,
        "finding": None if finding is None else finding.id,
        "groups": groups,
        "enumerated": sentence,
    }


def _put_to_the_test(tested: int, groups: int) -> str:
    return "" if tested == groups else f", that puts it to the test ({tested:,} of {groups:,})"


def with_racks(record: Mapping[str, object], one: Tally) -> dict[str, object]:
    """Return the record of `settles` that says how often it breaks on drawn groups with racks."""
    broken, tested = one.broken.total(), one.tested.total()
    drawn = f"{tested:,} ordinary groups with racks that were drawn (seed {SEED})"
    sentence = f"{record['enumerated']}; with racks it breaks on {broken:,} of {drawn}"
    return {**record, "enumerated": sentence}


def with_joins(
    records: Sequence[Mapping[str, object]], called: Sequence[Mapping[str, str]]
) -> list[dict[str, object]]:
    """Return records that count the joins on which an assignor was called to see it end.

    Their `joins` is how many these are. Those that a record counts already are counted anew.
    """
    found = []
    for before in records:
        record = {key: value for key, value in before.items() if key != "joins"}
        groups = int(str(before["groups"])) - int(str(before.get("joins", 0)))
        enumerated = str(before["enumerated"]).partition(JOINED)[0]
        mine = [row for row in called if row["assignor"] == record["assignor"] and is_larger(row)]
        if record["promise"] == "terminates" and mine and all(r["hang"] == "0" for r in mine):
            count = sum(int(row["joins"]) for row in mine)
            record["joins"] = count
            groups += count
            enumerated += f"; and on {sentence_of(mine)}"
        record["groups"], record["enumerated"] = groups, enumerated
        found.append(record)
    return found


def is_larger(joins: Mapping[str, str]) -> bool:
    """Return whether the joins of a row are larger than the groups of all the promises."""
    return int(joins["members"]) + int(joins["partitions"]) > SMALL[-1][0]


def main() -> None:
    """Make the records anew."""
    parser = ArgumentParser(description="hold the shipped assignors to their promises anew")
    parser.add_argument("names", nargs="*", help="assignors, all that can be called if left out")
    parser.add_argument("--to", type=Path, default=Path("docs/findings/smallest.json"))
    parser.add_argument("--findings", type=Path, default=Path("corpus/findings.jsonl"))
    parser.add_argument("--children", type=int, default=2, help="processes side by side")
    parser.add_argument("--joins", action="store_true", help="count anew the joins called alone")
    asked = parser.parse_args()
    if asked.joins:
        _put(asked.to, with_joins(json.loads(asked.to.read_text("utf-8")), read(JOINS)))
        return
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
            record_of(name, promise, one, by_promise.get(promise), said_of())
            for promise, one in found.items()
        ]
        records = [
            with_racks(one, racked["settles"]) if one["promise"] == "settles" else one
            for one in records
        ]
        _put(asked.to, with_joins(records, read(JOINS) if JOINS.is_file() else []))
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
        how = f"{said_of()}; the smallest on which it breaks"
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
