"""Captures: live groups as ``assay-group/1`` documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from groups.importers import Failure, Imported

__all__ = ["Captured", "Connection", "capture"]

PATIENCE_SECONDS = 5.0


class Connection(Protocol):
    """How a cluster is reached."""

    @property
    def bootstrap(self) -> str:
        """The addresses to ask first: host and port, with commas between them."""

    @property
    def settings(self) -> Mapping[str, object]:
        """Every other setting, by the names of kafka-python."""


@dataclass(frozen=True)
class Captured:
    """What one capture had: groups that became documents, and why others did not.

    Both ascend by the name of the group. The source of each is the address of the cluster.
    """

    documents: tuple[Imported, ...] = ()
    failures: tuple[Failure, ...] = ()


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
    described, is a share, Streams or Connect group) is one Failure, and the others are captured.

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
    """
    raise BadInput(f"{connection.bootstrap}: capturing comes with the next change")
