"""The page docs/findings/shipped.md, out of what the studies left: ``make pages``.

``shipped.md.jinja`` has the page's sentences, ``shipped.toml`` what is written by hand of each
kind of finding. This program reads what was measured and puts it there.
"""

from __future__ import annotations

import json
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from compare.promises.findings import Finding, read_findings
from compare.promises.promise import PROMISES
from compare.promises.told import expected, happens, replicas, sizes
from compare.samples.ordinary import is_ordinary
from groups.wording import counted, ranges
from heuristics import WRITTEN
from heuristics.shipped import CLIENTS
from studies.how_often.page import KINDS
from studies.many_joins.calls import shapes_of
from studies.page import read as rows_of
from studies.page import table
from studies.since_when.page import ranges as releases_of
from studies.since_when.page import span
from studies.since_when.verdicts import AFFECTED, UNAFFECTED, UNTRIED, has_it
from studies.smallest import SMALL, is_larger

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Row = Mapping[str, Any]
    Held = Mapping[str, Mapping[str, list[int]]]

HERE = Path(__file__).parent
PAGE = Path("docs/findings/shipped.md")
COLUMNS = (
    "terminates", "answers", "valid", "settles", "balanced", "optimal-balance", "optimal-moves",
    "idempotent",
)  # fmt: skip
OFTEN = (
    "assignor", "in a million, [weighted](how-often.md#what-a-typical-service-is-here)",
    "95% interval", "seen", "rebalances",
)  # fmt: skip
# What the first sentence of their section says already.
SAID = ("terminates", "settles")
# Of a picture, beyond which its parts stand below each other.
WIDEST = 120
ALL, ONE_RUN = "no", "yes"


@dataclass(frozen=True)
class Section:
    """What is written by hand of findings of one kind.

    Attributes
    ----------
    title : its heading, of letters, digits and spaces alone, so that every site links to it alike
    ids : patterns of the ids of its findings
    counted : what `how-often.csv` calls it
    effect : what happens to the user
    avoid : what to do today
    unplayed : why none of the groups that are played can show it; empty where they can
    why : the rule behind it, where no study records that; else empty
    """

    title: str
    ids: tuple[str, ...]
    counted: str
    effect: str
    avoid: str
    unplayed: str = ""
    why: str = ""

    @property
    def anchor(self) -> str:
        """What a link to it ends with."""
        return self.title.lower().replace(" ", "-")

    def has(self, finding: Finding) -> bool:
        """Return whether a finding belongs here, by its id."""
        return any(fnmatchcase(finding.id, pattern) for pattern in self.ids)


SECTIONS = tuple(
    Section(ids=tuple(one.pop("ids")), **{key: text.strip() for key, text in one.items()})
    for one in tomllib.loads((HERE / "shipped.toml").read_text("utf-8"))["section"]
)


@dataclass(frozen=True)
class Measured:
    """What the studies measured; empty where a study left nothing.

    Attributes
    ----------
    findings : those on assignors as shipped
    smallest : what each assignor keeps on all groups that were enumerated
    joins : rows of ``joins.csv``: the joins on which assignors were called to see them end
    often, often_apart : rows of ``how-often.csv``; of ``how-often-parts.csv`` those on services
        that are not ordinary there, as no topic is read by all
    since, why : by id of a finding
    cluster : the sentence on what a hang does to a group, as it was seen on a cluster
    pages : those of the studies' own pages that are there
    """

    findings: Sequence[Finding]
    smallest: Sequence[Row] = ()
    joins: Sequence[Mapping[str, str]] = ()
    often: Sequence[Mapping[str, str]] = ()
    often_apart: Sequence[Mapping[str, str]] = ()
    since: Mapping[str, Row] | None = None
    why: Mapping[str, Row] | None = None
    cluster: str | None = None
    pages: Sequence[str] = ()


def read(root: Path) -> Measured:
    """Read what there is under the root of the project."""
    folder = root / "docs" / "findings"
    rows, parts, joins = (
        rows_of(file) if file.is_file() else []
        for file in map(folder.joinpath, ("how-often.csv", "how-often-parts.csv", "joins.csv"))
    )
    cluster, smallest, since, why = (
        json.loads(file.read_text("utf-8")) if file.is_file() else {}
        for name in ("on-a-cluster", "smallest", "since-when", "why")
        for file in [folder / f"{name}.json"]
    )
    return Measured(
        findings=[
            finding
            for finding in read_findings(root / "corpus" / "findings.jsonl")
            if finding.assignor not in WRITTEN
        ],
        smallest=smallest or (),
        joins=joins,
        often=rows,
        often_apart=[row for row in parts if row["of"] == KINDS["overlapping"]],
        since=since,
        why=why,
        cluster=cluster.get("sentence"),
        pages=sorted(page.name for page in folder.glob("*.md")),
    )


def page_of(measured: Measured) -> str:
    """Return the whole page."""
    written = Environment(
        loader=FileSystemLoader(HERE), undefined=StrictUndefined, autoescape=False,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    return written.get_template("shipped.md.jinja").render(
        table=table,
        columns=[*COLUMNS],
        kept=_kept(measured),
        promises=[(name, PROMISES[name].text) for name in COLUMNS if name in PROMISES],
        chapters=[_chapter(*one, measured) for one in _chapters(measured.findings)],
        often_head=OFTEN,
        small=SMALL[-1][0],
        more=" [More](why.md)." if "why.md" in measured.pages else "",
        enumerated=_enumerated(measured),
    )


def names(findings: Sequence[Finding]) -> str:
    """Return the assignors of findings, without versions."""
    return ", ".join(dict.fromkeys(f"`{_name(finding)}`" for finding in findings))


def _name(finding: Finding) -> str:
    return finding.assignor.partition("@")[0]


def _chapters(findings: Sequence[Finding]) -> Iterator[tuple[Section, list[Finding]]]:
    """Yield each section that has findings, with these; findings of none have one each."""
    clients = [*CLIENTS, ""]
    rest = sorted(
        findings,
        key=lambda f: (clients.index(c) if (c := f.assignor.partition("/")[0]) in clients else 99,
                       f.id),
    )  # fmt: skip
    for section in SECTIONS:
        here = [finding for finding in rest if section.has(finding)]
        rest = [finding for finding in rest if finding not in here]
        if here:
            yield section, here
    for finding in rest:
        title = f"{_name(finding)} breaks {finding.promise}"
        plain = "".join(c if c.isalnum() else " " for c in title)
        yield Section(plain, (finding.id,), "", f"{_upper(happens(finding))}.", ""), [finding]


def _chapter(section: Section, findings: Sequence[Finding], measured: Measured) -> Row:
    """Return what the template says of the findings of a section."""
    hang = section.counted == "hang"
    known = {f.id: why for f in findings if (why := (measured.why or {}).get(f.id)) is not None}
    return {
        "title": section.title,
        "on_a_cluster": measured.cluster if hang else None,
        "effect": section.effect,
        "promised": _upper("; ".join(dict.fromkeys(map(expected, findings)))),
        **_since_when(findings, measured.since or {}),
        "unplayed": section.unplayed,
        **_how_often(section, findings, measured),
        "no_hang": _no_hang(measured) if hang and measured.joins else None,
        "groups": _groups(findings),
        "found": _alike(
            {f.id: f"{f.found.date}: {f.found.how}" for f in findings if f.found}, findings
        ),
        "why": section.why,
        "reasons": _reasons(findings, known),
        "changes": _changes(known),
        "avoid": section.avoid,
        "ids": [finding.id for finding in findings],
    }


def _alike(told: Mapping[str, str], findings: Sequence[Finding]) -> list[Row]:
    """Return each text once, as a sentence, with the assignors of the findings that it is on."""
    of: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.id in told:
            of.setdefault(told[finding.id], []).append(finding)
    return [{"names": names(some), "text": _sentence(text)} for text, some in of.items()]


def _kept(measured: Measured) -> list[Sequence[str]]:
    """Return the rows of the table of assignors by promises."""
    broken: dict[tuple[str, str], list[Finding]] = {}
    for finding in sorted(measured.findings, key=lambda finding: finding.is_second):
        broken.setdefault((finding.assignor, finding.promise), []).append(finding)
    kept = {(row["assignor"], row["promise"]): row for row in measured.smallest}
    return [
        [f"`{one}`", *(_cell(broken.get((one, p), ()), kept.get((one, p))) for p in COLUMNS)]
        for one in sorted({assignor for assignor, _ in (*broken, *kept)})
    ]


def _cell(findings: Sequence[Finding], kept: Row | None) -> str:
    held = f"{kept['groups']:,}" if kept is not None else "-"
    if not findings:
        return held if kept is None or kept["holds"] else "**breaks**"
    text = ", ".join(map(_broken, findings))
    ordinary = any(is_ordinary(finding.group) for finding in findings)
    return text if ordinary or kept is None else f"{held}, {text}"


def _broken(finding: Finding) -> str:
    section = next((s for s in SECTIONS if s.has(finding)), None)
    size = f"{len(finding.group.members)} x {finding.group.n_partitions}"
    breaks = "**breaks**" if is_ordinary(finding.group) else "breaks"
    return f"[{breaks}](#{section.anchor}) {size}" if section else f"{breaks} {size}"


def _enumerated(measured: Measured) -> list[Sequence[str]]:
    """Return the rows on which groups each assignor was put to, by promise."""
    findings = {finding.id: finding for finding in measured.findings}
    rows: dict[tuple[str, int, str, str], list[str]] = {}
    for row in measured.smallest:
        found = findings.get(row["finding"] or "")
        size = "-" if found is None else sizes(found.group)
        key = (row["assignor"], row["groups"], _upper(row["enumerated"]).rstrip("."), size)
        rows.setdefault(key, []).append(row["promise"])
    return [
        (f"`{assignor}`", ", ".join(promises), f"{groups:,}", text, size)
        for (assignor, groups, text, size), promises in rows.items()
    ]


def _since_when(findings: Sequence[Finding], known: Mapping[str, Row]) -> Row:
    """Return what is known of all releases, and the public reports of the same."""
    untold = [finding for finding in findings if finding.id not in known]
    affected = dict.fromkeys(
        f"`{_name(finding)}` {', '.join(finding.affected)}"
        + f" (not on this group: {', '.join(finding.unaffected)})" * bool(finding.unaffected)
        for finding in untold
    )
    reports = {
        report["where"]: report
        for finding in findings
        for report in known.get(finding.id, {}).get("reports", ())
    }
    told = {f.id: _releases(known[f.id]) for f in findings if f.id in known}
    return {
        "since": [(one["names"], one["text"]) for one in _alike(told, findings)],
        "affected": "; ".join(affected),
        "reports": [{**one, "text": _reported(one)} for one in reports.values()],
    }


def _reported(report: Row) -> str:
    said = (report[key] for key in ("reported", "fixed", "remains"))
    return " ".join(_sentence(text) for text in said if text)


def _releases(since: Row) -> str:
    tried = [r for r in since["releases"] if r["status"] != UNTRIED]
    affected = [r for r in tried if r["status"] == AFFECTED]
    without = sum(not has_it(r) for r in since["releases"])
    untried = len(since["releases"]) - len(tried) - without
    of = counted(len(tried), "release")
    if not affected:
        return f"none of {of} tried is affected."
    text = f"{len(affected)} of {of} tried {'is' if len(affected) == 1 else 'are'} affected, "
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
        text += f"; not affected on the group below: {releases_of(since['releases'], UNAFFECTED)}"
    return f"{text}. {_sentence(since['change'])}".strip()


def _dated(since: Row, version: str | None) -> str:
    date = next((r["date"] for r in since["releases"] if r["version"] == version), None)
    return f"{version} ({date})" if date else str(version)


def _how_often(section: Section, findings: Sequence[Finding], measured: Measured) -> Row:
    """Return the rows on how often it happened among the rebalances of typical services.

    Of services without a topic that all read only what was not seen among typical ones.
    """
    shown = set(map(_name, findings))
    rows, apart = (
        [
            row
            for row in every
            if row["what"] == section.counted and f"{row['client']}/{row['assignor']}" in shown
        ]
        for every in (measured.often, measured.often_apart)
    )
    never = {_versioned(row) for row in rows if not int(row["events"])}
    only = [row for row in apart if int(row["events"]) and _versioned(row) in never]
    return {"often": [*map(_often, rows)], "often_apart": [*map(_often, only)]}


def _often(row: Mapping[str, str]) -> Sequence[str]:
    events, high = int(row["events"]), f"{float(row['high']):,.0f}"
    return (
        _versioned(row),
        f"{float(row['per_million']):,.0f}",
        f"{float(row['low']):,.0f} to {high}" if events else f"up to {high}",
        f"{events:,}",
        f"{int(row['rebalances']):,}",
    )


def _versioned(row: Mapping[str, str]) -> str:
    return f"`{row['client']}/{row['assignor']}` {row['version']}"


def _no_hang(measured: Measured) -> Row:
    """Return the table of up to which size no ordinary join hangs, by assignor."""
    small = {
        row["assignor"]: f"{row['groups'] - row.get('joins', 0):,}"
        for row in measured.smallest
        if row["promise"] == "terminates"
    }
    columns = sorted({(int(row["members"]), row["adjoining"]) for row in measured.joins})
    heads = [f"{n} members{', one run' * (kind == ONE_RUN)}" for n, kind in columns]
    rows = []
    ordered = sorted(measured.joins, key=itemgetter("assignor"))
    for assignor, of in groupby(ordered, itemgetter("assignor")):
        mine = list(of)
        total = sum(int(row["joins"]) for row in mine if is_larger(row))
        cells = (_most(mine, kind, members) for members, kind in columns)
        rows.append([f"`{assignor}`", small.get(assignor, "-"), f"{total:,}", *cells])
    return {"head": ["assignor", "small", "joins", *heads], "rows": rows}


def _most(rows: Sequence[Mapping[str, str]], kind: str, members: int) -> str:
    mine = [row for row in rows if int(row["members"]) == members]
    hung = sum(int(row["hang"]) for row in mine if row["adjoining"] == kind)
    if hung:
        return f"hangs on {hung:,}"
    most = shapes_of(mine, kind)
    return f"up to {max(most.values())}" if most else "-"


def _groups(findings: Sequence[Finding]) -> list[Row]:
    """Return each group once, with the findings that share it."""
    shared = defaultdict(list)
    for finding in findings:
        shared["\n".join(_before(finding))].append(finding)
    return [
        {
            "names": names(alike),
            "is_ordinary": is_ordinary(alike[0].group),
            "happens": "; ".join(
                dict.fromkeys(happens(one) for one in alike if one.promise not in SAID)
            ),
            "picture": "\n".join(picture(alike[0])),
        }
        for alike in shared.values()
    ]


def _reasons(findings: Sequence[Finding], known: Mapping[str, Row]) -> list[Row]:
    """Return the rules and chains behind findings; those with one cycle share a text."""
    alike: dict[str, list[Finding]] = {}
    for finding in findings:
        why = known.get(finding.id)
        if why is not None and _reason(why):
            same = why.get("cycle") or _reason(why)
            alike.setdefault(json.dumps(same), []).append(finding)
    return [
        {
            "names": names([first] if known[first.id].get("cycle") else [first, *others]),
            "text": _reason(known[first.id]),
            "others": names(others) if others and known[first.id].get("cycle") else "",
        }
        for first, *others in alike.values()
    ]


def _reason(why: Row) -> str:
    said = (why.get("rule"), *(why.get("case") or ()), why.get("chain"))
    return " ".join(_sentence(text) for text in said if text)


def _changes(known: Mapping[str, Row]) -> list[Row]:
    changes = {why["change"]: why.get("assignor") for why in known.values() if why.get("change")}
    return [
        {"text": _sentence(change), "ours": ours if ours and ours not in change else None}
        for change, ours in changes.items()
    ]


def picture(finding: Finding) -> list[str]:
    """Return the group of a finding as lines: before, what the assignor makes of it, an optimum.

    Members are lines and topics columns. A cell has the numbers of the partitions that the member
    owns or is given, ``reads`` where it reads the topic and has none of it, and nothing where it
    does not read it. The three stand side by side where there is room.
    """
    grids, record = [_before(finding)], finding.record
    if record is not None and record.plan is not None:
        grids.append(_grid(finding, record.plan, "what it makes", set()))
    if record is not None and record.better is not None:
        grids.append(_grid(finding, record.better, "an optimum", set()))
    widths = [max(map(len, grid)) for grid in grids]
    near = replicas(finding.group)
    if sum(widths) + 5 * (len(grids) - 1) > WIDEST:
        return [line for grid in (*grids, near) if grid for line in (*grid, "")][:-1]
    rows = [
        "  |  ".join(line.ljust(w) for line, w in zip(row, widths, strict=True)).rstrip()
        for row in zip(*grids, strict=True)
    ]
    return [*rows, "", *near] if near else rows


def _before(finding: Finding) -> list[str]:
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


def _sentence(text: object) -> str:
    """Return a text with its stop at the end; nothing where there is none."""
    said = str(text or "").strip()
    return said if not said or said.endswith((".", "!", "?")) else f"{said}."


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def main() -> None:
    """Write the page."""
    PAGE.write_text(page_of(read(Path())), encoding="utf-8")


if __name__ == "__main__":
    main()
