"""Scenarios: a group through a sequence of events."""

from typing import Annotated

import typer

from assay.commands.options import (
    DEFAULT_SECONDS,
    Assignors,
    AssumeEqual,
    Format,
    Objective,
    TimeLimitOption,
)
from assay.streams import note_assumed, show_json
from groups.errors import BadInput


def scenario(
    file: Annotated[str, typer.Argument(help="an assay-scenario/1 file, - for standard input")],
    *,
    assignor: Assignors = None,
    objective: Objective = "kip-54",
    time_limit: TimeLimitOption = DEFAULT_SECONDS,
    assume_equal: AssumeEqual = False,
    format_: Format = "table",
) -> None:
    """Take a group through a sequence of events.

    Once with each assignor and once with the optimum, each from its own last assignment.
    """
    from assay.printing.scenarios import print_journeys, print_rollouts
    from compare.scenarios.journey import play, result_document
    from compare.scenarios.scenario import Scenario
    from compare.scenarios.upgrade_paths import roll_out_by_rule, rollout_document
    from heuristics import available, matching
    from heuristics.time_limit import TimeLimit

    names = matching(assignor) if assignor else available()
    asked = Scenario.read(file, assume_equal=assume_equal)
    note_assumed(asked.group.assumed)
    if asked.rollout is not None:
        if assignor:
            raise BadInput(f"--assignor: rollout {asked.rollout} chooses its assignors itself")
        rollouts = roll_out_by_rule(asked.group, asked.rollout)
        if format_ == "json":
            show_json(rollout_document(asked.group, rollouts))
        else:
            print_rollouts(rollouts)
        return
    with TimeLimit(time_limit or DEFAULT_SECONDS) as limit:
        journeys = play(asked, list(names), limit, objective)
    if format_ == "json":
        show_json(result_document(asked, journeys))
    else:
        print_journeys(asked.name, journeys, steps=bool(assignor))
