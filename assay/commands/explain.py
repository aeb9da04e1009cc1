"""Explain: why the best assignment of a group cannot be better, in words."""

from typing import Annotated

import typer

from assay.commands.options import (
    DEFAULT_SECONDS,
    AssumeEqual,
    Objective,
    OneOf,
    Reads,
    TimeLimitOption,
    Views,
    group_in,
)
from assay.streams import note_assumed, show
from groups.tiers import parse_objective


def explain(
    files: Views,
    *,
    member: Annotated[
        str | None,
        typer.Option("--member", help="explain what this member holds; its id or client id"),
    ] = None,
    group: OneOf = None,
    objective: Objective = "kip-54",
    time_limit: TimeLimitOption = DEFAULT_SECONDS,
    reads: Reads = None,
    assume_equal: AssumeEqual = False,
) -> None:
    """Explain in words why no assignment is better than the best one.

    Which members are the only readers of which partitions, what that means for their loads, and
    which partitions must move.
    """
    from assay.printing.explanation import print_explanation
    from compare.reasons.explanation import explain as explained
    from compare.reasons.sure import sure_optimum
    from compare.reasons.words import WHOEVER, not_proved
    from compare.verdict import ALL_ALIKE

    tiers = parse_objective(objective)
    given, damaged = group_in(files, group, reads or [])
    one = given.with_equal_subscriptions() if assume_equal else given
    note_assumed(one.assumed)
    if not one.members:
        show(f"{one.name}: no members, so there is nothing to explain.")
    else:
        solution = sure_optimum(one, tiers, time_limit=time_limit)
        found = explained(solution)
        lead = WHOEVER if solution.group is not one else None
        if one is not given:
            lead = f"This holds if {ALL_ALIKE}."
        if found is None:
            show(not_proved(solution))
        else:
            print_explanation(found, member, lead=lead)
    raise typer.Exit(2 if damaged else 0)
