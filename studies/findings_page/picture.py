"""Picture: a group as text: who reads what, who owns what, who joins, and what becomes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compare.promises.told import replicas
from groups.wording import ranges

if TYPE_CHECKING:
    from collections.abc import Mapping

    from compare.promises.findings import Finding

    Held = Mapping[str, Mapping[str, list[int]]]


COLUMNS = 120


def picture(finding: Finding) -> list[str]:
    """Return the group of a finding as lines: before, what the assignor makes of it, an optimum.

    Members are lines and topics columns. A cell has the numbers of the partitions that the member
    owns or is given, ``reads`` where it reads the topic and has none of it, and nothing where it
    does not read it. The three stand side by side where there is room.
    """
    grids, record = [before(finding)], finding.record
    if record is not None and record.plan is not None:
        grids.append(_grid(finding, record.plan, "what it makes", set()))
    if record is not None and record.better is not None:
        grids.append(_grid(finding, record.better, "an optimum", set()))
    widths = [max(map(len, grid)) for grid in grids]
    near = replicas(finding.group)
    if sum(widths) + 5 * (len(grids) - 1) > COLUMNS:
        return [line for grid in (*grids, near) if grid for line in (*grid, "")][:-1]
    rows = [
        "  |  ".join(line.ljust(w) for line, w in zip(row, widths, strict=True)).rstrip()
        for row in zip(*grids, strict=True)
    ]
    return [*rows, "", *near] if near else rows


def before(finding: Finding) -> list[str]:
    """Return the group as it is before, who reads, owns and joins, as lines."""
    members = finding.group.to_dict()["members"]
    owned = {member: said["owned"] for member, said in members.items()}
    claimed = any(owned.values())
    joins = {m for m in members if claimed and not owned[m]}
    return _grid(finding, owned, "owns before" if claimed else "reads", joins)


def _grid(finding: Finding, held: Held, what: str, joins: set[str]) -> list[str]:
    group = finding.group
    document = group.to_dict()
    racks = {m: said["rack"] for m, said in document["members"].items() if said.get("rack")}
    counts = zip(group.topics, group.partitions.tolist(), strict=True)
    rows = [[what, *(f"{topic} ({count})" for topic, count in counts), "in all"]]
    for member, said in document["members"].items():
        of, reads = held.get(member, {}), said["subscription"] or ()
        named = f"{member}{' joins' if member in joins else ''}"
        named += f", rack {racks[member]}" if member in racks else ""
        cells = [
            ranges(of[t]) if of.get(t) else "reads" if t in reads else "" for t in group.topics
        ]
        rows.append([named, *cells, str(sum(map(len, of.values())))])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
