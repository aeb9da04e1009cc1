"""Probe: a stub coordinator on loopback that reads the plan that a real client sends."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from time import monotonic, perf_counter, sleep
from typing import TYPE_CHECKING, cast

from groups import BadInput, Refused
from heuristics.shipped.probe import wire
from heuristics.shipped.probe.coordinator import Coordinator
from heuristics.shipped.probe.metadata import HOST
from heuristics.shipped.probe.round import Absent, Round

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from groups import Group
    from heuristics.shipped.probe.wire import Held, Request


# The default of Kafka's socket.request.max.bytes.
MOST_BYTES = 104_857_600


class Session(asyncio.Protocol):
    """One connection: frames in, answers out."""

    _transport: asyncio.Transport

    def __init__(
        self, coordinator: Coordinator, sessions: set[Session], say: Callable[[str], object]
    ) -> None:
        self.received = 0.0
        self._coordinator = coordinator
        self._sessions = sessions
        self._say = say
        self._buffer = bytearray()
        self._held_up = False
        self._unsent: deque[Callable[[], None]] = deque()
        self._ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept the connection."""
        self._transport = cast("asyncio.Transport", transport)
        self._sessions.add(self)
        self._transport.set_write_buffer_limits(0)

    def connection_lost(self, _: Exception | None) -> None:
        """Forget the client."""
        self._sessions.discard(self)
        if self._buffer and not self._ended:
            self._say(f"a connection ended inside a request, after {len(self._buffer)} bytes")
        self._coordinator.left(self)

    def pause_writing(self) -> None:
        """Record that written bytes are still buffered."""
        self._held_up = True

    def resume_writing(self) -> None:
        """Call those who wait for written bytes to be sent."""
        self._held_up = False
        while self._unsent:
            self._unsent.popleft()()

    def data_received(self, data: bytes) -> None:
        """Answer the requests that are complete."""
        self._buffer += data
        while not self._ended and len(self._buffer) >= 4:
            length = int.from_bytes(self._buffer[:4], "big", signed=True)
            if not 0 < length <= MOST_BYTES:
                self._end(f"a request of {length} bytes, expected 1 to {MOST_BYTES}")
                return
            if len(self._buffer) < 4 + length:
                return
            frame = bytes(memoryview(self._buffer)[4 : 4 + length])
            del self._buffer[: 4 + length]
            self.received = perf_counter()
            self._answer(frame)

    def _answer(self, frame: bytes) -> None:
        try:
            request = wire.decode_request(frame)
        except wire.Malformed as error:
            self._end(str(error))
            return
        try:
            self._coordinator.answer(self, request)
        except Exception as error:
            # The request could be decoded but makes no sense, such as a null array.
            reason = wire.reason(error)
            self._end(f"API {request.key} in version {request.version}: {reason}")

    def reply(
        self,
        request: Request,
        fields: Mapping[str, object],
        sent: Callable[[], None] | None = None,
    ) -> None:
        """Send the answer to a request; `sent` is called when all of it has been written."""
        self._transport.write(wire.encode_response(request, fields))
        if sent is not None and self._held_up:
            self._unsent.append(sent)
        elif sent is not None:
            sent()

    def abort(self) -> None:
        """Close the connection at once, without sending what is buffered."""
        self._ended = True
        self._transport.abort()

    def _end(self, line: str) -> None:
        self._say(f"a connection closed: {line}")
        self._ended = True
        self._coordinator.left(self, line)
        self._transport.close()


MOST_RACKS = 64
MOST_LINES = 100
LOOK_SECONDS = 0.02


class Another(Absent):
    """A client other than the expected one joined."""


class Probe:
    """A stub coordinator that makes a connecting client the leader of groups.

    Use it as a context manager. It listens on loopback only, in a thread of its own. A client that
    sends what cannot be read is disconnected, and `say` gets one line about it.

    Parameters
    ----------
    port : where to listen; 0: any free one
    say : gets a line about each problem of a connection; by default `lines` keeps the last ones
    before : rounds are numbered from the number after this one. If a client may stay connected to
        a later probe on the same port, that needs a greater number: topics are named after rounds

    Raises
    ------
    BadInput
        If the port cannot be listened on.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        say: Callable[[str], object] | None = None,
        before: int = 0,
    ) -> None:
        self.port = port
        self.lines: deque[str] = deque(maxlen=MOST_LINES)
        self._say = say or self.lines.append
        self._loop = asyncio.new_event_loop()
        self._servers: list[asyncio.Server] = []
        self._ports: list[int] = []
        self._sessions: set[Session] = set()
        self._coordinator = Coordinator(lambda: self._ports, before)
        self._thread = threading.Thread(target=self._loop.run_forever, name="probe", daemon=True)

    def __enter__(self) -> Probe:
        wire.types()
        self._thread.start()
        try:
            self._call(self._listen(self.port))
        except OSError as error:
            self.close()
            raise BadInput(f"probe: {self.bootstrap}: {error.strerror}") from None
        self.port = self._ports[0]
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection and stop listening."""
        self._call(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def dismiss(self, seconds: float) -> None:
        """Refuse all joins from now on, and wait up to so many seconds for clients to leave."""
        self._loop.call_soon_threadsafe(self._coordinator.end)
        until = monotonic() + seconds
        while self._sessions and monotonic() < until:
            sleep(LOOK_SECONDS)

    @property
    def bootstrap(self) -> str:
        """The client's bootstrap.servers."""
        return f"{HOST}:{self.port}"

    def offer(
        self, group: Group, protocol: str | None = None, *, awaits_metadata: bool = False
    ) -> Round:
        """Make the client that waits, or the next that joins, the leader of a group.

        Parameters
        ----------
        protocol : the assignor's name on the wire; None: the one that the client prefers
        awaits_metadata : whether the client is known to wait for metadata before it assigns

        Raises
        ------
        Refused
            If the group has no members, or too many racks.
        """
        if not group.members:
            raise Refused("a group without members has no leader")
        racks = 0 if group.racks is None else len(group.racks.names)
        if racks > MOST_RACKS:
            raise Refused(f"{racks} racks, more than the {MOST_RACKS} that the probe stands for")
        round_ = Round(group, protocol, awaits_metadata=awaits_metadata)
        self._call(self._offer(round_, racks))
        return round_

    def withdraw(self, round_: Round) -> None:
        """Give up a round that has no plan yet."""
        self._loop.call_soon_threadsafe(self._coordinator.withdraw, round_)

    def plan(
        self, group: Group, protocol: str | None = None, *, timeout: float
    ) -> tuple[list[Held], float]:
        """Return the client's plan of a group, and the seconds it took.

        The plan is as the client sent it: (member index, topic, partition number).

        Parameters
        ----------
        timeout : seconds for the client to join, and again for the plan
        protocol : as in :meth:`offer`

        Raises
        ------
        Late, Absent
            If the time is up; the round is given up then.
        Failed
            If the client makes no plan. Refused if the probe cannot ask for one or read it.
        """
        round_ = self.offer(group, protocol)
        self.wait(round_, timeout)
        return round_.result()

    def wait(
        self, round_: Round, timeout: float, *, join: float | None = None, spent: float = 0.0
    ) -> None:
        """Wait until a round is over.

        Parameters
        ----------
        timeout, spent : seconds for the plan, as in :meth:`Round.late`
        join : seconds for a client to join, also to join again; None: `timeout`

        Raises
        ------
        Late, Absent
            If the time is up; the round is given up then.
        """
        while not round_.over.wait(LOOK_SECONDS):
            late = round_.late(timeout, timeout if join is None else join, spent=spent)
            if late is not None:
                self.withdraw(round_)
                raise late

    def _call(self, work: Coroutine[None, None, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _listen(self, port: int) -> None:
        server = await self._loop.create_server(
            lambda: Session(self._coordinator, self._sessions, self._say), HOST, port
        )
        self._servers.append(server)
        self._ports.append(server.sockets[0].getsockname()[1])

    async def _offer(self, round_: Round, racks: int) -> None:
        # Clients also tell brokers apart by address, so each rack's broker has a port of its own.
        while len(self._ports) <= racks:
            await self._listen(0)
        self._coordinator.offer(round_)

    async def _stop(self) -> None:
        for server in self._servers:
            server.close()
        for session in list(self._sessions):
            session.abort()
        # The connections close in the next turn of the loop.
        await asyncio.sleep(0)
