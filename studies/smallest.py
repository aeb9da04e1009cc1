"""Small groups: all ordinary ones up to a size, and whether assignors keep promises on them.

``docs/findings/smallest.json`` says for each shipped assignor and promise on how many ordinary
groups without racks it holds, in every order of names, or from which size on it breaks.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compare.promises.promise import PROMISES
from compare.samples.enumerated import joined, joins

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from compare.promises.findings import Finding
    from groups import Group
    from studies.tallies import Tally

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
