"""Guest: a client that joined a probe, as an assignor that is asked about group after group.

Through an open door other processes of this machine ask it, one after the other.
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

    The name is what it calls itself and its assignor, as in ``rdkafka/range``. Its assignor's name
    says whether it is cooperative. If so, its rounds go on until nobody must revoke.

    Parameters
    ----------
    protocol : the assignor's name on the wire; None for the one the client prefers
    timeout : seconds for the plan, over all its rounds
    join : seconds for each time that it joins, as of :meth:`~heuristics.shipped.probe.Probe.wait`
    only : which client is asked; None: any

    Raises
    ------
    Absent
        If no client joins; Another where it is another one than the one that is asked.
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
# Of two things that may happen to it, one has happened twice by then.
MOST_TIMES = 3
# How long clients may take to go when all is done: some wait two seconds before they join again.
LEAVE_SECONDS = 5.0


class Guest:
    """A client that joined a probe.

    What it does once may be the doing of whoever runs it: a client that goes away or is late is
    waited for, and asked about the same group again, up to three times. Only what it does twice
    counts.

    Parameters
    ----------
    protocol : the assignor's name on the wire; None for the one the client prefers
    seconds : for each plan
    wait : seconds to wait for a client to join, each time that there is none
    say : takes lines for people

    Attributes
    ----------
    name : what it calls itself and its assignor
    seconds, wait : as above
    gone : why it is not asked any more; None while it is
    reads : topics of its own choice that it reads, "" where it leads a group whatever its topics
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
        """The client as an assignor, for whatever takes one."""
        return Assignor(
            self.name, "probed", "a client that joined the probe", None, self.plan, self.missing
        )

    def missing(self) -> str | None:
        """Return why it cannot be asked any more; None while it can."""
        return self.gone

    def plan(self, group: Group) -> Plan:
        """Return what the client makes of a group; one group after the other, whoever asks.

        Raises
        ------
        Refused
            If the probe cannot put the group before the client, or not understand it.
        Failed
            If the client makes no plan; TimedOut where it does not come back in time.
        Unavailable
            If there is no client any more, or it does not join again.
        """
        if not group.members:
            raise Refused("a group without members has no leader")
        with self._lock:
            if self.gone is not None:
                raise Unavailable(self.gone)
            return self._led_until_sure(group)

    def _led_until_sure(self, group: Group) -> Plan:
        seen: set[type[Failed]] = set()
        while True:
            try:
                return self._led(group)
            except (Disconnected, Late) as failure:
                if type(failure) in seen:
                    failure.args = (f"{failure}, twice",)
                    raise
                seen.add(type(failure))
                again = "waiting for a client to ask again"
                self._say(f"{self.name}: {group.name}: {failure}; {again}")

    def _led(self, group: Group) -> Plan:
        """Return one attempt at a plan; note where no client joins."""
        times = {"timeout": self.seconds, "join": self.wait}
        try:
            _, made = lead(self._probe, group, self._protocol, only=self._software, **times)
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
    """Wait for any client to join a probe, and hand it over as an assignor.

    Parameters
    ----------
    protocol : the assignor's name on the wire; None for the one the client prefers
    port : where to listen on loopback, 0 for any free one
    seconds : for each plan
    wait : seconds to wait for a client, now and each time that it is gone
    say : takes lines for people; the first ones say what to configure

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
    """Open a probe, say what to configure, and let its clients go in the end, whatever it is.

    Parameters
    ----------
    port : where to listen on loopback, 0 for any free one
    say : takes lines for people

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
