"""Anonymise: a snapshot without its names."""

from typing import Annotated

import typer

from assay.commands.options import Out
from assay.streams import as_json, write
from groups.errors import BadInput
from groups.files import read_groups


def anonymise(
    file: Annotated[str, typer.Argument(help="a snapshot, JSON lines or another tool's output")],
    *,
    out: Out = None,
) -> None:
    """Replace the names in a snapshot; the optimum stays the same."""
    from groups.documents.pseudonyms import anonymise_all

    groups = read_groups([file])
    for failure in groups.failures:
        raise BadInput(str(failure))
    write((as_json(d) for d in anonymise_all(groups)), out)
