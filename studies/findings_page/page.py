"""Page: the text of docs/findings/shipped.md."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from compare.promises.told import expected, happens
from compare.samples.ordinary import is_ordinary
from heuristics.shipped import CLIENTS
from studies.findings_page.no_hang import no_hang
from studies.findings_page.picture import before, picture
from studies.findings_page.sections import Section, words
from studies.findings_page.since import since_when
from studies.findings_page.tables import enumerated, who_keeps_what
from studies.findings_page.wording import names, plain, sentence, upper
from studies.page import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from compare.promises.findings import Finding
    from studies.findings_page.measured import Measured, Why

NOT_MEASURED = "Not measured."
_WEIGHTED = "[weighted](how-often.md#what-a-typical-service-is-here)"
# What the first sentence of their section says already.
_SAID = ("terminates", "settles")


def page_of(measured: Measured) -> str:
    """Return the whole page."""
    parts = [words().top, "## Who keeps what", *who_keeps_what(measured), words().pictures]
    rest = sorted(measured.findings, key=_in_order_of_clients)
    for section in words().sections:
        here = [finding for finding in rest if section.has(finding.id)]
        rest = [finding for finding in rest if finding not in here]
        if here:
            parts += _section(section, here, measured)
    for finding in rest:
        title = f"{finding.assignor.partition('@')[0]} breaks {finding.promise}"
        own = Section(plain(title), (finding.id,), "", f"{upper(happens(finding))}.", "")
        parts += _section(own, [finding], measured)
    parts += enumerated(measured)
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _in_order_of_clients(finding: Finding) -> tuple[int, str]:
    clients = list(CLIENTS)
    client = finding.assignor.partition("/")[0]
    return clients.index(client) if client in clients else len(clients), finding.id


def _section(section: Section, findings: Sequence[Finding], measured: Measured) -> Iterator[str]:
    yield f"## {section.title}"
    effect = section.effect
    if measured.cluster and section.counted == "hang":
        where = "That is of Kafka's own consumer, [measured on a cluster](on-a-cluster.md)."
        effect = f"{measured.cluster} {where}"
    yield f"**What happens.** {effect}"
    yield f"**Promised.** {upper('; '.join(dict.fromkeys(map(expected, findings))))}."
    yield from since_when(findings, measured)
    yield from _how_often(section, findings, measured)
    if section.counted == "hang":
        yield from no_hang(measured)
    yield from _groups(findings)
    yield from _why(section, findings, measured)
    if section.avoid:
        yield f"**Today.** {section.avoid}"
    yield words().program
    yield "```sh\n" + "\n".join(f"assay reproduce {f.id} --run" for f in findings) + "\n```"


def _how_often(section: Section, findings: Sequence[Finding], measured: Measured) -> Iterator[str]:
    """Return how often it happened among the rebalances of typical services.

    Of services without a topic that all read only what was not seen among typical ones.
    """
    if section.unplayed:
        yield f"**How often.** Not played: {section.unplayed}"
        return
    shown = {finding.assignor.partition("@")[0] for finding in findings}
    rows, apart = (
        [
            row
            for row in every
            if row["what"] == section.counted and f"{row['client']}/{row['assignor']}" in shown
        ]
        for every in (measured.often, measured.often_apart)
    )
    if not rows:
        yield f"**How often.** {NOT_MEASURED}"
        return
    yield "**How often.** Of the rebalances of [typical services](how-often.md):"
    yield _often(rows)
    never = {_versioned(row) for row in rows if not int(row["events"])}
    only = [row for row in apart if int(row["events"]) and _versioned(row) in never]
    if only:
        yield "Of those of services whose members have roles, where no topic is read by all:"
        yield _often(only)


def _often(rows: Sequence[Mapping[str, str]]) -> str:
    lines = []
    for row in rows:
        events, high = int(row["events"]), f"{float(row['high']):,.0f}"
        span = f"{float(row['low']):,.0f} to {high}" if events else f"up to {high}"
        often = f"{float(row['per_million']):,.0f}"
        of = f"{int(row['rebalances']):,}"
        lines.append((_versioned(row), often, span, f"{events:,}", of))
    often = f"in a million, {_WEIGHTED}"
    return table(("assignor", often, "95% interval", "seen", "rebalances"), lines)


def _versioned(row: Mapping[str, str]) -> str:
    return f"`{row['client']}/{row['assignor']}` {row['version']}"


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
        yield f"**The group** of {names(alike)}{odd}.{measured}"
        yield "```text\n" + "\n".join(picture(first)) + "\n```"
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.found is not None:
            found.setdefault(f"{finding.found.date}: {finding.found.how}", []).append(finding)
    if len(found) == 1:
        yield f"**Found** {sentence(*found)}"
    elif found:
        yield "**Found:**"
        yield "\n".join(f"- {names(of)} {sentence(text)}" for text, of in found.items())


def _why(section: Section, findings: Sequence[Finding], measured: Measured) -> Iterator[str]:
    """Return the rules and chains behind the findings; those with one cycle share a text."""
    known = measured.why or {}
    alike: dict[str, list[Finding]] = {}
    for finding in findings:
        why = known.get(finding.id)
        if why is not None and _reason(why):
            same = why.get("cycle") or _reason(why)
            alike.setdefault(json.dumps(same), []).append(finding)
    if section.why:
        yield f"**Why.** {section.why}"
    elif not alike:
        yield f"**Why.** {NOT_MEASURED}"
    more = " [More](why.md)." if "why.md" in measured.pages else ""
    for first, *others in alike.values():
        why = known[first.id]
        text = f"**Why**, in {names([first])}. {_reason(why)}"
        if others and why.get("cycle"):
            text += f" The same cycle was recorded in {names(others)}.{more}"
        elif others:
            text = f"**Why**, in {names([first, *others])}. {_reason(why)}"
        yield text
    changes = {known[f.id].get("change"): known[f.id] for f in findings if f.id in known}
    for change, why in changes.items():
        if change:
            ours = why.get("assignor")
            named = f" That is our `{ours}`." if ours and ours not in change else ""
            yield f"**What would mend it.** {sentence(change)}{named}{more}"


def _reason(why: Why) -> str:
    said = (why.get("rule"), *(why.get("case") or ()), why.get("chain"))
    return " ".join(sentence(text) for text in said if text)
