"""Promises: hunt for the smallest group that breaks one, and print a finding as a program."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from assay.commands.guests import Guests
from assay.commands.options import MOST_SECONDS, Format, seconds_option
from assay.commands.solve import in_ranges
from assay.progress import report_progress
from assay.signals import ending_on_signals
from assay.streams import note, put, show, show_json, write
from assay.terminal import Column, show_table, tell
from compare.promises.description import happens
from compare.promises.findings import (
    SHIPPED,
    Finding,
    all_rederived,
    read_findings,
    rederive_all,
    shipped_findings,
)
from compare.promises.hunt import CALL_SECONDS, hunt_findings, not_reproduced
from compare.promises.program import program
from compare.promises.promise import is_promised, promise_named
from compare.promises.rerun import rerun
from compare.promises.task_program import has_program, read_task_findings, task_program
from groups.documents.json_files import make_folder
from groups.errors import BadInput
from heuristics.nearest import nearest
from heuristics.time_limit import TimeLimit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heuristics.assignor import Assignor


@ending_on_signals("interrupted")
def hunt(
    assignor: Annotated[str | None, typer.Argument(help="whose promises to break")] = None,
    *,
    promise: Annotated[
        list[str] | None, typer.Option(help="one to break, also one that it does not make")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="seed of the groups to try")] = 1,
    groups: Annotated[
        int, typer.Option(min=1, help="how many groups to draw after the small ones")
    ] = 2000,
    seconds: Annotated[
        float | None,
        typer.Option(
            min=0.1,
            max=MOST_SECONDS,
            help="seconds for all promises together; 300 if left out",
        ),
    ] = None,
    time_limit: Annotated[
        float | None, seconds_option("seconds for each call; 1 if left out, and 10 with --probe")
    ] = None,
    rederive: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="check that the findings of a file still hold"),
    ] = None,
    guests: Guests,
    format_: Format = "table",
) -> None:
    """Find the smallest group on which an assignor breaks a promise; exit code 1 if one is found.

    All small groups are tried, then those that are drawn at random, for 5 minutes at most unless
    --seconds says otherwise. That none was found proves nothing.
    Without --promise, those that the assignor is known not to make are left out.
    With --probe, of any client that joins; ASSIGNOR is then its name on the wire, or else the one
    that the client prefers.
    """
    if (assignor is None and not guests.probe) == (rederive is None):
        raise BadInput("expected either an assignor, --probe or --rederive FILE")
    with ExitStack() as opened:
        limit = opened.enter_context(TimeLimit(time_limit or CALL_SECONDS))
        if rederive is not None:
            rederived = []
            for one in rederive_all(rederive, limit):
                rederived.append(one)
                show(f"{one.id}: {one.said}")
            note(all_rederived(rederived))
            raise typer.Exit(1 if any(one.status == "changed" for one in rederived) else 0)
        joined = opened.enter_context(guests.joined(assignor, seconds=time_limit, any_topics=True))
        who: str | Assignor = joined[0].assignor if joined else assignor or ""
        found = hunt_findings(
            who,
            promise,
            limit,
            seed=seed,
            groups=groups,
            seconds=seconds,
            say=note,
            call_seconds=time_limit,
            progress=report_progress,
            known=shipped_findings(),
        )
        broken, each = False, joined[0].seconds if joined else limit.seconds
        for finding in found:
            broken = True
            if format_ == "json":
                show_json(finding.to_dict())
            else:
                print_finding(finding, each)
        raise typer.Exit(1 if broken else 0)


def print_finding(finding: Finding, seconds: float) -> None:
    """Print a broken promise, what happens, the promise's text and source, and the group.

    Parameters
    ----------
    seconds : the time limit of each call
    """
    group, promise = finding.group, promise_named(finding.promise)
    # An assignor that is merely slow may answer later.
    late = f"no answer within {seconds:g} s"
    what = late if promise.name == "terminates" else happens(finding)
    unpromised = "" if is_promised(finding.promise, finding.assignor) else ", not promised"
    tell(f"{finding.assignor} breaks {finding.promise}{unpromised}: {what}")
    tell(f"{finding.promise}: {promise.text} ({promise.source})")
    if finding.record is not None and finding.record.again is not None:
        tell(not_reproduced(finding, finding.record.again))
    sizes = (f"{t} {n}" for t, n in zip(group.topics, group.partitions.tolist(), strict=True))
    tell(f"partitions of each topic: {', '.join(sizes) or '-'}")
    record = finding.record
    plans = {} if record is None else {"gets": record.plan, "better": record.better}
    show_table(
        group.to_dict()["members"].items(),
        Column("member", lambda one: one[0]),
        Column("generation", lambda one: one[1].get("generation")),
        Column("reads", lambda one: list(one[1]["subscription"] or ())),
        Column("owns", lambda one: in_ranges(one[1]["owned"])),
        *(Column(head, partial(_gets, plan)) for head, plan in plans.items() if plan is not None),
    )


def _gets(plan: Mapping[str, Mapping[str, list[int]]], member: tuple[str, object]) -> list[str]:
    return in_ranges(plan.get(member[0], {}))


def reproduce(
    finding: Annotated[str, typer.Argument(help="its id; a wrong one names the nearest")],
    *,
    findings: Annotated[
        str | None, typer.Option(metavar="FILE", help="file of findings; those that ship if none")
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("-o", "--out", metavar="DIR", help="folder for it and its build file"),
    ] = None,
    run_it: Annotated[
        bool, typer.Option("--run", help="run it here: exit code 1 where nothing is reproduced")
    ] = False,
) -> None:
    """Print a finding as a test program in the client's language."""
    file = str(SHIPPED) if findings is None else findings
    known = {found.id: found for found in read_findings(file)}
    of_tasks = {one.id: one for one in read_task_findings()} if findings is None else {}
    if finding not in known and finding not in of_tasks:
        tested = [one.id for one in of_tasks.values() if has_program(one)]
        near = f"; nearest: {nearest(finding, [*known, *tested])}" if known else ""
        if findings is None and Path(finding).is_file():
            near = "; it is a file: name it with --findings, and a finding by the id in it"
        told = f"{file}: " if findings else ""
        raise BadInput(f"{told}no finding {finding!r}{near}")
    if finding in known:
        made, assignor = program(known[finding]), known[finding].assignor
    else:
        made = task_program(of_tasks[finding])
        assignor = f"kafka-broker/uniform@{of_tasks[finding].affected[-1]}"
    if out is not None:
        folder = Path(out)
        make_folder(folder)
        for name, text in made.files.items():
            write([text.rstrip("\n")], str(folder / name))
        show(f"cd {quote(str(folder))} && {made.command}")
        note("this fails where the finding is reproduced")
    elif not run_it:
        put(made.text.rstrip("\n"))
    if run_it:
        with TemporaryDirectory(prefix="assay-") as empty:
            came = rerun(made, assignor, Path(empty))
        for line in came.output.splitlines():
            note(line)
        show(
            f"{finding}: {'reproduced' if came.reproduced else 'not reproduced: the test passes'}"
        )
        raise typer.Exit(0 if came.reproduced else 1)
