"""The differential table: assignors as written against the same as shipped, on seeded groups.

``python -m studies.differential`` makes it anew, in ``docs/differential.md``.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from dataclasses import astuple, dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from compare.samples.kinds import KINDS, seeded
from heuristics import ASSIGNORS
from studies.departures import departure
from studies.outcomes import outcomes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from studies.outcomes import Figures

BEGIN, END = "<!-- made by: make differential -->", "<!-- end -->"
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


@dataclass
class Row:
    """How an assignor as shipped compares with one as written, on groups of one kind.

    Attributes
    ----------
    groups : compared: those that the one as written does not refuse
    written_invalid : groups for which it makes no valid assignment
    invalid, failed, timed_out : groups for which the shipped one makes none
    valid : groups for which both do; the rest is about these
    same_loads, same_each : loads the same, sorted and member by member
    better, worse : the shipped one has a lower, or higher, balance score
    same_moves, fewer, more : of those with the same balance score, by partitions moved
    """

    groups: int = 0
    written_invalid: int = 0
    invalid: int = 0
    failed: int = 0
    timed_out: int = 0
    valid: int = 0
    same_loads: int = 0
    same_each: int = 0
    better: int = 0
    worse: int = 0
    same_moves: int = 0
    fewer: int = 0
    more: int = 0

    def add(self, written: Figures, shipped: Figures) -> None:
        """Count one group."""
        if written.status == "refused":
            return
        self.groups += 1
        self.written_invalid += written.status != "valid"
        self.invalid += shipped.status == "invalid"
        self.failed += shipped.status in ("failed", "refused")
        self.timed_out += shipped.status == "timed-out"
        if written.status != "valid" or shipped.status != "valid":
            return
        self.valid += 1
        self.same_loads += sorted(written.loads) == sorted(shipped.loads)
        self.same_each += written.loads == shipped.loads
        self.better += shipped.balance < written.balance
        self.worse += shipped.balance > written.balance
        if shipped.balance == written.balance:
            self.same_moves += shipped.moves == written.moves
            self.fewer += shipped.moves < written.moves
            self.more += shipped.moves > written.moves


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
    by_name: Mapping[str, Sequence[Figures]],
    sizes: Mapping[str, int],
) -> dict[tuple[str, str], dict[str, Row]]:
    """Return the rows of each pair, by kind; kinds of which no group is compared are left out.

    Parameters
    ----------
    names : of assignors as shipped
    by_name : the figures of every assignor, over the groups of one kind after the other
    sizes : how many groups each kind has, in that order
    """
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for written, shipped in pairs(names):
        start, rows = 0, {}
        for kind, size in sizes.items():
            row, span = Row(), slice(start, start + size)
            for one, other in zip(by_name[written][span], by_name[shipped][span], strict=True):
                row.add(one, other)
            start += size
            if row.groups:
                rows[kind] = row
        found[written, shipped] = rows
    return found


def compared(
    names: Sequence[str], total: int, *, seconds: float = 2.0, workers: int = 2
) -> dict[tuple[str, str], dict[str, Row]]:
    """Run assignors as shipped, and those as written that they are held against.

    Returns
    -------
    dict
        Rows by pair and kind, over at least `total` groups.
    """
    kinds = seeded(total)
    groups = [group for found in kinds.values() for group in found]
    written = list(dict.fromkeys(one for one, _ in pairs(names)))
    by_name = outcomes([*written, *names], groups, seconds=seconds, workers=workers)
    return rows_of(names, by_name, {kind: len(found) for kind, found in kinds.items()})


def table_of(rows: Mapping[tuple[str, str], Mapping[str, Row]]) -> str:
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


def _cells(row: Row) -> str:
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


def page_of(rows: Mapping[tuple[str, str], Mapping[str, Row]], absent: Sequence[str]) -> str:
    """Return what stands between the markers: the kinds of groups, the table, who is missing."""
    kinds = "\n".join(f"- *{kind}*: {text}" for kind, text in KINDS.items())
    parts = [kinds, table_of(rows)]
    if absent:
        parts.append(f"Not there: {', '.join(f'`{name}`' for name in absent)}.")
    return "\n\n".join(parts)


def main() -> None:
    """Make the table anew."""
    parser = ArgumentParser(description="make the differential table anew")
    parser.add_argument("--docs", type=Path, default=Path("docs/differential.md"))
    parser.add_argument("--groups", type=int, default=GROUPS)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    started = perf_counter()
    names = list(dict.fromkeys(shipped for _, shipped in pairs(ASSIGNORS)))
    absent = [name for name in names if ASSIGNORS[name].missing() is not None]
    here = [name for name in names if name not in absent]
    rows = compared(here, asked.groups, workers=asked.workers)
    page = asked.docs.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    made = page_of(rows, absent)
    asked.docs.write_text(f"{before}{BEGIN}\n\n{made}\n\n{END}{after}", encoding="utf-8")
    sys.stderr.write(f"{len(rows)} pairs in {perf_counter() - started:.0f} s\n")


if __name__ == "__main__":
    main()
