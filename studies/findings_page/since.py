"""Since when: the releases that are affected, and the public reports of the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.wording import counted
from studies.findings_page.wording import names, sentence
from studies.since_when.page import ranges, span
from studies.since_when.verdicts import AFFECTED, UNAFFECTED, UNTRIED, has_it

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from compare.promises.findings import Finding
    from studies.findings_page.measured import Measured, Since


def _affected(findings: Sequence[Finding]) -> str:
    """Return which of the versions that are listed are affected on the group below."""
    said = []
    for finding in findings:
        name = finding.assignor.partition("@")[0]
        text = f"`{name}` {', '.join(finding.affected)}"
        said.append(
            text
            + (f" (not on this group: {', '.join(finding.unaffected)})" * bool(finding.unaffected))
        )
    return f"Affected of the versions that are always tried: {'; '.join(dict.fromkeys(said))}."


def since_when(findings: Sequence[Finding], measured: Measured) -> Iterator[str]:
    """Return what is known of all releases, and the public reports of the same."""
    known = measured.since or {}
    told: dict[str, list[Finding]] = {}
    untold = [finding for finding in findings if finding.id not in known]
    reports = {}
    for finding in findings:
        since = known.get(finding.id)
        if since is None:
            continue
        told.setdefault(_releases(since), []).append(finding)
        reports.update({report["where"]: report for report in since["reports"]})
    if told:
        yield "**Since when.** Of all releases that can be had:"
        yield "\n".join(f"- {names(of)}: {text}" for text, of in told.items())
    if untold:
        yield f"{'' if told else '**Since when.** '}{_affected(untold)}"
    if reports:
        yield "Reported before:"
        yield "\n".join(
            f"- {r['where']}, *{r['title']}*: "
            + " ".join(sentence(r[key]) for key in ("reported", "fixed", "remains") if r[key])
            for r in reports.values()
        )


def _releases(since: Since) -> str:
    tried = [r for r in since["releases"] if r["status"] != UNTRIED]
    affected = [r for r in tried if r["status"] == AFFECTED]
    without = sum(not has_it(r) for r in since["releases"])
    untried = len(since["releases"]) - len(tried) - without
    if not affected:
        return f"none of {counted(len(tried), 'release')} tried is affected."
    text = f"{len(affected)} of {counted(len(tried), 'release')} tried are affected, "
    if len(affected) == 1:
        text = f"1 of {counted(len(tried), 'release')} tried is affected, "
    text += _dated(since, since["first"])
    if since["last"] != since["first"]:
        text += f" to {_dated(since, since['last'])}"
    elsewhere = [r["version"] for r in affected if r["reason"]]
    if elsewhere:
        text += f"; {span(elsewhere)} on another group than the one below"
    if untried:
        text += f"; {untried} {'was' if untried == 1 else 'were'} not tried"
    if without:
        text += f"; {without} {'does' if without == 1 else 'do'} not have the assignor"
    if len(affected) < len(tried):
        text += f"; not affected on the group below: {ranges(since['releases'], UNAFFECTED)}"
    return f"{text}. {sentence(since['change'])}".strip()


def _dated(since: Since, version: str | None) -> str:
    date = next((r["date"] for r in since["releases"] if r["version"] == version), None)
    return f"{version} ({date})" if date else str(version)
