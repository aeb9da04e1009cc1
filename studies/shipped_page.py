"""The page docs/findings/shipped.md, made from the data of the studies: ``make pages``.

``shipped.md.jinja`` has the page's sentences, ``shipped.toml`` the hand-written texts on each kind
of finding; this program fills in the measurements. How often, in which releases and by which cycle
an assignor fails is on other pages.
"""

from __future__ import annotations

import json
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from compare.promises.conformance import ASKED
from compare.promises.description import aligned, happens, replicas
from compare.promises.findings import Finding, read_findings
from compare.promises.promise import PROMISES
from compare.samples.drawn import is_ordinary
from groups.wording import ranges
from heuristics import WRITTEN
from heuristics.shipped import CLIENTS
from studies.page import table
from studies.shipped_findings import bare
from studies.since_when.histories import ranges as releases_of
from studies.since_when.verdicts import AFFECTED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Row = Mapping[str, Any]
    Held = Mapping[str, Mapping[str, list[int]]]

HERE = Path(__file__).parent
PAGE = Path("docs/findings/shipped.md")
# Of racks, the findings say nothing.
COLUMNS = tuple(name for name in ASKED if name in PROMISES)
# Promises whose sections already say what happens.
SAID = ("terminates", "settles")
# Width of a picture above which its parts are put below each other.
WIDEST = 120


@dataclass(frozen=True)
class Section:
    """The hand-written texts on findings of one kind.

    Attributes
    ----------
    title : its heading, with only letters, digits and spaces, so that links work on every site
    ids : patterns of the ids of its findings
    effect : what happens to the user
    avoid : what to do today
    why : the cause; empty if unknown
    unplayed : why the groups of the study how-often cannot show it; empty if they can
    """

    title: str
    ids: tuple[str, ...]
    effect: str
    avoid: str = ""
    why: str = ""
    unplayed: str = ""

    @property
    def anchor(self) -> str:
        """The anchor of its heading."""
        return self.title.lower().replace(" ", "-")

    def has(self, finding: Finding) -> bool:
        """Return whether a finding's id matches."""
        return any(fnmatchcase(finding.id, pattern) for pattern in self.ids)


SECTIONS = tuple(
    Section(ids=tuple(one.pop("ids")), **{key: text.strip() for key, text in one.items()})
    for one in tomllib.loads((HERE / "shipped.toml").read_text("utf-8"))["section"]
)


class Measured(NamedTuple):
    """The data of the studies.

    Attributes
    ----------
    findings : findings on assignors as shipped
    smallest : records of promises on all enumerated groups
    since : history of releases, by id of a finding
    """

    findings: Sequence[Finding]
    smallest: Sequence[Row]
    since: Mapping[str, Row]


def read(root: Path) -> Measured:
    """Read the data of the studies below the root of the project."""
    folder = root / "docs" / "findings"
    findings = read_findings(root / "corpus" / "findings.jsonl")
    return Measured(
        [finding for finding in findings if finding.assignor not in WRITTEN],
        json.loads((folder / "smallest.json").read_text("utf-8")),
        json.loads((folder / "since-when.json").read_text("utf-8")),
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
        promises=[(name, PROMISES[name].text) for name in COLUMNS],
        chapters=[
            {
                "section": section,
                "releases": _releases(findings, measured.since),
                "groups": _groups(findings),
                "ids": [finding.id for finding in findings],
            }
            for section, findings in _chapters(measured.findings)
        ],
    )


def names(findings: Sequence[Finding]) -> str:
    """Return the assignors of findings, without versions."""
    return ", ".join(dict.fromkeys(f"`{bare(finding.assignor)}`" for finding in findings))


def _chapters(findings: Sequence[Finding]) -> Iterator[tuple[Section, list[Finding]]]:
    """Yield each section with its findings; a finding without a section gets one of its own."""
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
        title = f"{bare(finding.assignor)} breaks {finding.promise}"
        plain = "".join(c if c.isalnum() else " " for c in title)
        happened = happens(finding)
        effect = f"{happened[:1].upper()}{happened[1:]}."
        yield Section(plain, (finding.id,), effect), [finding]


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
    held = f"{kept['tested']:,}" if kept is not None else "-"
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


def _releases(findings: Sequence[Finding], since: Mapping[str, Row]) -> str:
    """Return the affected releases of each assignor; without a history, the affected versions."""
    return "; ".join(
        dict.fromkeys(
            f"`{bare(one.assignor)}` "
            + (
                releases_of(since[one.id]["releases"], AFFECTED)
                if one.id in since
                else ", ".join(one.affected)
            )
            for one in findings
        )
    )


def _groups(findings: Sequence[Finding]) -> list[Row]:
    """Return each distinct group, with the findings that share it."""
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


def picture(finding: Finding) -> list[str]:
    """Return grids of a finding's group as lines: before, the assignor's plan, an optimum.

    Members are lines and topics columns. A cell has the numbers of the member's partitions,
    ``reads`` if it reads the topic without having any, and is empty if it does not read it. The
    grids are side by side if there is room.
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
    rows = aligned([*zip(*grids, strict=True)], "  |  ")
    return [*rows, "", *near] if near else rows


def _before(finding: Finding) -> list[str]:
    """Return the grid of the group before the rebalance: who reads, owns and joins."""
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
    return aligned(rows)
