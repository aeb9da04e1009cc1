"""Tables: assignors by promises, and which groups were enumerated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compare.promises.promise import PROMISES
from compare.promises.told import sizes
from compare.samples.ordinary import is_ordinary
from studies.findings_page.sections import words
from studies.findings_page.wording import upper
from studies.page import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from compare.promises.findings import Finding
    from studies.findings_page.measured import Enumerated, Measured

COLUMNS = (
    "terminates",
    "answers",
    "valid",
    "settles",
    "balanced",
    "optimal-balance",
    "optimal-moves",
    "idempotent",
)


def who_keeps_what(measured: Measured) -> Iterator[str]:
    """Return the table of assignors by promises."""
    broken: dict[tuple[str, str], list[Finding]] = {}
    for finding in sorted(measured.findings, key=lambda finding: finding.is_second):
        broken.setdefault((finding.assignor, finding.promise), []).append(finding)
    kept = {(row["assignor"], row["promise"]): row for row in measured.smallest}
    assignors = sorted({assignor for assignor, _ in (*broken, *kept)})
    yield words().table
    yield table(
        ["assignor", *COLUMNS],
        (
            [f"`{one}`", *(_cell(broken.get((one, p), ()), kept.get((one, p))) for p in COLUMNS)]
            for one in assignors
        ),
    )
    promises = (f"*{name}*: {PROMISES[name].text}" for name in COLUMNS if name in PROMISES)
    yield f"{'; '.join(promises)}."


def enumerated(measured: Measured) -> Iterator[str]:
    """Return which groups each assignor was put to, by promise."""
    if not measured.smallest:
        return
    findings = {finding.id: finding for finding in measured.findings}
    rows: dict[tuple[str, int, str, str], list[str]] = {}
    for row in measured.smallest:
        found = findings.get(row["finding"] or "")
        size = "" if found is None else sizes(found.group)
        key = (row["assignor"], row["groups"], upper(row["enumerated"]), size)
        rows.setdefault(key, []).append(row["promise"])
    yield "## What was enumerated"
    yield words().enumerated
    yield table(
        ("assignor", "promises", "holds on", "which groups", "breaks on"),
        (
            (f"`{assignor}`", ", ".join(promises), f"{groups:,}", text.rstrip("."), size or "-")
            for (assignor, groups, text, size), promises in rows.items()
        ),
    )


def _cell(findings: Sequence[Finding], kept: Enumerated | None) -> str:
    held = f"{kept['groups']:,}" if kept is not None else "-"
    if not findings:
        return held if kept is None or kept["holds"] else "**breaks**"
    text = ", ".join(map(_broken, findings))
    ordinary = any(is_ordinary(finding.group) for finding in findings)
    return text if ordinary or kept is None else f"{held}, {text}"


def _broken(finding: Finding) -> str:
    section = next((s for s in words().sections if s.has(finding.id)), None)
    size = f"{len(finding.group.members)} x {finding.group.n_partitions}"
    breaks = "**breaks**" if is_ordinary(finding.group) else "breaks"
    return f"[{breaks}](#{section.anchor}) {size}" if section else f"{breaks} {size}"
