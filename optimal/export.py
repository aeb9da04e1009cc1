"""Export: the program of one tier for another solver, and what its variables mean."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal, get_args

from groups.errors import BadInput, require_one_of, writing
from groups.needs import require_data
from groups.tiers import form_after, in_words, parse_objective, values
from optimal.answer import require_costs_within
from optimal.solution import Status
from optimal.solve import solve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from groups.group import Group
    from groups.tiers import Objective

FORMAT = "assay-model/1"
Syntax = Literal["lp", "mps", "proto"]
SQUARES = "sum of squared loads"
RELATION = (
    "the assignments in which the measure is least are those in which the tier is; "
    "its value is not the tier's"
)


@dataclass(frozen=True)
class Model:
    """A formulation of one tier of an objective, for another solver.

    Attributes
    ----------
    syntax : "lp" or "mps", an integer linear program; "proto", a program of CP-SAT as text
    text : the program
    legend : the ``assay-model/1`` document: the tier that is minimised, the tiers that are held,
        and the partitions and member of each variable
    """

    syntax: Syntax
    text: str
    legend: dict[str, object]

    @property
    def binary(self) -> bytes:
        """A program of CP-SAT as a binary protocol buffer."""
        if self.syntax != "proto":
            raise BadInput(f"syntax: {self.syntax} is text, only proto is binary, too")
        from ortools.sat.python import cp_model

        model = cp_model.CpModel()
        model.proto.parse_text_format(self.text)
        return _written_by(model.export_to_file)


def export(
    group: Group,
    objective: str | Sequence[str] = "kip-54",
    syntax: Syntax = "lp",
    *,
    tier: int = 1,
    time_limit: float | None = None,
) -> Model:
    """Return the program of one tier of an objective, as the methods `ilp` and `cp-sat` solve it.

    Each tier of an objective has a program of its own: it is minimised with the earlier tiers held
    at their optima, which are solved for here.

    Parameters
    ----------
    objective : a preset, ``"balance > stickiness"``, or the names of the tiers in order
    syntax : ``"lp"`` or ``"mps"`` for the integer linear program, ``"proto"`` for CP-SAT's
    tier : which tier to minimise, from 1
    time_limit : seconds for the optima of the earlier tiers

    Raises
    ------
    BadInput
        If the objective is not known, it has no such tier, the group lacks what a tier needs,
        an earlier tier is not proved in time, or PuLP is missing.

    Examples
    --------
    >>> from assay import Group, export
    >>> group = Group.from_dict(
    ...     {
    ...         "format": "assay-group/1",
    ...         "group": "orders",
    ...         "topics": {"t0": 2},
    ...         "members": {"c0": {"subscription": ["t0"]}, "c1": {"subscription": ["t0"]}},
    ...     }
    ... )
    >>> model = export(group, "balance > stickiness", "lp", tier=2)
    >>> model.legend["minimised"], model.legend["held"]
    ('stickiness', [{'tier': 'balance', 'measure': 'sum of squared loads', 'value': 2}])
    >>> model.legend["variables"]["p1_m0"]
    {'member': 'c0', 'partitions': [['t0', 1]]}
    """
    tiers = parse_objective(objective)
    require_one_of("syntax", syntax, get_args(Syntax))
    if not 1 <= tier <= len(tiers):
        raise BadInput(f"tier: {tier}, but the objective has {len(tiers)}: {in_words(tiers)}")
    require_data(group, tiers[:tier])
    earlier = None
    if tier > 1:
        earlier = solve(group, tiers[: tier - 1], time_limit=time_limit)
        if earlier.status is not Status.OPTIMAL:
            before = in_words(tiers[: tier - 1])
            raise BadInput(f"tier: {tier} needs the optimum of {before}: not proved in time")
    forms = [form_after(one, tiers[:place]) for place, one in enumerate(tiers[:tier])]
    least: tuple[int, ...] = ()
    if earlier is not None and earlier.assignment is not None:
        least = values(earlier.assignment, tuple(forms[:-1]))
    if syntax == "proto":
        text, variables, offset = _constraint(group, tiers[:tier], forms, least)
    else:
        text, variables, offset = _linear(group, forms, least, syntax)
    pairs = zip(tiers, forms, strict=False)
    measures = [one if form == one else SQUARES for one, form in pairs]
    legend: dict[str, object] = {
        "format": FORMAT,
        "group": group.name,
        "formulation": "cp-sat" if syntax == "proto" else "ilp",
        "minimised": tiers[tier - 1],
        "measure": measures[-1],
        "relation": RELATION if measures[-1] == SQUARES else None,
        "offset": offset,
        "held": [
            {"tier": one, "measure": measure, "value": value}
            for one, measure, value in zip(tiers, measures, least, strict=False)
        ],
        "variables": {
            name: {
                "member": group.members[m],
                "partitions": [[group.topics[group.topic[p]], int(group.number[p])] for p in some],
            }
            for name, (some, m) in variables.items()
        },
    }
    return Model(syntax, text, legend)


def _written_by(write: Callable[[str], object]) -> bytes:
    """Return the bytes that a function writes to the file that it gets.

    CP-SAT's raises nothing and returns False where the disk is full.
    """
    with writing("a temporary file (TMPDIR says where)"), TemporaryDirectory() as folder:
        file = Path(folder) / "model"
        if write(str(file)) is False:
            raise OSError(errno.ENOSPC, "")
        return file.read_bytes()


# By the names of variables: the partitions that each counts, and the member that gets them.
Variables = dict[str, tuple[list[int], int]]


def _linear(
    group: Group, forms: Sequence[str], least: Sequence[int], syntax: Literal["lp", "mps"]
) -> tuple[str, Variables, int]:
    """Return the program of the last form as text, its variables, and what its cost leaves out."""
    from optimal.ilp import SLACK, require_pulp

    require_pulp()
    from optimal.ilp import LINEAR_TIERS, LinearProgram

    program = LinearProgram.of(group)
    for form, most in zip(forms[:-1], least, strict=True):
        program.problem.addConstraint(LINEAR_TIERS[form](program) <= most + SLACK)
    cost = LINEAR_TIERS[forms[-1]](program)
    offset = int(cost.constant)
    program.problem.setObjective(cost - offset)
    write = program.problem.writeLP if syntax == "lp" else program.problem.writeMPS
    variables = {name.name: ([p], m) for (p, m), name in program.owns.items()}
    return _written_by(write).decode(), variables, offset


def _constraint(
    group: Group, tiers: Objective, forms: Sequence[str], least: Sequence[int]
) -> tuple[str, Variables, int]:
    """Return the same of CP-SAT's program."""
    from optimal.cpsat import ConstraintProgram

    require_costs_within(group, tiers, "cp-sat")
    program = ConstraintProgram.of(group, tiers)
    for form, most in zip(forms[:-1], least, strict=True):
        program.model.add(program.cost(form) <= most)
    program.model.minimize(program.cost(forms[-1]))
    variables: Variables = {}
    of_class: dict[int, list[int]] = {}
    for p, c in enumerate(program.of_partition.tolist()):
        of_class.setdefault(c, []).append(p)
    for (c, m), gets in program.gets.items():
        name = f"p{program.example[c]}_m{m}"
        program.model.proto.variables[gets.index].name = name
        variables[name] = of_class[c], m
    return str(program.model.proto), variables, 0
