"""The differential table: assignors as written against the same as shipped, on seeded groups.

``python -m studies.differential`` makes it anew: ``docs/findings/differential.csv`` has every
figure, ``differential.md`` the matrices of what differs.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from dataclasses import asdict, fields
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from compare.samples.kinds import seeded
from heuristics import assignors
from studies.comparison import Comparison
from studies.departures import departure
from studies.differences import page_of
from studies.measured import measured
from studies.page import put
from studies.records import beside, read, write

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from studies.measured import Measured
    from studies.records import Cell

GROUPS = 5000
# Members list a shipped assignor by this name; whose it is comes before the slash.
SHIPPED_AS = {
    "range": ("range",),
    "roundrobin": ("roundrobin", "RoundRobinAssigner"),
    "kip-54-sticky": ("sticky",),
    "kip-615-constrained": ("sticky", "cooperative-sticky"),
    "kip-615-amended": ("sticky", "cooperative-sticky"),
    "kip-429-cooperative": ("cooperative-sticky",),
}


def pairs(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return (as written, as shipped) for each of the assignors as shipped."""
    shipped = list(names)
    return [
        (written, name)
        for written, kept in SHIPPED_AS.items()
        for name in shipped
        if name.partition("/")[2].partition("@")[0] in kept
    ]


def rows_of(
    names: Iterable[str],
    by_name: Mapping[str, Sequence[Measured]],
    sizes: Mapping[str, int],
) -> dict[tuple[str, str], dict[str, Comparison]]:
    """Return the rows of each pair, by kind; kinds of which no group is compared are left out.

    Parameters
    ----------
    names : of assignors as shipped
    by_name : what was measured of every assignor, on the groups of one kind after the other
    sizes : how many groups each kind has, in that order
    """
    found: dict[tuple[str, str], dict[str, Comparison]] = {}
    for written, shipped in pairs(names):
        start, rows = 0, {}
        for kind, size in sizes.items():
            row, span = Comparison(), slice(start, start + size)
            for one, other in zip(by_name[written][span], by_name[shipped][span], strict=True):
                row.add(one, other)
            start += size
            if row.groups:
                rows[kind] = row
        found[written, shipped] = rows
    return found


def compared(
    names: Sequence[str], total: int, *, seconds: float = 2.0, workers: int = 2
) -> dict[tuple[str, str], dict[str, Comparison]]:
    """Run assignors as shipped, and those as written that they are held against.

    Returns
    -------
    dict
        Rows by pair and kind, over at least `total` groups.
    """
    kinds = seeded(total)
    groups = [group for found in kinds.values() for group in found]
    written = list(dict.fromkeys(one for one, _ in pairs(names)))
    by_name = measured([*written, *names], groups, seconds=seconds, workers=workers)
    return rows_of(names, by_name, {kind: len(found) for kind, found in kinds.items()})


def records_of(
    rows: Mapping[tuple[str, str], Mapping[str, Comparison]],
) -> list[dict[str, Cell]]:
    """Return a record for each pair and kind: every count, and where the shipped code departs."""
    return [
        {
            "written": written,
            "shipped": shipped,
            "kind": kind,
            **asdict(row),
            "departs": departure(written, shipped, kind, row),
        }
        for (written, shipped), kinds in rows.items()
        for kind, row in kinds.items()
    ]


def rows_in(records: Iterable[Mapping[str, str]]) -> dict[tuple[str, str], dict[str, Comparison]]:
    """Return the rows that records were made of."""
    found: dict[tuple[str, str], dict[str, Comparison]] = {}
    for record in records:
        counts = {field.name: int(record[field.name]) for field in fields(Comparison)}
        pair = record["written"], record["shipped"]
        found.setdefault(pair, {})[record["kind"]] = Comparison(**counts)
    return found


def main() -> None:
    """Make the page and its records anew."""
    parser = ArgumentParser(description="make the differential matrices anew")
    parser.add_argument("--docs", type=Path, default=Path("docs/findings/differential.md"))
    parser.add_argument("--groups", type=int, default=GROUPS)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--page-only", action="store_true", help="of the records that are there")
    asked = parser.parse_args()
    started = perf_counter()
    if asked.page_only:
        rows = rows_in(read(beside(asked.docs)))
    else:
        names = list(dict.fromkeys(shipped for _, shipped in pairs(assignors())))
        absent = [name for name in names if assignors()[name].missing() is not None]
        here = [name for name in names if name not in absent]
        rows = compared(here, asked.groups, workers=asked.workers)
        write(beside(asked.docs), records_of(rows))
        sys.stderr.write("".join(f"not there: {name}\n" for name in absent))
    put(asked.docs, "differential", page_of(rows))
    sys.stderr.write(f"{len(rows)} pairs in {perf_counter() - started:.0f} s\n")


if __name__ == "__main__":
    main()
