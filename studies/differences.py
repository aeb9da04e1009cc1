"""Differences: what of the differential table a page shows, as matrices that people can read.

A matrix for each assignor as written: a row for each as shipped, a column for each kind of group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from compare.samples.kinds import KINDS
from studies.departures import TIES, departures
from studies.page import table
from studies.records import share

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from studies.comparison import Comparison

    Rows = Mapping[tuple[str, str], Mapping[str, Comparison]]

SAME, TIES_ONLY = "same", "ties"
# KIP-615 with its flaw: the same pairs and nearly the same figures as `kip-615-amended`.
IN_THE_RECORDS_ONLY = ("kip-615-constrained",)


def cell(row: Comparison | None) -> str:
    """Return in words how a shipped assignor differs, in shares of the groups; "" if not compared.

    "same" where every load and every count of moves is; "ties" where the loads are the same but
    for who has which.
    """
    if row is None:
        return ""
    if row.groups == row.valid == row.same_each == row.same_moves:
        return SAME
    if row.groups == row.valid == row.same_loads == row.same_moves:
        return TIES_ONLY
    broken = row.failed + row.timed_out
    parts = (
        (row.better, "more even"),
        (row.worse, "less even"),
        (row.fewer, "fewer moves"),
        (row.more, "more moves"),
        (row.invalid, "not valid"),
        (broken, "no answer"),
    )
    said = [f"{words} {share(count, row.groups)}" for count, words in parts if count]
    return ", ".join(said) or TIES_ONLY


def merged(names: Sequence[str]) -> str:
    """Return names as code; versions of the same assignor stand behind one name."""
    versions: dict[str, list[str]] = {}
    for name in names:
        client, _, version = name.partition("@")
        versions.setdefault(client, []).append(version)
    return ", ".join(f"`{client}` {', '.join(found)}" for client, found in versions.items())


def matrix_of(written: str, rows: Rows) -> str:
    """Return the matrix of one assignor as written; who never differs is one line below it."""
    shipped = {name: kinds for (one, name), kinds in rows.items() if one == written}
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, found in shipped.items():
        cells = tuple(cell(found.get(kind)) for kind in KINDS)
        alike.setdefault((name.partition("@")[0], *cells), []).append(name)
    same, unlike = [], []
    for (_, *said), names in alike.items():
        if set(said) <= {SAME, TIES_ONLY, ""}:
            same += names
        else:
            unlike.append([merged(names), *said])
    parts = [f"### `{written}`"]
    if unlike:
        parts.append(table(["as shipped", *KINDS], unlike))
    if same:
        parts.append(f"No difference but in ties: {merged(same)}.")
    return "\n\n".join(parts)


def departures_of(rows: Rows) -> str:
    """Return a line for each way in which shipped code departs, with who does so.

    Versions stand there where not all that were compared do.
    """
    found: dict[str, dict[str, None]] = {}
    everybody: dict[str, set[str]] = {}
    for (written, shipped), kinds in rows.items():
        everybody.setdefault(shipped.partition("@")[0], set()).add(shipped)
        for kind, row in kinds.items() if written not in IN_THE_RECORDS_ONLY else ():
            for words in departures(written, shipped, kind, row):
                if words != TIES:
                    found.setdefault(words, {})[shipped] = None
    lines = []
    for words, names in sorted(found.items()):
        clients = dict.fromkeys(name.partition("@")[0] for name in names)
        said = [
            f"`{client}`"
            if everybody[client] <= names.keys()
            else merged([name for name in names if name.partition("@")[0] == client])
            for client in clients
        ]
        lines.append(f"- {', '.join(said)}: {words}")
    return "\n".join(lines)


def page_of(rows: Rows) -> str:
    """Return what stands between the marks: kinds of groups, matrices, departures in words."""
    sizes = {
        kind: max(
            (of_pair[kind].groups for of_pair in rows.values() if kind in of_pair), default=0
        )
        for kind in KINDS
    }
    kinds = "\n".join(
        f"- *{kind}*, {sizes[kind]:,} groups: {text}" for kind, text in KINDS.items()
    )
    shown = [
        one for one in dict.fromkeys(one for one, _ in rows) if one not in IN_THE_RECORDS_ONLY
    ]
    parts = [kinds, *(matrix_of(written, rows) for written in shown)]
    return "\n\n".join([*parts, "## Where the code departs, in words", departures_of(rows)])
