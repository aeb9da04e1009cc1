"""Export: a formulation of a group's optimum, for another solver."""

from __future__ import annotations

from typing import Annotated

import typer

from assay.commands.options import (
    DEFAULT_SECONDS,
    File,
    GroupOptions,
    Objective,
    OneOf,
    TimeLimitOption,
    one_group,
)
from assay.streams import as_json, note, note_assumed, write
from groups.errors import BadInput, writing_whole
from optimal.export import export as exported

BINARY = ".pb"


def export(
    file: File,
    *,
    lp: Annotated[bool, typer.Option("--lp", help="an integer linear program, as LP")] = False,
    mps: Annotated[bool, typer.Option("--mps", help="the same as MPS")] = False,
    proto: Annotated[
        bool, typer.Option("--proto", help="CP-SAT's program, as text; binary in a file .pb")
    ] = False,
    objective: Objective = "kip-54",
    tier: Annotated[
        int,
        typer.Option(min=1, help="the tier to minimise; the earlier ones are held at their best"),
    ] = 1,
    time_limit: TimeLimitOption = DEFAULT_SECONDS,
    out: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--out",
            metavar="FILE",
            help="where to write; the names of variables go to FILE.json",
        ),
    ] = None,
    map_: Annotated[
        str | None,
        typer.Option("--map", metavar="FILE", help="where to write the names of variables"),
    ] = None,
    group: OneOf = None,
    options: GroupOptions,
) -> None:
    """Write a formulation for another solver.

    There is one program for each tier of the objective. A JSON file beside it says what each
    variable is about.
    """
    asked = [name for name, given in (("lp", lp), ("mps", mps), ("proto", proto)) if given]
    if len(asked) != 1:
        raise BadInput("expected one of --lp, --mps and --proto")
    one = one_group([file], group, options)
    model = exported(one, objective, asked[0], tier=tier, time_limit=time_limit)  # type: ignore[arg-type]
    note_assumed(one.assumed)
    to_file = out is not None and out != "-"
    legend = map_ or (f"{out}.json" if to_file else None)
    if out is not None and to_file and out.endswith(BINARY) and model.syntax == "proto":
        with writing_whole(out) as part:
            part.write_bytes(model.binary)
    else:
        write([model.text.rstrip("\n")], out)
    if legend is not None:
        write([as_json(model.legend)], legend)
        note(f"what the names mean: {legend}")
    else:
        note("what the names mean: add -o FILE, which writes FILE.json too, or --map FILE")
