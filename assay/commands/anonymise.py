"""Anonymise: a snapshot without its names."""

from typing import Annotated

import typer

from assay.commands.options import Out
from assay.streams import as_json, write
from groups.documents.json_files import read_documents
from groups.documents.texts import named, read_bytes
from groups.errors import BadInput
from groups.group import Group


def anonymise(
    file: Annotated[str, typer.Argument(help="a snapshot, .json or .jsonl")],
    *,
    out: Out = None,
) -> None:
    """Replace the names in a snapshot; the optimum stays the same."""
    from groups.documents.pseudonyms import anonymise_all

    name = named(file)
    documents = []
    for place, document in read_documents(read_bytes(file), name):
        if isinstance(document, BadInput):
            raise document
        try:
            Group.from_dict(document)
        except BadInput as error:
            raise error.within(place) from None
        documents.append(document)
    write((as_json(d) for d in anonymise_all(documents)), out)
