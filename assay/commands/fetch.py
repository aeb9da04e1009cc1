"""Fetch: the clients whose assignors are scored."""

from typing import Annotated

import typer

from assay.progress import report_progress
from assay.streams import complain, show
from assay.terminal import by_reason
from groups.errors import BadInput


def fetch(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CLIENT[@VERSION]",
            help="as in kafka-java@4.4.0; left out: all that assay assignors lists",
        ),
    ] = None,
) -> None:
    """Fetch the clients whose assignors are scored.

    The exit code is 2 if one of them cannot be fetched; the others are there then.
    """
    from heuristics.shipped import FETCHED, client_and_version

    asked = names or [f"{name}@{v}" for name, c in FETCHED.items() for v in c.versions()]
    without: list[tuple[str, str | None]] = []
    for client, version in [client_and_version(name) for name in asked]:
        name = f"{client.name}@{version}"
        report_progress(name)
        try:
            client.fetch(version)
        except BadInput as error:
            without.append((name, _shared(str(error))))
            continue
        reasons = {client.missing(assignor, version) for assignor in client.assignors}
        without += ((name, reason) for reason in sorted(reasons - {None}, key=str))
        if reasons == {None}:
            show(f"{name}: ready")
    for line in by_reason(without):
        complain(line)
    raise typer.Exit(2 if without else 0)


def _shared(reason: str) -> str:
    """Return a reason without its URL, so that the same reason of several clients is one line."""
    _, fetched, why = reason.partition(": cannot be fetched: ")
    return f"cannot be fetched: {why.partition(' with url')[0]}" if fetched else reason
