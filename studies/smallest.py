"""The promises of the shipped assignors: every small ordinary group, every promise.

``python -m studies smallest`` makes ``docs/findings/smallest.json`` anew: of each assignor and
promise, on how many ordinary groups without racks it holds, in every order of names, or from which
size on it breaks. Assignors that cannot be called here, or are not named, keep the records that
they have.
"""

from __future__ import annotations

import json
import sys
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from compare.promises.findings import Finding, read_findings
from compare.promises.promise import PROMISES
from compare.promises.shrink import Quarry
from compare.samples.enumerated import joined, joins
from compare.samples.ordinary import is_ordinary, ordinary_in_racks
from heuristics.time_limit import TimeLimit
from studies.shipped_findings import (
    FINDINGS,
    bare,
    by_version,
    children,
    names_of,
    renewed,
    write_findings,
)
from studies.tallies import tally_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from groups import Group
    from studies.tallies import Tally

RECORDS = Path("docs/findings/smallest.json")
SECONDS = 2.0
SEED = 1
DRAWN = 6000
# Members and partitions in all, and the most topics among which the partitions are.
SMALL = ((6, 5),)
HOW = "every ordinary group of up to {} members and partitions in all; the smallest that breaks it"


def small(sizes: Sequence[tuple[int, int]] = SMALL) -> Iterator[Group]:
    """Return every ordinary group up to some sizes, by members and partitions in all."""
    least = 2
    for size, topics in sizes:
        for total in range(least, size + 1):
            for members in range(1, total):
                for many in range(1, min(topics, total - members) + 1):
                    yield from map(joined, joins(members, many, total - members))
        least = size + 1


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


def run(names: Sequence[str]) -> None:
    """Make the records anew."""
    for name in names_of(names):
        started = perf_counter()
        with children(SECONDS) as limits:
            found = tally_of(name, small(), limits)
            racked = tally_of(name, islice(ordinary_in_racks(SEED), DRAWN), limits, ["settles"])
        findings = with_smaller(list(read_findings(FINDINGS)), name, found)
        write_findings(findings)
        by_promise = {
            f.promise: f for f in findings if bare(f.assignor) == bare(name) and not f.is_second
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
        _put(records)
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


def _put(records: Sequence[Mapping[str, object]]) -> None:
    """Write records beside those of other assignors, one to a line."""
    names = {record["assignor"] for record in records}
    before = json.loads(RECORDS.read_text("utf-8"))
    rest = [record for record in before if record["assignor"] not in names]
    order = list(PROMISES)
    every = sorted(
        [*rest, *records], key=lambda r: (str(r["assignor"]), order.index(str(r["promise"])))
    )
    lines = ",\n ".join(json.dumps(record) for record in every)
    RECORDS.write_text(f"[{lines}]\n", encoding="utf-8")
