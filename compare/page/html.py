"""HTML: renders a page with its template, as one small file that needs no network."""

from __future__ import annotations

import base64
import errno
import gzip
import json
import os
import re
from collections import Counter
from functools import cache
from importlib.resources import files
from operator import attrgetter
from typing import TYPE_CHECKING

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from compare.fleet.facts import MOST_WORST
from compare.over_groups import in_a_line
from compare.overview import MOST_TO_DO, attention_of
from compare.page.drawing import as_csv
from compare.page.group.line import in_short
from compare.page.words import MARKS, PROOFS, minute
from compare.scores import FACTS
from compare.verdict import EVEN_LAGGING, GOOD
from groups.documents.json_files import make_folder
from groups.errors import writing, writing_whole
from groups.tiers import TIERS, called
from groups.wording import counted, percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from compare.page.contents import Page
    from groups.errors import Failure

# Most bytes of a page, a little less than 2 MB; the other limits leave room under it.
MOST_BYTES = 1_950_000
MOST_IN_THE_OPEN = 150_000
MOST_ROWS = 200
FEWEST_FILTERED = 10
MOST_UNREAD = 300
NOT_READ = "not read"
MOST_LISTED = 1_500_000
LONGEST_IN_OPEN = 30_000
# Characters that change the direction of writing, and surrogates, which UTF-8 cannot encode.
_TURNS = (range(0x202A, 0x202F), range(0x2066, 0x206A), range(0xD800, 0xE000))
_WRITTEN_OUT = {code: f"\\u{code:04x}" for turns in _TURNS for code in turns}
_TEMPLATES = ("page", "row", "detail")
_INNER = re.compile(r' (?:aria-[a-z]+|role)="[^"]*"')
_NAME = re.compile(r'(\bid="|url\(#|href="#)')


def write_page(page: Page, path: Path) -> None:
    """Write a page.

    Raises
    ------
    BadInput
        If it cannot be written.
    """
    require_writable(path)
    text = rendered(page)
    with writing_whole(path) as part:
        part.write_text(text, encoding="utf-8")


def require_writable(path: Path) -> None:
    """Raise BadInput if a page cannot be written to a path; its folder must exist."""
    with writing(path):
        if not os.path.exists(path.parent):
            raise OSError(errno.ENOENT, "")
        make_folder(path.parent)
        if path.is_dir():
            raise OSError(errno.EISDIR, "")


def rendered(page: Page) -> str:
    """Return a page as HTML.

    The worst groups are in it as HTML, the others packed. If there are still too many, the page
    says how to see the others.
    """
    environment = _environment()
    layout, row, detail = (environment.get_template(f"{name}.html") for name in _TEMPLATES)
    shown = page.lines[:MOST_WORST]
    texts = [detail.render(detail=one, page=page) for one in page.details[:MOST_WORST]]
    partitions = sorted({f"{line.nouns.partition}s" for line in page.lines}) or ["partitions"]
    who = {line.nouns.member for line in page.lines}
    has = {
        "mixed": len(who) > 1,
        "partitions": " or ".join(partitions),
        "member": who.pop() if len(who) == 1 else "member",
        "idle": any(line.idle for line in page.lines),
        "lag": any(line.peak is not None for line in page.lines),
    }
    in_the_open = _fitting([len(text.encode()) for text in texts], MOST_IN_THE_OPEN)
    to_do = attention_of(shown)
    unread = _unread(page)
    tallies, groups = _tallies(page, unread), _groups_csv(page, unread)
    data = {name: text for name, text in _downloads(page, groups) if len(text) > LONGEST_IN_OPEN}

    def laid_out(details: int) -> tuple[str, int]:
        """Return the page with so many groups in full, and the number of its packed bytes."""
        rows = [row.render(line=line, has=has, details=details).strip() for line in shown]
        content = {"rows": rows[MOST_ROWS:], "details": texts[in_the_open:details], "data": data}
        packed = _packed(content) if any(content.values()) else ""
        text = layout.render(
            page=page,
            lines=shown,
            rows=map(Markup, rows[:MOST_ROWS]),
            unread=unread[:MOST_UNREAD],
            more_unread=page.unread_count - len(page.unread) + len(unread[MOST_UNREAD:]),
            open_details=map(Markup, texts[:in_the_open]),
            details=details,
            to_do=to_do,
            most_to_do=MOST_TO_DO,
            fewest_filtered=FEWEST_FILTERED,
            packed=packed,
            packed_data=data,
            groups_csv=groups,
            tallies=tallies,
            has=has,
            style=Markup(_asset("style.css")),
            script=Markup(_asset("page.js")),
            policy=POLICY,
        )
        return text, len(packed)

    details = len(texts)
    text, packed = laid_out(details)
    while len(text.encode()) > MOST_BYTES and details > in_the_open:
        # Estimated as if every group in full took the same space.
        over = (len(text.encode()) - MOST_BYTES) * (details - in_the_open) // max(packed, 1)
        details = max(in_the_open, details - over - 1)
        text, packed = laid_out(details)
    return text


POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"


@cache
def _environment() -> Environment:
    environment = Environment(
        autoescape=True,
        loader=FunctionLoader(_asset),
        undefined=StrictUndefined,
        finalize=one_way,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"proofs": PROOFS, "marks": MARKS, "facts": FACTS}
    environment.globals |= {"GOOD": GOOD, "EVEN_LAGGING": EVEN_LAGGING}
    environment.filters |= {
        "number": lambda number: f"{number:,}",
        "called": called,
        "counted": counted,
        "in_a_line": in_a_line,
        "minute": minute,
        "unit": lambda tier: TIERS[tier].unit,
        "figure": figure,
        "in_short": lambda text, labels: in_short(str(one_way(text)), labels),
        "share": lambda part, whole: percent(part, whole) if whole else "-",
    }
    return environment


def one_way(value: object) -> object:
    """Return a text with direction-changing characters and surrogates escaped as in JSON."""
    return value.translate(_WRITTEN_OUT) if type(value) is str else value


def _asset(name: str) -> str:
    return (files("compare.page") / "templates" / name).read_text(encoding="utf-8")


def figure(svg: str, name: str, told: str) -> Markup:
    """Return an SVG for a page with several: its ids are unique, and it is one labelled image.

    Parameters
    ----------
    svg : from vl-convert, which escapes texts in it
    name : prefix of every id inside
    told : label for readers who do not see the figure
    """
    _, _, inner = svg[svg.index("<svg") :].partition(">")
    size = re.search(r'<svg[^>]*? width="([\d.]+)" height="([\d.]+)"', svg)
    width, height = size.groups() if size else ("560", "300")
    inner = _NAME.sub(rf"\g<1>{name}-", _INNER.sub("", inner))
    head = Markup('<svg class="drawn" viewBox="0 0 {} {}" style="max-width:{}px" ').format(
        width, height, round(1.25 * float(width))
    )
    label = Markup('role="img" aria-label="{}">').format(told)
    return head + label + Markup(inner)


def _fitting(sizes: Sequence[int], most: int) -> int:
    """Return how many texts of such sizes fit into `most`, at least one."""
    total = 0
    for number, size in enumerate(sizes):
        total += size
        if total > most and number:
            return number
    return len(sizes)


def _downloads(page: Page, groups: str | None) -> list[tuple[str, str]]:
    """Return (name in the page, text) of the texts that the page offers for download."""
    found = {"groups-data": groups}
    for name, comparison in (("assignors", page.yours), ("benchmark", page.benchmark)):
        found[f"{name}-data"] = None if comparison is None else comparison.data
    found |= {f"trend{at}-data": one.data for at, one in enumerate(page.trend, start=1)}
    return [(name, text) for name, text in found.items() if text is not None]


def _packed(content: Mapping[str, object]) -> str:
    """Return contents as JSON, compressed by gzip, in base64."""
    data = json.dumps(content).encode()
    return base64.b64encode(gzip.compress(data, mtime=0)).decode()


def _tallies(page: Page, unread: Sequence[tuple[str, Failure]]) -> list[tuple[str, str, str, int]]:
    """Return (verdict, mark, tone, number of groups), worst first; unread inputs come last."""
    without = Counter(says for says, _ in unread)
    without[NOT_READ] += page.unread_count - len(page.unread)
    return [
        *((says, *MARKS[says][:2], count) for says, count in page.says),
        *((says, "✕", "open", count) for says, count in without.items() if count),
    ]


def _unread(page: Page) -> list[tuple[str, Failure]]:
    """Return what the table shows as a verdict, and why, of each group and file without one.

    Several texts of one group that has no snapshot are one line.
    """
    shown: dict[object, tuple[str, Failure]] = {}
    for one in page.unread:
        says = page.missed.get(one.group or "")
        shown.setdefault(one.group if says else one, (says or NOT_READ, one))
    return [*shown.values()]


def _groups_csv(page: Page, unread: Sequence[tuple[str, Failure]]) -> str | None:
    """Return the lines of all groups as CSV; None if too long for a page."""
    columns = {
        "group": "name",
        "captured_at": "captured_at",
        "verdict": "shown",
        "to_do": "to_do",
        "members": "members",
        "partitions": "partitions",
        "loads_now": "now",
        "loads_best": "best",
        "moves": "advised_moves",
        "idle": "idle",
        "peak_lag_now": "peak",
        "peak_lag_then": "then",
        "peak_lag_best": "lowest",
    }
    shown = attrgetter(*columns.values())
    proved = {True: "yes", False: "no"}
    rows = [
        (*shown(line), None if line.lowest is None else proved[line.lowest_proved])
        for line in page.lines
    ]
    rows += [(one.about, None, says, one.reason) for says, one in unread]
    text = as_csv([*columns, "peak_lag_best_proved"], rows)
    return text if len(text) <= MOST_LISTED else None
