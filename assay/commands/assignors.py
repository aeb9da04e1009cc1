"""Assignors: which are here, how others come, and any client that connects."""

from itertools import islice
from typing import Annotated

import typer

from assay.commands.options import MOST_SECONDS, AssumeEqual, Format, Objective
from assay.progress import far
from assay.signals import ending_on_signals
from assay.streams import complain, note, note_assumed, show, show_json
from groups.documents.json_files import read_documents
from groups.documents.texts import named, read_bytes
from groups.errors import BadInput
from groups.group import Group

FEW = 10


def assignors(*, format_: Format = "table") -> None:
    """List the assignors, and whether they can be scored here."""
    from assay.printing.assignors import print_assignors
    from heuristics import assignors as all_assignors

    listed = [(found, found.missing()) for found in all_assignors().values()]
    if format_ == "table":
        print_assignors(listed)
        return
    rows = [
        {
            "name": found.name,
            "kind": found.kind,
            "source": found.source,
            "version": found.version,
            "available": reason is None,
            "reason": reason,
        }
        for found, reason in listed
    ]
    show_json({"format": "assay-assignors/1", "assignors": rows})


def fetch(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CLIENT[@VERSION]",
            help="such as kafka-java@4.4.0; all that are listed if left out",
        ),
    ] = None,
) -> None:
    """Fetch the clients whose assignors are scored.

    Exit code 2 where one that was asked for cannot be had; the others are there then.
    """
    from heuristics.shipped import CLIENTS, client_and_version

    asked = names or [f"{name}@{v}" for name, c in CLIENTS.items() for v in c.versions()]
    without: dict[str, list[str]] = {}
    for client, version in [client_and_version(name) for name in asked]:
        name = f"{client.name}@{version}"
        far(name)
        try:
            client.fetch(version)
        except BadInput as error:
            without.setdefault(_shared(str(error)), []).append(name)
            continue
        reasons = {client.missing(assignor, version) for assignor in client.assignors}
        for reason in sorted(reasons - {None}, key=str):
            without.setdefault(str(reason), []).append(name)
        if reasons == {None}:
            show(f"{name}: ready")
    for reason, these in without.items():
        complain(f"{', '.join(these)}: {reason}")
    raise typer.Exit(2 if without else 0)


def _shared(reason: str) -> str:
    """Return a reason without the address of what was not fetched, so that it is said once."""
    _, fetched, why = reason.partition(": cannot be fetched: ")
    return f"cannot be fetched: {why.partition(' with url')[0]}" if fetched else reason


@ending_on_signals("interrupted")
def probe(
    file: Annotated[
        str | None,
        typer.Argument(help="assay-group/1 snapshots, - for standard input; else small ones"),
    ] = None,
    *,
    assignor: Annotated[
        str | None,
        typer.Option("--assignor", help="its name on the wire; else the client's first choice"),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="where to listen; 0: any that is free")
    ] = 0,
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout", min=0.001, max=MOST_SECONDS, help="seconds to wait for each plan"
        ),
    ] = 60.0,
    objective: Objective = "kip-54",
    assume_equal: AssumeEqual = False,
    format_: Format = "table",
) -> None:
    """Score any client that connects here.

    The client is made the leader of a group, and its plan is scored.
    """
    from assay.printing.one_group import print_scores
    from assay.printing.over_groups import print_over_groups
    from compare.leader import score_client
    from compare.samples.drawn import drawn
    from compare.scores import scores_document
    from groups.extras import require
    from heuristics.shipped.probe import Absent, open_probe
    from optimal import solve as solve_group

    require("kafka", extra="clients")
    groups = list(islice(drawn(1), FEW)) if file is None else _groups(file, equal=assume_equal)
    rows = []
    with open_probe(port=port, say=note) as opened:
        for group in groups:
            solution = solve_group(group, objective)
            try:
                row = score_client(opened, group, solution, assignor, timeout=timeout)
            except Absent as late:
                raise BadInput(f"{group.name}: {late}") from None
            note_assumed(group.assumed)
            if format_ == "json":
                show_json(scores_document(group, solution, [row]))
            else:
                print_scores(solution, [row])
            rows.append([row])
        if len(groups) > 1 and format_ == "table":
            print_over_groups(rows, solution.objective)


def _groups(file: str, *, equal: bool) -> list[Group]:
    """Read the groups of a .json or .jsonl file; every subscription must be known."""
    found = []
    name = named(file)
    for place, document in read_documents(read_bytes(file), name):
        if isinstance(document, BadInput):
            raise document
        try:
            group = Group.from_dict(document)
            group = group.with_equal_subscriptions() if equal else group
            group.require_subscriptions()
        except BadInput as error:
            raise error.within(place) from None
        found.append(group)
    return found
