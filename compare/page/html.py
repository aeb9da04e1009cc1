"""HTML: a page laid out by its template, small enough to send, and complete without a network."""

from __future__ import annotations

import base64
import errno
import gzip
import json
import os
import re
from importlib.resources import files
from typing import TYPE_CHECKING

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from compare.page.csv_text import as_csv
from compare.page.words import PROOFS, minute
from groups.documents.json_files import make_folder
from groups.errors import BadInput
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from compare.page.contents import Page

# Together they keep a page under 2 MB, whatever is read.
MOST_IN_THE_OPEN = 300_000
MOST_PACKED = 900_000
MOST_LINES = 1_000
MOST_UNREAD = 300
MOST_LISTED = 150_000
STYLE_AND_SCRIPT = ("style.css", "page.js")
_INNER = re.compile(r' (?:aria-[a-z]+|role)="[^"]*"')
_NAME = re.compile(r'(\bid="|url\(#|href="#)')


def write_page(page: Page, path: Path) -> None:
    """Write a page.

    Raises
    ------
    BadInput
        Where it cannot be written.
    """
    require_writable(path)
    text = rendered(page)
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from None


def require_writable(path: Path) -> None:
    """Make the folder of a page; raise BadInput where the page cannot be written there."""
    make_folder(path.parent)
    if path.is_dir():
        raise BadInput(f"{path}: cannot be written: {os.strerror(errno.EISDIR)}")


def rendered(page: Page) -> str:
    """Return a page as HTML.

    The worst groups stand in it as they are, the others packed; what is too much even so is said
    in the page, with how to see it.
    """
    environment = _environment()
    detail = environment.get_template("detail.html")
    shown = page.details[:MOST_LINES]
    texts = [detail.render(detail=one, page=page) for one in shown]
    in_the_open = _fitting([len(text) for text in texts], MOST_IN_THE_OPEN)
    packed, blob = _packed(texts[in_the_open:])
    details = in_the_open + packed
    return environment.get_template("page.html").render(
        page=page,
        lines=page.lines[:MOST_LINES],
        unread=page.unread[:MOST_UNREAD],
        lines_left=max(len(page.lines) - MOST_LINES, 0),
        unread_left=max(len(page.unread) - MOST_UNREAD, 0),
        open_details=[Markup(text) for text in texts[:in_the_open]],
        details=details,
        details_left=len(page.lines) - details,
        chosen=shown[:details],
        packed=blob,
        groups_csv=_groups_csv(page),
        tallies=_tallies(page),
        has={
            "idle": any(line.idle for line in page.lines),
            "lag": any(line.lag_now is not None for line in page.lines),
            "lag_open": any(
                line.lag_best is not None and not line.lag_proved for line in page.lines
            ),
            "lag_best": any(line.lag_best is not None for line in page.lines),
        },
        style=Markup(_asset("style.css")),
        script=Markup(_asset("page.js")),
        policy=POLICY,
    )


POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"


def _environment() -> Environment:
    environment = Environment(
        autoescape=True,
        loader=FunctionLoader(_asset),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["proofs"] = PROOFS
    environment.filters |= {
        "number": lambda number: f"{number:,}",
        "counted": counted,
        "minute": minute,
        "figure": figure,
        "share": lambda part, whole: f"{100 * part / whole:.0f}%" if whole else "-",
    }
    return environment


def _asset(name: str) -> str:
    return (files("compare.page") / "templates" / name).read_text(encoding="utf-8")


def figure(svg: str, name: str, told: str) -> Markup:
    """Return a drawing for a page that has several: its names are its own, and it is one image.

    Parameters
    ----------
    svg : as vl-convert makes it, which escapes what stands in it
    name : what every name inside begins with
    told : what the figure shows, for those who do not see it
    """
    _, _, inner = svg[svg.index("<svg") :].partition(">")
    width, height = _size(svg)
    inner = _NAME.sub(rf"\g<1>{name}-", _INNER.sub("", inner))
    head = Markup('<svg class="drawn" viewBox="0 0 {} {}" style="max-width:{}px" ').format(
        width, height, round(1.25 * float(width))
    )
    label = Markup('role="img" aria-label="{}">').format(told)
    return head + label + Markup(inner)


def _size(svg: str) -> tuple[str, str]:
    found = re.search(r'<svg[^>]*? width="([\d.]+)" height="([\d.]+)"', svg)
    return (found[1], found[2]) if found else ("560", "300")


def _fitting(sizes: Sequence[int], most: int) -> int:
    """Return how many of some texts fit, one at least."""
    total = 0
    for number, size in enumerate(sizes):
        total += size
        if total > most and number:
            return number
    return len(sizes)


def _packed(texts: Sequence[str]) -> tuple[int, str]:
    """Return how many texts fit when they are packed, and those: JSON, gzip, base64."""
    count = len(texts)
    while count:
        data = json.dumps(texts[:count]).encode()
        blob = base64.b64encode(gzip.compress(data, 6, mtime=0)).decode()
        if len(blob) <= MOST_PACKED:
            return count, blob
        count = min(count - 1, count * MOST_PACKED // len(blob))
    return 0, ""


def _tallies(page: Page) -> list[tuple[str, str, str, int]]:
    """(verdict, mark, tone, groups) in the order of the lines; what was not read comes last."""
    found: dict[str, tuple[str, str, int]] = {}
    for line in page.lines:
        _, _, count = found.get(line.says, ("", "", 0))
        found[line.says] = (line.mark, line.tone, count + 1)
    tallies = [(says, *rest) for says, rest in found.items()]
    if page.unread:
        tallies.append(("not read", "✕", "open", len(page.unread)))
    return tallies


def _groups_csv(page: Page) -> str | None:
    """Return every line as CSV; None where that is too long for a page."""
    heads = ["group", "captured_at", "verdict", "to_do", "members", "partitions", "loads_now"]
    heads += ["loads_best", "moves", "idle", "peak_lag_now", "peak_lag_best"]
    rows: list[tuple[object, ...]] = [
        (
            line.name,
            line.captured_at,
            line.says,
            line.to_do,
            line.members,
            line.partitions,
            line.now,
            line.best,
            line.moves,
            line.idle,
            line.lag_now,
            line.lag_best,
        )
        for line in page.lines
    ]
    rows += [(one.group or one.place, None, "not read", one.reason) for one in page.unread]
    text = as_csv(heads, rows)
    return text if len(text) <= MOST_LISTED else None
