"""Probe: scores any client that connects, by making it the leader of groups."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from assay.commands.options import AssumeEqual, Format, Objective, seconds_option
from assay.commands.solve import headline
from assay.signals import ending_on_signals
from assay.streams import note, note_assumed, show_json
from assay.tables import show_over_groups, show_scores
from assay.terminal import tell
from compare.samples.drawn import drawn
from compare.scores import Score, score_outcome, scores_document
from groups.errors import AssayError, BadInput
from groups.extras import require
from groups.files import read_groups
from heuristics.assignor import Plan, attempt
from optimal import solve as solve_group

if TYPE_CHECKING:
    from groups.group import Group
    from heuristics.shipped.probe import Probe
    from optimal.solution import Solution

FEW = 10


@ending_on_signals("interrupted")
def probe(
    file: Annotated[
        str | None,
        typer.Argument(help="assay-group/1 snapshots, - for standard input; else small ones"),
    ] = None,
    *,
    assignor: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="on the wire; left out: the client's first choice"),
    ] = None,
    port: Annotated[
        int, typer.Option(metavar="PORT", min=0, max=65535, help="where to listen; 0: a free one")
    ] = 0,
    timeout: Annotated[float, seconds_option("to wait for each plan")] = 60.0,
    objective: Objective = "kip-54",
    assume_equal: AssumeEqual = False,
    format_: Format = "table",
) -> None:
    """Score any client that connects here.

    The client is made the leader of a group, and its plan is scored.
    """
    require("kafka", extra="clients")
    from heuristics.shipped.probe import Absent, open_probe

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
                show_json(scores_document(group, solution.objective, solution, [row]))
            else:
                tell(headline(solution))
                show_scores(solution, [row])
            rows.append((group.name, row))
        if len(groups) > 1 and format_ == "table":
            show_over_groups(rows, solution.objective)


def _groups(file: str, *, equal: bool) -> list[Group]:
    """Read the groups of a file; every subscription must be known."""
    found = read_groups(file)
    for failure in found.failures:
        raise BadInput(str(failure))
    groups = [group.with_equal_subscriptions() if equal else group for group in found]
    for place, group in zip(found.places, groups, strict=True):
        try:
            group.require_subscriptions()
        except BadInput as error:
            raise error.within(place) from None
    return groups


def score_client(
    probe: Probe, group: Group, solution: Solution, protocol: str | None, *, timeout: float
) -> Score:
    """Score the assignment of the next client that joins; a failed client gets a row, too.

    Parameters
    ----------
    protocol : the assignor's name on the wire; None: the one that the client prefers
    timeout : seconds for its plan, and again for each time that it joins

    Raises
    ------
    Absent
        If no client joins.
    """
    from heuristics.shipped.probe.guest import lead

    name, made = lead(probe, group, protocol, timeout=timeout)

    def assign(_: Group) -> Plan:
        if isinstance(made, AssayError):
            raise made
        return made

    return score_outcome(group, attempt(assign, group), solution, name)
