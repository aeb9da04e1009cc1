"""Page: the text of docs/findings/shipped.md."""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING

from compare.promises.promise import PROMISES
from compare.promises.told import expected, happens, sizes
from compare.samples.ordinary import is_ordinary
from groups.wording import counted
from heuristics.shipped import CLIENTS
from studies.findings_page.picture import before, picture
from studies.findings_page.sections import Section, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from compare.promises.findings import Finding
    from studies.findings_page.measured import Enumerated, Measured, Release, Since, Why

COLUMNS = {
    "terminates": "returns",
    "answers": "answers",
    "valid": "valid",
    "settles": "settles",
    "balanced": "balanced",
    "optimal-balance": "best balance",
    "optimal-moves": "fewest moves",
    "idempotent": "stays put",
}
NOT_MEASURED = "Not measured."
# What the first sentence of their section says already.
_SAID = ("terminates", "settles")


def page_of(measured: Measured) -> str:
    """Return the whole page."""
    parts = [words().top, "## Who keeps what", *_table(measured), words().pictures]
    rest = sorted(measured.findings, key=_in_order_of_clients)
    for section in words().sections:
        here = [finding for finding in rest if section.has(finding.id)]
        rest = [finding for finding in rest if finding not in here]
        if here:
            parts += _section(section, here, measured)
    for finding in rest:
        title = f"{finding.assignor.partition('@')[0]} breaks {finding.promise}"
        own = Section(_plain(title), (finding.id,), "", f"{_upper(happens(finding))}.", "")
        parts += _section(own, [finding], measured)
    parts += _tried(measured)
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _in_order_of_clients(finding: Finding) -> tuple[int, str]:
    clients = list(CLIENTS)
    client = finding.assignor.partition("/")[0]
    return clients.index(client) if client in clients else len(clients), finding.id


def _table(measured: Measured) -> Iterator[str]:
    """Return the table of assignors by promises."""
    broken = {(f.assignor, f.promise): f for f in measured.findings}
    kept = {(row["assignor"], row["promise"]): row for row in measured.smallest}
    assignors = sorted({assignor for assignor, _ in (*broken, *kept)})
    lines = [f"| assignor | {' | '.join(COLUMNS.values())} |", "|---" * (len(COLUMNS) + 1) + "|"]
    for assignor in assignors:
        cells = [_cell(broken.get((assignor, p)), kept.get((assignor, p))) for p in COLUMNS]
        lines.append(f"| `{assignor}` | {' | '.join(cells)} |")
    yield words().table
    yield "\n".join(lines)
    promises = (
        f"*{COLUMNS[name]}*: {PROMISES[name].text}" for name in COLUMNS if name in PROMISES
    )
    yield f"{'; '.join(promises)}."


def _tried(measured: Measured) -> Iterator[str]:
    """Return which groups each assignor was put to, by promise."""
    if not measured.smallest:
        return
    findings = {finding.id: finding for finding in measured.findings}
    rows: dict[tuple[str, int, str, str], list[str]] = {}
    for row in measured.smallest:
        found = findings.get(row["finding"] or "")
        size = "" if found is None else sizes(found.group)
        key = (row["assignor"], row["groups"], _upper(row["enumerated"]), size)
        rows.setdefault(key, []).append(COLUMNS.get(row["promise"], row["promise"]))
    yield "## What was enumerated"
    yield words().enumerated
    lines = [
        "| assignor | promises | holds on | which groups | breaks on |",
        "|---|---|---|---|---|",
    ]
    for (assignor, groups, text, size), promises in rows.items():
        said = f"`{assignor}` | {', '.join(promises)} | {groups:,} | {text.rstrip('.')}"
        lines.append(f"| {said} | {size or '-'} |")
    yield "\n".join(lines)


def _cell(finding: Finding | None, kept: Enumerated | None) -> str:
    held = f"{kept['groups']:,}" if kept is not None else "-"
    if finding is None:
        return held if kept is None or kept["holds"] else "**breaks**"
    section = next((s for s in words().sections if s.has(finding.id)), None)
    size = f"{len(finding.group.members)} x {finding.group.n_partitions}"
    breaks = "**breaks**" if is_ordinary(finding.group) else "breaks"
    text = f"[{breaks}](#{section.anchor}) {size}" if section else f"{breaks} {size}"
    return text if is_ordinary(finding.group) or kept is None else f"{held}, {text}"


def _section(section: Section, findings: Sequence[Finding], measured: Measured) -> Iterator[str]:
    yield f"## {section.title}"
    effect = section.effect
    if measured.cluster and section.counted == "hang":
        where = "That is of Kafka's own consumer, [measured on a cluster](on-a-cluster.md)."
        effect = f"{measured.cluster} {where}"
    yield f"**What happens.** {effect}"
    yield f"**Promised.** {_upper('; '.join(dict.fromkeys(map(expected, findings))))}."
    yield f"**Since when.** {_affected(findings)}"
    yield from _since(findings, measured)
    yield f"**How often.** {_how_often(section, findings, measured)}"
    yield from _groups(findings)
    yield from _why(findings, measured)
    if section.avoid:
        yield f"**Today.** {section.avoid}"
    yield words().program
    yield "```sh\n" + "\n".join(f"assay reproduce {f.id} --run" for f in findings) + "\n```"


def _affected(findings: Sequence[Finding]) -> str:
    """Return which of the versions that are listed are affected."""
    said = []
    for finding in findings:
        name = finding.assignor.partition("@")[0]
        text = f"`{name}` {', '.join(finding.affected)}"
        said.append(
            text + (f" (not {', '.join(finding.unaffected)})" if finding.unaffected else "")
        )
    return f"Affected of the versions that are always tried: {'; '.join(said)}."


def _since(findings: Sequence[Finding], measured: Measured) -> Iterator[str]:
    """Return what is known of all releases, and the public reports of the same."""
    known = measured.since or {}
    told: dict[str, list[Finding]] = {}
    reports = {}
    for finding in findings:
        since = known.get(finding.id)
        if since is None:
            continue
        told.setdefault(_releases(since), []).append(finding)
        reports.update({report["where"]: report for report in since["reports"]})
    if told:
        yield "Of all releases that can be had:"
        yield "\n".join(f"- {_names(of)}: {text}" for text, of in told.items())
    if reports:
        yield "Reported before:"
        yield "\n".join(
            f"- {r['where']}, *{r['title']}*: "
            + " ".join(_sentence(r[key]) for key in ("reported", "fixed", "remains") if r[key])
            for r in reports.values()
        )


def _releases(since: Since) -> str:
    tried = [r for r in since["releases"] if r["status"] != "untried"]
    affected = [r for r in tried if r["status"] == "affected"]
    untried = len(since["releases"]) - len(tried)
    if not affected:
        return f"none of {counted(len(tried), 'release')} tried is affected."
    text = f"{len(affected)} of {counted(len(tried), 'release')} tried are affected, "
    if len(affected) == 1:
        text = f"1 of {counted(len(tried), 'release')} tried is affected, "
    text += f"{_dated(since, since['first'])} to {_dated(since, since['last'])}"
    elsewhere = [r["version"] for r in affected if r["reason"]]
    if elsewhere:
        text += f"; {_span(elsewhere)} on another group than the one below"
    text += f"; {untried} could not be tried" if untried else ""
    runs = [
        [r["version"] for r in run]
        for status, run in groupby(tried, key=_status)
        if status != "affected"
    ]
    if runs:
        text += f"; not affected: {', '.join(map(_span, runs))}"
    return f"{text}. {_sentence(since['change'])}".strip()


def _span(versions: Sequence[str]) -> str:
    return versions[0] if len(versions) == 1 else f"{versions[0]} to {versions[-1]}"


def _status(release: Release) -> str:
    return release["status"]


def _dated(since: Since, version: str | None) -> str:
    date = next((r["date"] for r in since["releases"] if r["version"] == version), None)
    return f"{version} ({date})" if date else str(version)


def _how_often(section: Section, findings: Sequence[Finding], measured: Measured) -> str:
    """Return how often it happened among the rebalances of ordinary services."""
    names = {finding.assignor.partition("@")[0] for finding in findings}
    rows = [
        row
        for row in measured.often
        if row["what"] == section.counted and f"{row['client']}/{row['assignor']}" in names
    ]
    if not rows:
        return NOT_MEASURED
    said = []
    for row in rows:
        name = f"`{row['client']}/{row['assignor']}` {row['version']}"
        played, events = int(row["rebalances"]), int(row["events"])
        high = f"{float(row['high']):,.0f}"
        if events:
            often = f"{float(row['per_million']):,.0f} ({float(row['low']):,.0f} to {high})"
        else:
            often = f"none seen, at most {high}"
        said.append(f"- {name}: {often}, of {played:,} played")
    return (
        "Per million rebalances of [ordinary services](how-often.md), with a 95% interval:\n\n"
        + "\n".join(said)
    )


def _groups(findings: Sequence[Finding]) -> Iterator[str]:
    """Return each group once, with the findings that share it, and how they were found."""
    shared: dict[str, list[Finding]] = {}
    for finding in findings:
        shared.setdefault("\n".join(before(finding)), []).append(finding)
    for alike in shared.values():
        first = alike[0]
        odd = "" if is_ordinary(first.group) else ", which is not an ordinary one"
        told = dict.fromkeys(happens(finding) for finding in alike if finding.promise not in _SAID)
        measured = f" Measured: {'; '.join(told)}." if told else ""
        yield f"**The group** of {_names(alike)}{odd}.{measured}"
        yield "```text\n" + "\n".join(picture(first)) + "\n```"
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.found is not None:
            found.setdefault(f"{finding.found.date}: {finding.found.how}", []).append(finding)
    if len(found) == 1:
        yield f"**Found** {_sentence(*found)}"
    elif found:
        yield "**Found:**"
        yield "\n".join(f"- {_names(of)} {_sentence(text)}" for text, of in found.items())


def _names(findings: Sequence[Finding]) -> str:
    names = (f"`{finding.assignor.partition('@')[0]}`" for finding in findings)
    return ", ".join(dict.fromkeys(names))


def _why(findings: Sequence[Finding], measured: Measured) -> Iterator[str]:
    """Return the rules and chains behind the findings; those with one cycle share a text."""
    known = measured.why or {}
    alike: dict[str, list[Finding]] = {}
    for finding in findings:
        why = known.get(finding.id)
        if why is not None and _reason(why):
            same = why.get("cycle") or _reason(why)
            alike.setdefault(json.dumps(same), []).append(finding)
    if not alike:
        yield f"**Why.** {NOT_MEASURED}"
    more = " [More](why.md)." if "why.md" in measured.pages else ""
    for first, *others in alike.values():
        why = known[first.id]
        text = f"**Why**, in {_names([first])}. {_reason(why)}"
        if others and why.get("cycle"):
            text += f" The same cycle was recorded in {_names(others)}.{more}"
        elif others:
            text = f"**Why**, in {_names([first, *others])}. {_reason(why)}"
        yield text
    changes = {known[f.id].get("change"): known[f.id] for f in findings if f.id in known}
    for change, why in changes.items():
        if change:
            ours = why.get("assignor")
            named = f" That is our `{ours}`." if ours and ours not in change else ""
            yield f"**What would mend it.** {_sentence(change)}{named}{more}"


def _reason(why: Why) -> str:
    said = (why.get("rule"), why.get("case"), why.get("chain"))
    return " ".join(_sentence(text) for text in said if text)


def _sentence(text: object) -> str:
    said = str(text or "").strip()
    return said if not said or said.endswith((".", "!", "?")) else f"{said}."


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _plain(text: str) -> str:
    return "".join(c if c.isalnum() else " " for c in text)
