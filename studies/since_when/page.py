"""Page: the tables of the page since when, made of the histories of findings."""

from __future__ import annotations

import json
from fnmatch import fnmatch
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from studies.page import table
from studies.since_when.verdicts import AFFECTED, UNAFFECTED, UNTRIED, has_it

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    History = Mapping[str, Any]

TOLD = Path(__file__).with_name("told.json")


def history(
    finding: str,
    releases: Sequence[Mapping[str, object]],
    told: Mapping[str, Sequence[Mapping[str, object]]] | None = None,
) -> dict[str, object]:
    """Return the history of a finding.

    Parameters
    ----------
    finding : its id
    releases : version, date, status and reason of each, oldest first
    told : changes and reports, from ``told.json`` if left out: a change counts where the first
        affected release, or the first that is not any more, is the one that it names
    """
    told = json.loads(TOLD.read_text("utf-8")) if told is None else told
    affected = [row["version"] for row in releases if row["status"] == AFFECTED]
    first, last = (affected[0], affected[-1]) if affected else (None, None)
    changes = [
        one["text"] for one in told["changes"] if _is_of(one, finding) and one["first"] == first
    ]
    return {
        "releases": [*releases],
        "first": first,
        "last": last,
        "change": " ".join(map(str, changes)) or None,
        "reports": [
            {key: value for key, value in one.items() if key != "of"}
            for one in told["reports"]
            if _is_of(one, finding)
        ],
    }


def _is_of(one: Mapping[str, object], finding: str) -> bool:
    patterns = one["of"]
    return isinstance(patterns, list) and any(fnmatch(finding, pattern) for pattern in patterns)


HEAD = (
    "finding", "affected", "not affected on this group", "tried, of those that have it",
    "the change",
)  # fmt: skip


def page(found: Mapping[str, History]) -> str:
    """Return the tables: a row a finding, and a row a public report."""
    findings = table(HEAD, (_row(finding, history) for finding, history in sorted(found.items())))
    return f"{findings}\n\n{_reports(found)}"


def ranges(releases: Sequence[Mapping[str, Any]], status: str) -> str:
    """Return the releases of a status, as "2.4.0 to 2.5.0, 3.0.0"; those not tried are skipped."""
    tried = [row for row in releases if row["status"] != UNTRIED]
    parts = []
    for of, some in groupby(tried, key=lambda row: row["status"]):
        versions = [row["version"] for row in some]
        if of == status:
            parts.append(span(versions))
    return ", ".join(parts) or "-"


def span(versions: Sequence[str]) -> str:
    """Return the first and the last of some versions, as "2.4.0 to 2.5.0"."""
    return versions[0] if len(versions) == 1 else f"{versions[0]} to {versions[-1]}"


def _row(finding: str, history: History) -> tuple[str, ...]:
    releases = history["releases"]
    tried = sum(row["status"] != UNTRIED for row in releases)
    have = sum(map(has_it, releases))
    affected = ranges(releases, AFFECTED)
    dates = {row["version"]: row["date"] for row in releases}
    since = dates.get(history["first"])
    return (
        f"`{finding}`",
        affected + (f", since {since[:7]}" if since else ""),
        ranges(releases, UNAFFECTED),
        f"{tried} of {have}",
        history["change"] or "-",
    )


def _reports(found: Mapping[str, History]) -> str:
    reports = {one["where"]: one for history in found.values() for one in history["reports"]}
    head = ("reported in", "what", "what was mended", "what remains")
    return table(
        head,
        (
            (where, one["reported"], one["fixed"] or "-", one["remains"])
            for where, one in sorted(reports.items())
        ),
    )
