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

    Only reads are sent: no member joins, nothing is committed, no topic is created.

    A group that cannot be captured (it is rebalancing, does not exist, may not be described, or is
    a share or Connect group) is one Failure, and the others are captured.

    Parameters
    ----------
    patterns : names, or patterns as in a shell (``*``, ``?``, ``[ab]``); a group is captured once
        even if several match it. A name or pattern without a group is a Failure
    lag : whether to read offsets: beginning and end of each log, and commits
    patience_seconds : how long to ask again for a group that is rebalancing, that changes while it
        is read, or whose coordinator is not ready

    Raises
    ------
    BadInput
        If no broker answers, or the extra ``clients`` is missing.

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
            # `connection.admin` turns the client's error into one that says what to do.
            raise (found.error or BadInput(f"{connection.bootstrap}: {found}")) from None
