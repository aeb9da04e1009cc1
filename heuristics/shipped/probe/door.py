"""Door: a guest that other processes of this machine ask, one after the other."""

from __future__ import annotations

import secrets
import socket
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Listener
from threading import Thread
from typing import TYPE_CHECKING

from groups import Failed, Refused
from heuristics.assignor import (
    Assignor,
    TimedOut,
    Unavailable,
    answer,
    nothing_missing,
    outcome_of,
    packed,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from groups import Group
    from heuristics.assignor import Plan
    from heuristics.own import AssignorFunction

HOST = "127.0.0.1"
GONE = (OSError, EOFError, AuthenticationError)
_RAISED = {"refused": Refused, "timed-out": TimedOut, "unavailable": Unavailable}


@dataclass(frozen=True)
class Door:
    """Where a guest can be asked from another process; it can be pickled.

    Attributes
    ----------
    port, key : where, and what opens it
    """

    port: int
    key: bytes

    def plan(self, group: Group) -> Plan:
        """Return what the guest makes of a group.

        Raises
        ------
        Refused, Failed, TimedOut, Unavailable
            As the guest does; Unavailable also where nobody answers.
        """
        try:
            with Client((HOST, self.port), authkey=self.key) as connection:
                connection.send_bytes(packed(group))
                outcome = outcome_of(group, connection.recv())
        except GONE:
            raise Unavailable("the probe is not there, or not on this machine") from None
        if outcome.plan is None:
            raise _RAISED.get(outcome.status, Failed)(outcome.reason or outcome.status)
        return replace(outcome.plan, seconds=outcome.seconds)


class OpenDoor:
    """Answers those who come to a door, as long as the context lasts.

    Parameters
    ----------
    guest : the assignor that is asked, in this process
    """

    def __init__(self, guest: Assignor) -> None:
        key = secrets.token_bytes(32)
        self._guest = guest
        self._listener = Listener((HOST, 0), authkey=key)
        self._ended = False
        self._thread = Thread(target=self._answer, name="door", daemon=True)
        self.door = Door(int(self._listener.address[1]), key)

    @property
    def assignor(self) -> Assignor:
        """The guest as an assignor that any process of this machine can ask."""
        return replace(self._guest, function=self.door.plan, missing=nothing_missing)

    def __enter__(self) -> OpenDoor:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True
        # Whoever waits for somebody to come is woken by somebody who does, and who waits for no
        # answer: nobody may listen any more.
        with suppress(OSError):
            socket.create_connection((HOST, self.door.port)).close()
        self._listener.close()

    def _answer(self) -> None:
        while not self._ended:
            try:
                with self._listener.accept() as connection:
                    connection.send(answer(self._guest.function, connection.recv_bytes()))
            except GONE:
                continue


@contextmanager
def within_reach(
    assignors: Sequence[str | AssignorFunction] | None,
) -> Iterator[Sequence[str | AssignorFunction] | None]:
    """Return assignors of which guests can be asked from any process of this machine."""
    with ExitStack() as opened:
        yield assignors and [
            opened.enter_context(OpenDoor(one)).assignor
            if isinstance(one, Assignor) and one.kind == "probed"
            else one
            for one in assignors
        ]
