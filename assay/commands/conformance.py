"""Conformance: whether an assignor, or a client that joins, keeps its promises on the corpus."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.commands.guests import Guests
from assay.commands.options import Format, seconds_option
from assay.progress import report_progress
from assay.signals import ending_on_signals
from assay.streams import note, show_json, write
from assay.terminal import Column, show_table
from groups.documents.json_files import make_folder
from groups.errors import BadInput, require_one_of
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.promises.conformance import Conformity

FEW = 60
MOST_REASONS = 4


@ending_on_signals("interrupted")
def conformance(
    assignor: Annotated[str | None, typer.Argument(help="who is held to the promises")] = None,
    *,
    promise: Annotated[
        list[str] | None, typer.Option(help="one to ask about, also one that it does not make")
    ] = None,
    groups: Annotated[
        int | None,
        typer.Option(min=1, help=f"how many groups; all if left out, and {FEW} with --probe"),
    ] = None,
    time_limit: Annotated[float, seconds_option("seconds for each call, over all rounds")] = 10.0,
    out: Annotated[
        str | None,
        typer.Option(
            "-o", "--out", metavar="DIR", help="instead: the corpus, with its large groups in full"
        ),
    ] = None,
    guests: Guests,
    format_: Format = "table",
) -> None:
    """Hold an assignor to its promises on the conformance corpus; exit code 1 if one breaks.

    Without --promise, those that the assignor is known not to make are left out.
    With --probe, any client that joins is held to them; ASSIGNOR is then its name on the wire,
    or else the one that the client prefers.
    """
    from compare.promises.conformance import (
        ASKED,
        asked_of,
        conformity,
        file_of,
        group_of,
        in_full,
        sampled,
        trials_on,
    )
    from compare.promises.trial import runner_of
    from heuristics.catalogue import the_one_matching
    from heuristics.time_limit import TimeLimit

    if (assignor is not None or guests.probe) == (out is not None):
        raise BadInput("expected either an assignor, --probe or --out DIR")
    for name in promise or ():
        require_one_of("promise", name, ASKED)
    if out is not None:
        make_folder(Path(out))
        for name in promise or ASKED:
            write([in_full(name).rstrip("\n")], str(Path(out) / f"{name}.json"))
        return
    with ExitStack() as opened:
        limit = opened.enter_context(TimeLimit(time_limit))
        joined = opened.enter_context(guests.joined(assignor, seconds=time_limit, any_topics=True))
        who = joined[0].assignor if joined else the_one_matching(assignor or "")
        run = runner_of(who if joined else who.name, limit)
        asked = promise or asked_of(who.name)
        every = {name: file_of(name)["instances"] for name in ASKED if name in asked}
        most = groups or (FEW if joined else None)
        chosen = every if most is None else sampled(every, most)
        by_id = {one["id"]: one for some in chosen.values() for one in some}
        in_all = len({one["id"] for some in every.values() for one in some})
        note(f"{who.name}: {len(by_id)} of {in_all} groups")
        made = {name: group_of(one) for name, one in by_id.items()}
        trials = trials_on(run, made)
        for number, trial in enumerate(trials.values()):
            report_progress(f"{number} of {len(trials)} groups, {trial.outcome.status}")
        reasons = Counter(trial.outcome.reason for trial in trials.values())
        for reason, count in (pair for pair in reasons.most_common(MOST_REASONS) if pair[0]):
            note(f"{counted(count, 'group')} without an assignment: {reason}")
        rows = list(conformity(chosen, trials))
        if format_ == "json":
            head = {"format": "assay-conformance-result/1", "assignor": who.name}
            numbers = {"groups": len(by_id), "of": in_all}
            show_json(head | numbers | {"promises": [asdict(row) for row in rows]})
        else:
            show_conformity(rows)
        left_out = [name for name in ASKED if name not in asked]
        if left_out and not promise:
            unknown = f"which {who.name} is not known to promise"
            note(f"not asked: {', '.join(left_out)}, {unknown}; --promise asks for one")
        raise typer.Exit(1 if any(row.broken for row in rows) else 0)


def show_conformity(rows: Sequence[Conformity]) -> None:
    """Print for each promise how often it was kept, and the first instance that breaks it."""
    show_table(
        rows,
        Column("promise", lambda row: row.promise),
        Column("instances", lambda row: len(row.kept + row.broken + row.not_tested)),
        Column("kept", lambda row: len(row.kept)),
        Column("broken", lambda row: len(row.broken)),
        Column("not tested", lambda row: len(row.not_tested)),
        Column("first broken", lambda row: next(iter(row.broken), None), whole=True),
    )
