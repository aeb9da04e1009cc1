"""Captures: live groups as ``assay-group/1`` and ``assay-streams/1`` documents."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from groups.errors import BadInput
from live.capture.captures import Captured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from live.connection import Connection

__all__ = ["Captured", "capture"]

PATIENCE_SECONDS = 5.0


def capture(
    connection: Connection,
    patterns: Sequence[str] = ("*",),
    *,
    lag: bool = True,
    patience_seconds: float = PATIENCE_SECONDS,
) -> Captured:
    """Capture the groups of a cluster whose names match: members, what they read and hold, lag.

    Nothing but questions is sent: no member joins, nothing is committed, no topic is made.

    A group that is not to be had (it is rebalancing, has no members, is not there, may not be
    described, is a share or Connect group) is one Failure, and the others are captured.

    Parameters
    ----------
    patterns : names, or patterns as a shell has them (``*``, ``?``, ``[ab]``); a group is
        captured once however many match it. A name that no group has is a Failure, and so is a
        pattern that matches none
    lag : whether offsets are read: where each log begins and ends, and what is committed
    patience_seconds : how long a group that is rebalancing, that changes while it is read or
        whose coordinator is not ready is asked again

    Raises
    ------
    BadInput
        Where no broker answers, or the extra ``clients`` is missing.

    Examples
    --------
    >>> from live.connection import Connection
    >>> found = capture(Connection("localhost:9092"), ["orders-*"])  # doctest: +SKIP
    >>> groups = [one.group() for one in found.documents]  # doctest: +SKIP
    """
    from live.connection.kafka_client import load_kafka_python

    load_kafka_python("live.capture.messages")
    from live.capture.cluster import Cluster, Unanswered
    from live.capture.rounds import capture_matching

    deadline = time.monotonic() + patience_seconds
    with connection.admin() as admin:
        try:
            return capture_matching(
                Cluster(admin), connection.bootstrap, patterns, lag=lag, deadline=deadline
            )
        except Unanswered as found:
            # The connection looks for the reason of what the client raised.
            raise (found.error or BadInput(f"{connection.bootstrap}: {found}")) from None
