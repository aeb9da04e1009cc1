"""Guest: a client that joined a probe, as an assignor that can be called for many groups.

Other processes of this machine call it through a `Door`, one at a time.
"""

from __future__ import annotations

import secrets
import socket
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Listener
from threading import Lock, Thread
from time import time
from typing import TYPE_CHECKING

from groups import Assignment, BadInput, Failed, Refused
from heuristics.assignor import (
    Assignor,
    Plan,
    TimedOut,
    Unavailable,
    answer,
    nothing_missing,
    outcome_of,
    packed,
)
from heuristics.protocol import to_quiescence
from heuristics.shipped.client import tiny
from heuristics.shipped.probe.coordinator import Disconnected
from heuristics.shipped.probe.metadata import HOST
from heuristics.shipped.probe.names import OWN_TOPIC
from heuristics.shipped.probe.probe import Another, Probe
from heuristics.shipped.probe.round import Absent, Late, OwnTopicsOnly
from heuristics.shipped.probe.wire import Software

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from groups import Group
    from heuristics.own import AssignorFunction
    from heuristics.shipped.probe.round import Round


def lead(
    probe: Probe,
    group: Group,
    protocol: str | None,
    *,
    timeout: float,
    join: float | None = None,
    only: Software | None = None,
) -> tuple[str, Plan | Failed | Refused | Absent]:
    """Return the name of the client that joins next, and its plan or why it has none.

    The name is its client id and its assignor, as in ``rdkafka/range``. An assignor with
    ``cooperative`` in its name is asked again until nobody must revoke.

    Parameters
    ----------
    protocol : the assignor's name on the wire; None: the one that the client prefers
    timeout : seconds for the plan, over all its rounds
    join : seconds for each time that it joins, as in :meth:`~heuristics.shipped.probe.Probe.wait`
    only : the only client that may answer; None: any

    Raises
    ------
    Absent
        If no client joins. `Another` if a client other than `only` joins.
    """
    try:
        first = probe.offer(group, protocol)
    except Refused as refusal:
        return f"client/{protocol or ''}", refusal
    spent = 0.0
    try:
        try:
            probe.wait(first, timeout, join=join)
        finally:
            came = first.software
            if only is not None and came != Software() and came.is_other_than(only):
                raise Another(f"another client joined in its place: {_label(first)}")
        first.result()
    except (Failed, Refused) as failure:
        return _label(first), failure

    def over(current: Group) -> Plan:
        nonlocal spent
        if current is group:
            held, seconds = first.result()
        else:
            round_ = probe.offer(current, first.chosen)
            probe.wait(round_, timeout, join=join, spent=spent)
            if round_.software.is_other_than(first.software):
                raise Refused("another client joined between its rounds")
            held, seconds = round_.result()
        spent += seconds
        return Plan(Assignment.from_holdings(current, held), seconds=seconds)

    try:
        plan = (
            to_quiescence(group, over, withhold=False) if first.is_cooperative() else over(group)
        )
    except (Failed, Refused, Absent) as failure:
        return _label(first), failure
    return _label(first), plan


def _label(round_: Round) -> str:
    return f"{round_.client_id or 'client'}/{round_.chosen or round_.protocol}"


GROUP_ID = "assay-probe"
PLAN_SECONDS = 10.0
WAIT_SECONDS = 60.0
# Attempts after which one of two kinds of failure has happened twice.
MOST_TIMES = 3
# How long clients may take to leave at the end: some wait two seconds before they join again.
LEAVE_SECONDS = 5.0


class Guest:
    """A client that joined a probe.

    If the client disconnects or is late, that may be the doing of whoever runs it. So it is waited
    for and asked about the same group again; only the second time of either counts.

    Parameters
    ----------
    protocol : the assignor's name on the wire; None: the one that the client prefers
    seconds : time for each plan
    wait : seconds to wait for a client to join, each time that there is none
    say : prints a line for people

    Attributes
    ----------
    name : its client id and its assignor
    seconds, wait : as above
    gone : why it can no longer be asked; None while it can
    reads : topics of its own choice that it reads; "" if it can lead groups with any topics
    """

    def __init__(
        self,
        probe: Probe,
        protocol: str | None,
        *,
        seconds: float = PLAN_SECONDS,
        wait: float = WAIT_SECONDS,
        say: Callable[[str], object],
    ) -> None:
        self.gone: str | None = None
        self._probe = probe
        self.seconds = seconds
        self.wait = wait
        self._say = say
        self._lock = Lock()
        round_ = probe.offer(tiny(), protocol)
        try:
            probe.wait(round_, seconds, join=wait)
        except (Late, Absent) as late:
            if not round_.chosen:
                raise BadInput(f"probe: {late}") from None
        if not round_.chosen:
            raise BadInput(f"probe: {round_.error}")
        self._protocol = round_.chosen
        self.name = f"{round_.client_id or 'client'}/{round_.chosen}"
        if isinstance(round_.error, OwnTopicsOnly):
            raise BadInput(f"{self.name}: {round_.error}")
        self.reads = round_.reads
        self._software = round_.software

    @property
    def assignor(self) -> Assignor:
        """The client as an assignor."""
        return Assignor(
            self.name, "probed", "a client that joined the probe", None, self.plan, self.missing
        )

    def missing(self) -> str | None:
        """Return why it can no longer be asked; None while it can."""
        return self.gone

    def plan(self, group: Group) -> Plan:
        """Return the client's plan of a group; calls from several threads wait for each other.

        Raises
        ------
        Refused
            If the probe cannot offer the group to the client, or cannot read its answer.
        Failed
            If the client makes no plan. TimedOut if its plan is late.
        Unavailable
            If the client is gone, or does not join again.
        """
        with self._lock:
            if self.gone is not None:
                raise Unavailable(self.gone)
            return self._plan_with_retry(group)

    def _plan_with_retry(self, group: Group) -> Plan:
        """Return a plan; a failure of one kind counts when it happens a second time."""
        seen: set[type[Failed]] = set()
        while True:
            try:
                return self._plan_once(group)
            except (Disconnected, Late) as failure:
                if type(failure) in seen:
                    failure.args = (f"{failure}, twice",)
                    raise
                seen.add(type(failure))
                again = "waiting for a client to ask again"
                self._say(f"{self.name}: {group.name}: {failure}; {again}")

    def _plan_once(self, group: Group) -> Plan:
        """Ask the client once; if none joins, remember that the client is gone."""
        limits = {"timeout": self.seconds, "join": self.wait}
        try:
            _, made = lead(self._probe, group, self._protocol, only=self._software, **limits)
            if isinstance(made, (Failed, Refused, Absent)):
                raise made
        except Absent as absence:
            self.gone = str(absence)
            raise
        return made


@contextmanager
def probed(
    protocol: str | None = None,
    *,
    port: int = 0,
    seconds: float = PLAN_SECONDS,
    wait: float = WAIT_SECONDS,
    say: Callable[[str], object] = print,
) -> Iterator[Guest]:
    """Wait for any client to join a probe, and yield it as an assignor.

    Parameters
    ----------
    protocol : the assignor's name on the wire; None: the one that the client prefers
    port : where to listen on loopback; 0: any free one
    seconds : time for each plan
    wait : seconds to wait for a client, now and each time that it has left
    say : prints a line for people; the first lines say how to configure the client

    Raises
    ------
    BadInput
        If the port is taken, no client joins, or it does not list the assignor.

    Examples
    --------
    A consumer is started meanwhile, with ``bootstrap.servers=127.0.0.1:19092``::

        with probed(port=19092) as guest:
            found = hunt(guest.assignor, "balanced")
    """
    with open_probe(port=port, say=say) as probe:
        guest = Guest(probe, protocol, seconds=seconds, wait=wait, say=say)
        say(f"{guest.name} has joined")
        yield guest


@contextmanager
def open_probe(*, port: int = 0, say: Callable[[str], object]) -> Iterator[Probe]:
    """Open a probe and print how to configure a client; at the end, let its clients leave.

    Parameters
    ----------
    port : where to listen on loopback; 0: any free one
    say : prints a line for people

    Raises
    ------
    BadInput
        If the port is taken.
    """
    with Probe(port=port, say=say, before=int(time() * 1000)) as probe:
        say(f"bootstrap.servers={probe.bootstrap}")
        say(f"group.id={GROUP_ID}")
        say(f"subscribe to {OWN_TOPIC}; waiting for a client")
        try:
            yield probe
        finally:
            probe.dismiss(LEAVE_SECONDS)


GONE = (OSError, EOFError, AuthenticationError)
_RAISED = {"refused": Refused, "timed-out": TimedOut, "unavailable": Unavailable}


@dataclass(frozen=True)
class Door:
    """The address at which a guest can be asked from another process; it can be pickled.

    Attributes
    ----------
    port : on loopback
    key : key with which a connection authenticates
    """

    port: int
    key: bytes

    def plan(self, group: Group) -> Plan:
        """Return the guest's plan of a group.

        Raises
        ------
        Refused, Failed, TimedOut, Unavailable
            As the guest raises them; Unavailable also if nobody answers.
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
    """Serves a guest to other processes through a `Door`, as long as the context lasts.

    Parameters
    ----------
    guest : the assignor that is called, in this process
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
        """The guest as an assignor that any process of this machine can call."""
        return replace(self._guest, function=self.door.plan, missing=nothing_missing)

    def __enter__(self) -> OpenDoor:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True
        # A connection wakes the thread that waits in accept(). It waits for no answer, as the
        # thread may have ended already.
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
    """Yield the same assignors, with guests that any process of this machine can call."""
    with ExitStack() as opened:
        yield assignors and [
            opened.enter_context(OpenDoor(one)).assignor
            if isinstance(one, Assignor) and one.kind == "probed"
            else one
            for one in assignors
        ]
