"""Guests: clients that join the probe, for the commands that take them as assignors."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from assay.streams import note
from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heuristics.shipped.probe.guest import Guest


@dataclass(frozen=True, kw_only=True)
class Guests:
    """Options of a command that takes a joining client as an assignor.

    Raises
    ------
    BadInput
        If a port is given without a probe that listens on it.
    """

    probe: Annotated[
        bool, typer.Option("--probe", help="wait for any client to join, and take its assignor")
    ] = False
    port: Annotated[
        int,
        typer.Option(
            metavar="PORT", min=0, max=65535, help="where --probe listens; 0: a free one"
        ),
    ] = 0

    def __post_init__(self) -> None:
        """Refuse a port without a probe."""
        if self.port and not self.probe:
            raise BadInput("--port: only with --probe")

    @contextmanager
    def joined(
        self,
        protocol: str | None = None,
        *,
        seconds: float | None,
        any_topics: bool = False,
    ) -> Iterator[list[Guest]]:
        """Wait for a client to join, and print on standard error how to configure it.

        Yields the client, or none if no probe was asked for.

        Parameters
        ----------
        protocol : the assignor's name on the wire; None: the one that the client prefers
        seconds : for each plan; None: the probe's default
        any_topics : whether it has to lead groups with topics of any names

        Raises
        ------
        BadInput
            If no client joins, or it goes away and does not join again; if `any_topics` and it
            reads topics of its own.
        """
        if not self.probe:
            yield []
            return
        from groups.extras import require

        require("kafka", extra="clients")
        from heuristics.shipped.probe import probed
        from heuristics.shipped.probe.guest import PLAN_SECONDS
        from heuristics.shipped.probe.names import OWN_TOPIC, SPARE_TOPICS

        with probed(protocol, port=self.port, seconds=seconds or PLAN_SECONDS, say=note) as joined:
            if any_topics and joined.reads:
                raise BadInput(
                    f"{joined.name}: it reads {joined.reads}, which is not asked about: let it "
                    f"read {OWN_TOPIC}, or {SPARE_TOPICS[0]} to {SPARE_TOPICS[-1]}"
                )
            try:
                yield [joined]
            except typer.Exit:
                # If the client went away, the command did not finish, whatever its exit code.
                if joined.gone is None:
                    raise
        if joined.gone is not None:
            raise BadInput(f"{joined.name}: {joined.gone}; the rest was not tried")
