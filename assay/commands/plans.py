"""Plans: assignments from files, each scored as a row of its own."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated

import typer

from compare.scores import CURRENT, OPTIMUM, UNKNOWN, Score
from compare.scores import score as score_assignment
from groups.assignment_files import NamedAssignment, read_assignments
from groups.errors import BadInput
from heuristics import assignors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from groups.group import Group
    from optimal.solution import Solution

Plans = Annotated[
    list[str] | None,
    typer.Option(
        "--plan",
        metavar="PLAN",
        help="a file to score: {member: {topic: [partition]}}, a solution or another capture",
    ),
]


def read_plans(files: Sequence[str], groups: Sequence[Group]) -> dict[str, NamedAssignment]:
    """Return plans by the name of their row: the file's name without its suffix.

    Raises
    ------
    BadInput
        If there is not exactly one group, a file is no plan for it, or a name is taken.
    """
    if files and len(groups) != 1:
        raise BadInput(f"--plan {files[0]}: {len(groups)} groups to plan for; add --group NAME")
    taken = {CURRENT, OPTIMUM, *assignors()} if files else set()
    plans: dict[str, NamedAssignment] = {}
    for file in files:
        name = "plan" if file == "-" else _stem(file)
        if name in taken:
            raise BadInput(f"--plan {file}: there is a row {name} already; rename the file")
        taken.add(name)
        found = read_assignments(file)
        for failure in found.damaged:
            raise BadInput(str(failure))
        plans[name] = found.of(groups[0].name)
        plans[name].of(groups[0])
    return plans


def plan_rows(
    plans: Mapping[str, NamedAssignment], group: Group, reference: Solution | None
) -> list[Score]:
    """Return a row for each plan."""
    if reference is None or not group.subscription_known.all():
        return [Score(name, "refused", UNKNOWN) for name in plans]
    return [
        score_assignment(group, plan.of(group), reference, assignor=name)
        for name, plan in plans.items()
    ]


def _stem(file: str) -> str:
    path = PurePath(file)
    return PurePath(path.stem).stem if path.suffix == ".gz" else path.stem or path.name
