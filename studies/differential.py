"""The differential table: assignors as written against the same as shipped, on seeded groups.

``python -m studies.differential`` makes it anew, in ``docs/findings/differential.md``.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from dataclasses import astuple
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from compare.samples.kinds import KINDS, seeded
from heuristics import assignors
from studies.comparison import Comparison
from studies.departures import departure
from studies.measured import measured
from studies.page import put

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from studies.measured import Measured

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


def table_of(rows: Mapping[tuple[str, str], Mapping[str, Comparison]]) -> str:
    """Return the table as Markdown; releases with the same figures throughout share their rows."""
    lines = [
        "| as written | as shipped | groups | compared | both valid | same loads | by member | "
        "balance better / worse | same moves | fewer / more | "
        "shipped invalid / failed / timed out | where the shipped code departs |",
        "|---" * 12 + "|",
    ]
    merged: dict[tuple[str, str, str], list[str]] = {}
    for (written, shipped), kinds in rows.items():
        client, _, version = shipped.partition("@")
        figures = repr([(kind, astuple(row)) for kind, row in kinds.items()])
        merged.setdefault((written, client, figures), []).append(version)
    for (written, client, _), versions in merged.items():
        name = f"{client}@{versions[0]}"
        shown = ", ".join([f"`{name}`", *(f"`@{version}`" for version in versions[1:])])
        for kind, row in rows[written, name].items():
            words = departure(written, name, kind, row)
            lines.append(f"| `{written}` | {shown} | {kind} | {_cells(row)} | {words} |")
    return "\n".join(lines)


def _cells(row: Comparison) -> str:
    valid = f"{row.valid:,}"
    if row.written_invalid:
        valid += f" (as written invalid: {row.written_invalid:,})"
    cells = (
        f"{row.groups:,}",
        valid,
        f"{row.same_loads:,}",
        f"{row.same_each:,}",
        f"{row.better:,} / {row.worse:,}",
        f"{row.same_moves:,}",
        f"{row.fewer:,} / {row.more:,}",
        f"{row.invalid:,} / {row.failed:,} / {row.timed_out:,}",
    )
    return " | ".join(cells)


def page_of(
    rows: Mapping[tuple[str, str], Mapping[str, Comparison]], absent: Sequence[str]
) -> str:
    """Return what stands between the markers: the kinds of groups, the table, who is missing."""
    kinds = "\n".join(f"- *{kind}*: {text}" for kind, text in KINDS.items())
    parts = [kinds, table_of(rows)]
    if absent:
        parts.append(f"Not there: {', '.join(f'`{name}`' for name in absent)}.")
    return "\n\n".join(parts)


def main() -> None:
    """Make the table anew."""
    parser = ArgumentParser(description="make the differential table anew")
    parser.add_argument("--docs", type=Path, default=Path("docs/findings/differential.md"))
    parser.add_argument("--groups", type=int, default=GROUPS)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    started = perf_counter()
    names = list(dict.fromkeys(shipped for _, shipped in pairs(assignors())))
    absent = [name for name in names if assignors()[name].missing() is not None]
    here = [name for name in names if name not in absent]
    rows = compared(here, asked.groups, workers=asked.workers)
    put(asked.docs, "differential", page_of(rows, absent))
    sys.stderr.write(f"{len(rows)} pairs in {perf_counter() - started:.0f} s\n")


if __name__ == "__main__":
    main()
