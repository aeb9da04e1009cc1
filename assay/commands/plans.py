"""Plans: assignments from files, each scored as a row of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated

import typer

from compare.scores import CURRENT, OPTIMUM, UNKNOWN, Score, score_plan
from groups.assignment_files import read_assignments
from groups.errors import BadInput
from heuristics import assignors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compare.scores import ScoredGroup
    from groups.assignment import Assignment
    from groups.group import Group

Plans = Annotated[
    list[str] | None,
    typer.Option(
        "--plan",
        metavar="PLAN",
        help="a file to score: {member: {topic: [partition]}}, a solution or another capture",
    ),
]


def read_plans(files: Sequence[str], groups: Sequence[Group]) -> dict[str, Assignment]:
    """Return plans by the name of their row: the file's name without its suffix.

    Raises
    ------
    BadInput
        If there is not exactly one group, a file is no plan for it, or a name is taken.
    """
    if files and len(groups) != 1:
        raise BadInput(f"--plan {files[0]}: {len(groups)} groups to plan for; add --group NAME")
    taken = {CURRENT, OPTIMUM, *assignors()} if files else set()
    plans: dict[str, Assignment] = {}
    for file in files:
        name = "plan" if file == "-" else _stem(file)
        if name in taken:
            raise BadInput(f"--plan {file}: there is a row {name} already; rename the file")
        taken.add(name)
        found = read_assignments(file)
        for failure in found.damaged:
            raise BadInput(str(failure))
        plans[name] = found.of(groups[0].name).of(groups[0])
    return plans


def with_plans(scored: ScoredGroup, plans: Mapping[str, Assignment], group: Group) -> ScoredGroup:
    """Return a scored group with a row for each plan, below that of what members hold now.

    Parameters
    ----------
    group : the group as it is scored, with equal subscriptions if these are assumed
    """
    reference = scored.reference
    rows = [
        Score(name, "refused", UNKNOWN)
        if reference is None
        else score_plan(group, plan, reference, name)
        for name, plan in plans.items()
    ]
    now = [row for row in scored.rows if row.assignor == CURRENT]
    others = [row for row in scored.rows if row.assignor != CURRENT]
    return replace(scored, rows=[*now, *rows, *others], plans=plans)


def _stem(file: str) -> str:
    path = PurePath(file)
    return PurePath(path.stem).stem if path.suffix == ".gz" else path.stem or path.name
