"""Report: one self-contained page about a run, verdict first."""

from __future__ import annotations

import errno
import json
import os
from html import escape
from typing import TYPE_CHECKING

from compare.runs import figures
from compare.runs.latest_run import current_verdict, latest_run, loads_of
from compare.runs.summary import by_assignor, headlines
from compare.score import CURRENT
from compare.sentences import captures
from groups.documents.json_files import make_folder
from groups.errors import BadInput
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from compare.runs.latest_run import Run
    from compare.runs.summary import AssignorSummary

MOST_GROUPS_DRAWN = 40
MOST_MEMBERS_DRAWN = 40
MOST_ROWS = 300

STYLE = """
:root { color-scheme: light; --ink: #1d2733; --soft: #5b6672; --line: #d9dee4; --good: #1b7f5c; }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); max-width: 1000px;
       margin: 2rem auto; padding: 0 1rem; background: #fff; }
h1 { font-size: 1.5rem; margin-bottom: .2rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
p.lead, ol.headlines { font-size: 1.05rem; } .soft { color: var(--soft); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem .7rem .3rem 0; border-bottom: 1px solid var(--line);
         vertical-align: top; overflow-wrap: anywhere; }
td.number, th.number { text-align: right; white-space: nowrap; overflow-wrap: normal; }
td.name { white-space: nowrap; overflow-wrap: normal; } th, td { min-width: 4.5em; }
table { font-size: .85rem; } .scroll { overflow-x: auto; }
.good { color: var(--good); font-weight: 600; } .figure { overflow-x: auto; margin: 1rem 0; }
.vega-bindings { margin: .4rem 0; } .vega-bind { display: inline-block; margin-right: 1.5rem; }
"""

DRAW = """
const specs = JSON.parse(document.getElementById("specs").textContent);
for (const [name, spec] of Object.entries(specs))
  vegaEmbed(document.getElementById(name), spec, {actions: false, renderer: "svg"});
"""

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'unsafe-inline'; img-src data:"
)


def write_report(folder: Path, page: Path) -> list[str]:
    """Write the page about the latest run under `folder`; return lines for people.

    The lines are the headlines, then the path of the page.

    Raises
    ------
    BadInput
        Where the folder holds no run, or the page cannot be written.
    """
    run = latest_run(folder)
    make_folder(page.parent)
    if page.is_dir():
        raise BadInput(f"{page}: cannot be written: {os.strerror(errno.EISDIR)}")
    found = headlines(run)
    text = _page(run, found)
    try:
        page.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{page}: cannot be written: {error.strerror}") from None
    return [*(f"{i}. {line}" for i, line in enumerate(found, start=1)), f"report: {page}"]


def _page(run: Run, found: Sequence[str]) -> str:
    import vl_convert

    summaries = by_assignor(run)
    drawn = _drawn(run)
    charts = {
        "shares": figures.shares(summaries),
        **{f"excess-{tier}": figures.excess(run, tier) for tier in run.tiers},
        "loads": figures.loads(*drawn),
    }
    sections = [
        "<h1>How good are these assignments?</h1>",
        _lead(run),
        "<ol class='headlines'>" + "".join(f"<li>{escape(line)}</li>" for line in found) + "</ol>",
        "<h2>Assignors against the optimum</h2>",
        "<p class='soft'>Valid: every partition that somebody reads is with exactly one member "
        "that reads it. Balanced: as KIP-54 defines it. Optimal: every tier at its proved "
        "optimum. Excess counts from the optimum, up to the first tier that differs.</p>",
        _figure("shares"),
        _assignor_table(summaries),
        *(f"<h2>Excess of {escape(t)}</h2>{_figure(f'excess-{t}')}" for t in run.tiers),
        "<h2>Loads per member</h2>",
        "<p class='soft'>Partitions per member of a chosen group, now, with a chosen assignor and "
        f"at the optimum; groups of at most {MOST_MEMBERS_DRAWN} members.</p>",
        _figure("loads"),
        "<h2>Groups</h2>",
        _group_table(run),
        _failure_table(run),
    ]
    specs = {name: chart.to_dict() for name, chart in charts.items()}
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            "<title>assay report</title>",
            f"<style>{STYLE}</style></head><body>",
            *sections,
            f"<script id='specs' type='application/json'>{_data(specs)}</script>",
            f"<script type='module'>{vl_convert.javascript_bundle(DRAW)}</script>",
            "</body></html>\n",
        ]
    )


def _data(document: object) -> str:
    """Return JSON that cannot end the script element that it stands in."""
    return json.dumps(document, separators=(",", ":")).replace("<", "\\u003c")


def _figure(name: str) -> str:
    return f"<div class='figure' id='{escape(name)}'></div>"


def _lead(run: Run) -> str:
    solved = int((run.optima["status"] == "optimal").sum())
    kinds = run.optima[run.optima["status"] == "optimal"]["proof"].value_counts()
    rest = ", ".join(f"{count} by {escape(kind)}" for kind, count in kinds.items())
    return (
        f"<p class='lead'>{captures(list(run.optima['group']))}, objective "
        f"<b>{escape(run.objective)}</b>: the optimum is proved for "
        f"<b class='good'>{solved}</b> of them ({rest or 'none'}); "
        f"{counted(len(run.failures), 'input')} could not become a group.</p>"
    )


def _assignor_table(summaries: Sequence[AssignorSummary]) -> str:
    tiers = [t.name for t in summaries[0].tiers] if summaries else []
    head = ["assignor", "scored", "not scored", "valid", "balanced", "optimal"]
    for tier in tiers:
        head += [f"{tier}: worse", "mean excess", "worst"]
    rows = []
    for one in summaries:
        cells: list[object] = [one.assignor, one.scored, one.unscored]
        cells += [f"{100 * share:.1f}%" for share in (one.valid, one.balanced, one.optimal)]
        for tier_excess in one.tiers:
            cells.append(f"{100 * tier_excess.above:.1f}% of {tier_excess.known}")
            cells += [f"{tier_excess.mean:.2f}", tier_excess.worst]
        rows.append(cells)
    return _table(head, rows, numbers_from=1)


def _group_table(run: Run) -> str:
    order = run.groups.merge(
        run.optima[["group_key", "status", "proof", "method"]],
        left_on="key",
        right_on="group_key",
    )
    captured = order["assumed"].map(len) > 0
    order = order.assign(rank=(~captured).astype(int)).sort_values(
        ["rank", "group", "captured_at"]
    )
    rows = []
    for _, row in order.head(MOST_ROWS).iterrows():
        verdict = current_verdict(run, row["key"])
        assumed = "; ".join(row["assumed"])
        sources = row["source"].split(", ")
        source = sources[0] if len(sources) == 1 else f"{sources[0]} and {len(sources) - 1} more"
        known = f"{row['status']} ({row['proof']})" if row["proof"] else row["status"]
        rows.append(
            [
                row["group"],
                row["captured_at"] or "",
                row["members"],
                row["partitions"],
                verdict,
                known,
                assumed,
                source,
            ]
        )
    more = len(order) - len(rows)
    note = f"<p class='soft'>and {more} more in the tables</p>" if more > 0 else ""
    head = [
        "group",
        "captured at",
        "members",
        "partitions",
        "owned now",
        "optimum",
        "assumed",
        "source",
    ]
    return _table(head, rows, numbers_from=2, numbers_to=4) + note


def _failure_table(run: Run) -> str:
    if run.failures.empty:
        return ""
    rows = [
        [row["place"], row["group"] or "", row["reason"]]
        for _, row in run.failures.head(MOST_ROWS).iterrows()
    ]
    return "<h2>Inputs that are no group</h2>" + _table(["place", "group", "reason"], rows)


def _table(
    head: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    numbers_from: int = 99,
    numbers_to: int = 99,
) -> str:
    def kind(column: int) -> str:
        if numbers_from <= column < numbers_to:
            return " class='number'"
        return " class='name'" if column < numbers_from < 99 and numbers_to == 99 else ""

    top = "".join(f"<th{kind(i)}>{escape(name)}</th>" for i, name in enumerate(head))
    body = "".join(
        "<tr>"
        + "".join(f"<td{kind(i)}>{escape(str(cell))}</td>" for i, cell in enumerate(row))
        + "</tr>"
        for row in rows
    )
    table = f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div class='scroll'>{table}</div>"


def _drawn(run: Run) -> tuple[list[dict[str, object]], list[str], list[str]]:
    """(rows of loads, group labels, assignors) of the groups worth a look, the worst first."""
    small = run.groups[(run.groups["members"] > 0) & (run.groups["members"] <= MOST_MEMBERS_DRAWN)]
    small = small[small["key"].isin(set(run.optima["group_key"]))]
    excess = run.scores[[f"excess.{t}" for t in run.tiers]].fillna(0).sum(axis=1)
    worst = excess.groupby(run.scores["group_key"]).max()
    captured = small["assumed"].map(len) > 0
    rank = small.assign(captured=captured, worst=small["key"].map(worst).fillna(0))
    rank = rank.sort_values(["captured", "worst", "group"], ascending=[False, False, True])
    rows: list[dict[str, object]] = []
    labels: list[str] = []
    for name, key, at in zip(rank["group"], rank["key"], rank["captured_at"], strict=True):
        if len(labels) == MOST_GROUPS_DRAWN:
            break
        label = name if name not in labels else f"{name} ({at or key[:6]})"
        labels.append(label)
        rows += [{"group": label, **row} for row in loads_of(run, key)]
    return rows, labels, [a for a in run.assignors if a != CURRENT]
