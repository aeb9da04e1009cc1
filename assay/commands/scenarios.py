"""Scenarios: a group through a sequence of events."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assay.commands.guests import Port, Probed, guest, require_probe
from assay.commands.options import (
    DEFAULT_SECONDS,
    Assignors,
    AssumeEqual,
    Format,
    Objective,
    OneOf,
    Reads,
    TimeLimitOption,
    one_group,
)
from assay.signals import ending_on_signals
from assay.streams import note_assumed, show_json
from groups.documents.texts import beginning, named, read_bytes
from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.scenarios.scenario import Scenario
    from compare.scenarios.variation import Variation
    from heuristics import Assignor

_OF_A_GROUP = "leave out --group, --reads, --rotate, --deploys, --scale-out, --scale-in, --rollout"
_WHAT_HAPPENS = (
    "Add --rotate nightly, --deploys, --scale-out or --scale-in; or, as in --from range --to "
    "cooperative-sticky, the assignor that it changes to"
)


@ending_on_signals("interrupted")
def scenario(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="assay-scenario/1 files, or a group as other commands take it; - for standard "
            "input",
        ),
    ],
    *,
    group: OneOf = None,
    rotate: Annotated[
        Literal["nightly"] | None,
        typer.Option(help="of a group: all members restart one after another, every night"),
    ] = None,
    days: Annotated[int, typer.Option(min=1, help="of --rotate: for how many days")] = 1,
    deploys: Annotated[
        int, typer.Option(min=0, help="of a group: all members restart so often")
    ] = 0,
    scale_out: Annotated[
        int, typer.Option(min=0, help="of a group: so many members join, after the restarts")
    ] = 0,
    scale_in: Annotated[
        int, typer.Option(min=0, help="of a group: so many members leave, in the end")
    ] = 0,
    start: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            metavar="ASSIGNORS",
            help="of a rollout: what members list at the start, as in sticky,range, or some of "
            "them, as in 'app-*=sticky,range'",
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(metavar="ASSIGNORS", help="of a rollout: what they list in the end"),
    ] = None,
    stays: Annotated[
        str | None,
        typer.Option(metavar="MEMBERS", help="of a rollout: who keeps the old list"),
    ] = None,
    rollout: Annotated[
        Literal["upgrade", "downgrade", "missed", "range-only"] | None,
        typer.Option(help="of a group: the rollout; upgrade with --from, --to or --stays"),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            metavar="MEMBERS", help="of a rollout: who restarts first, as in app-2,app-0"
        ),
    ] = None,
    misses: Annotated[
        str | None,
        typer.Option(metavar="MEMBER", help="of the rollout missed: who misses a rebalance"),
    ] = None,
    back: Annotated[
        bool, typer.Option("--back", help="of an upgrade or downgrade: and back again")
    ] = False,
    assignor: Assignors = None,
    objective: Objective = "kip-54",
    time_limit: TimeLimitOption = DEFAULT_SECONDS,
    reads: Reads = None,
    assume_equal: AssumeEqual = False,
    probe: Probed = False,
    port: Port = 0,
    format_: Format = "table",
) -> None:
    """Take a group through a week of restarts, or through the change of its assignor.

    For a group, --rotate, --deploys, --scale-out or --scale-in say what happens, or --from and
    --to the change of its assignor. Unknown subscriptions are taken as all topics. Events are
    played with each assignor and with the optimum, each from its own last assignment.
    """
    from compare.scenarios.scenario import Scenario
    from heuristics import available, matching

    require_probe(port, probe=probe)
    names = matching(assignor) if assignor else () if probe else None
    variation = _variation(order, misses, stays, start or (), to, back=back)
    data = {file: read_bytes(file) for file in files}
    happens = {
        "restarts": deploys + (days if rotate else 0), "joins": scale_out, "leaves": scale_in,
    }  # fmt: skip
    if all(_is_scenario(read) for read in data.values()):
        if group or reads or rollout or any(happens.values()):
            raise BadInput(f"{named(files[0])}: says itself what happens: {_OF_A_GROUP}")
        asked = [Scenario.read(file, data=data[file], assume_equal=assume_equal) for file in files]
    else:
        captured = one_group(
            files, group, reads or [], assume_equal=True, standard_input=data.get("-")
        )
        name = rollout or ("upgrade" if variation else None)
        if any(happens.values()) == (name is not None):
            raise BadInput(f"{captured.name}: what happens to it? {_WHAT_HAPPENS}")
        asked = [Scenario.of_group(captured, **happens, rollout=name)]
    for one in asked:
        if one.rollout is not None and (assignor or probe):
            option = "--assignor" if assignor else "--probe"
            raise BadInput(f"{option}: rollout {one.rollout} chooses its assignors itself")
        if one.rollout is None and variation is not None:
            raise BadInput(
                f"{one.name}: has events and is no rollout: leave out --order, --misses, "
                "--stays, --from, --to and --back"
            )
    with ExitStack() as opened:
        joined = [opened.enter_context(guest(port=port, seconds=time_limit))] if probe else []
        for one in asked:
            note_assumed(one.group.assumed)
            if one.rollout is not None:
                _roll_out(one, variation, format_)
            else:
                who: list[str | Assignor] = [*(available() if names is None else names), *joined]
                steps = bool(assignor or probe) and not any(happens.values())
                _play(one, who, objective, time_limit, format_, steps=steps)


def _play(
    asked: Scenario,
    assignors: Sequence[str | Assignor],
    objective: str,
    time_limit: float | None,
    format_: str,
    *,
    steps: bool,
) -> None:
    from assay.printing.scenarios import print_journeys
    from compare.scenarios.journey import play, result_document
    from heuristics.time_limit import TimeLimit

    with TimeLimit(time_limit or DEFAULT_SECONDS) as limit:
        journeys = play(asked, assignors, limit, objective)
    if format_ == "json":
        show_json(result_document(asked, journeys))
    else:
        print_journeys(asked.name, journeys, steps=steps)


def _roll_out(asked: Scenario, variation: Variation | None, format_: str) -> None:
    from assay.printing.scenarios import print_rollouts
    from compare.scenarios.upgrade_paths import PLAIN, roll_out_by_rule, rollout_document

    rollouts = roll_out_by_rule(asked.group, asked.rollout or "", variation or PLAIN)
    if format_ == "json":
        show_json(rollout_document(asked.group, rollouts))
    else:
        print_rollouts(rollouts)


def _variation(
    order: str | None,
    misses: str | None,
    stays: str | None,
    start: Sequence[str],
    to: str | None,
    *,
    back: bool,
) -> Variation | None:
    """Return what is chosen about a rollout; None where nothing is."""
    from compare.scenarios.variation import Variation

    if not (order or misses or stays or start or to or back):
        return None
    of_all, of_some = None, {}
    for given in start:
        pattern, some, listed = given.rpartition("=")
        if some:
            of_some[pattern] = _listed(listed, f"--from {given}")
        elif of_all is not None:
            raise BadInput(f"--from {given}: given twice for all members")
        else:
            of_all = _listed(given, "--from")
    return Variation(
        () if order is None else _listed(order, "--order"),
        misses,
        () if stays is None else _listed(stays, "--stays"),
        of_all,
        of_some,
        None if to is None else _listed(to, "--to"),
        back,
    )


def _listed(text: str, place: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if not all(names):
        raise BadInput(f"{place}: {text!r}, expected names with a comma between them")
    return names


def _is_scenario(data: bytes) -> bool:
    return '"assay-scenario/' in beginning(data)
