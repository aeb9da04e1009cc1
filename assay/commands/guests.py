"""Guests: a client that joins the probe, for the commands that take it as an assignor."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from assay.streams import note
from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heuristics.assignor import Assignor


@dataclass(frozen=True, kw_only=True)
class Guests:
    """Whether a command takes a client that joins as an assignor, and where that joins.

    Raises
    ------
    BadInput
        Where there is a port and nobody listens on it.
    """

    probe: Annotated[
        bool, typer.Option("--probe", help="wait for any client to join, and take its assignor")
    ] = False
    port: Annotated[
        int,
        typer.Option(
            "--port", metavar="PORT", min=0, max=65535, help="where --probe listens; 0: a free one"
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
    ) -> Iterator[list[Assignor]]:
        """Wait for a client as an assignor, and say on standard error what to configure.

        There is none if no probe was asked for.

        Parameters
        ----------
        protocol : the assignor's name on the wire; None for the one the client prefers
        seconds : for each plan; None: as many as is usual
        any_topics : whether it has to lead groups whatever their topics are called

        Raises
        ------
        BadInput
            Where no client joins, now or after it went away; where it cannot lead such groups.
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
                yield [joined.assignor]
            except typer.Exit:
                # However a command ends that had no client to its end, it did not do all.
                if joined.gone is None:
                    raise
        if joined.gone is not None:
            raise BadInput(f"{joined.name}: {joined.gone}; the rest was not tried")
