"""Probe: a stub coordinator on loopback that reads a real client's plan off the wire."""

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
    from typing import Unpack

    from groups import Group
    from heuristics.shipped.probe.round import Manner
    from heuristics.shipped.probe.wire import Held, Request


# As Kafka's own socket.request.max.bytes.
MOST_BYTES = 104_857_600
MOST_SESSIONS = 64


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
        """Begin, unless there are too many connections."""
        self._transport = cast("asyncio.Transport", transport)
        if len(self._sessions) >= MOST_SESSIONS:
            self._end(f"a connection too many: there are {MOST_SESSIONS}")
            return
        self._sessions.add(self)
        self._transport.set_write_buffer_limits(0)

    def connection_lost(self, _: Exception | None) -> None:
        """Forget the client."""
        self._sessions.discard(self)
        if self._buffer and not self._ended:
            self._say(f"a connection ended inside a request, after {len(self._buffer)} bytes")
        self._coordinator.left(self)

    def pause_writing(self) -> None:
        """Note that what is written is not on its way yet."""
        self._held_up = True

    def resume_writing(self) -> None:
        """Tell those who wait for it that all that was written is on its way."""
        self._held_up = False
        while self._unsent:
            self._unsent.popleft()()

    def data_received(self, data: bytes) -> None:
        """Answer the requests that are complete."""
        if self._ended:
            return
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
            # What could be read and still makes no sense, such as an array that is null.
            reason = wire.reason(error)
            self._end(f"API {request.key} in version {request.version}: {reason}")

    def reply(
        self,
        request: Request,
        fields: Mapping[str, object],
        sent: Callable[[], None] | None = None,
    ) -> None:
        """Send the answer to a request; `sent` is called when all of it is on its way."""
        self._transport.write(wire.encode_response(request, fields))
        if sent is not None and self._held_up:
            self._unsent.append(sent)
        elif sent is not None:
            sent()

    def abort(self) -> None:
        """Close the connection, whatever is still to be sent."""
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
    """Another client joined than the one that is asked."""


class Probe:
    """A coordinator to which a client connects, and which puts groups before it.

    Use it as a context manager. It listens on loopback only, in a thread of its own; a client
    that sends what cannot be read loses its connection, and `say` is told in one line.

    Parameters
    ----------
    port : where to listen, 0 for any free one
    say : is told what went wrong with a connection; by default `lines` keeps the last of it
    before : number after which the rounds are counted; a client that outlives a probe on one port
        takes topics of the next for those it knows unless it is greater there

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
        if self._loop.is_closed():
            return
        self._call(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def dismiss(self, seconds: float) -> None:
        """Let nobody join any more, and give the clients so much time to leave."""
        self._loop.call_soon_threadsafe(self._coordinator.end)
        until = monotonic() + seconds
        while self._sessions and monotonic() < until:
            sleep(LOOK_SECONDS)

    @property
    def bootstrap(self) -> str:
        """What the client is told as bootstrap.servers."""
        return f"{HOST}:{self.port}"

    def offer(self, group: Group, protocol: str | None = None, **manner: Unpack[Manner]) -> Round:
        """Put a group before the client that waits, or the next that joins.

        Parameters
        ----------
        protocol : the assignor's name on the wire; None for the one the client prefers
        manner : see :class:`~heuristics.shipped.probe.round.Manner`

        Raises
        ------
        Refused
            If the group has no member who could lead it, or too many racks.
        """
        if not group.members:
            raise Refused("a group without members has no leader")
        racks = 0 if group.racks is None else len(group.racks.names)
        if racks > MOST_RACKS:
            raise Refused(f"{racks} racks, more than the {MOST_RACKS} that the probe stands for")
        round_ = Round(group, protocol, **manner)
        self._call(self._offer(round_, racks))
        return round_

    def withdraw(self, round_: Round) -> None:
        """Take a group back that nobody made a plan of."""
        self._loop.call_soon_threadsafe(self._coordinator.withdraw, round_)

    def plan(
        self,
        group: Group,
        protocol: str | None = None,
        *,
        timeout: float,
        **manner: Unpack[Manner],
    ) -> tuple[list[Held], float]:
        """Return what the client makes of a group, and the seconds it took.

        The plan is as the client sent it: (member index, topic, partition number) each.

        Parameters
        ----------
        timeout : seconds for the client to join, and as many for the plan
        protocol, manner : as in :meth:`offer`

        Raises
        ------
        Late, Absent
            If the time is up; the group is taken back then.
        Failed
            If the client makes no plan; Refused where the probe cannot ask for one or read it.
        """
        round_ = self.offer(group, protocol, **manner)
        self.wait(round_, timeout)
        return round_.result()

    def wait(
        self, round_: Round, timeout: float, *, join: float | None = None, spent: float = 0.0
    ) -> None:
        """Wait until a round is over.

        Parameters
        ----------
        timeout, spent : seconds for the plan, as of :meth:`Round.late`
        join : seconds for a client to join, also to be asked again; None: as many

        Raises
        ------
        Late, Absent
            If the time is up; the group is taken back then.
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
        # A client tells brokers apart by address as well: each rack's has one of its own.
        while len(self._ports) <= racks:
            await self._listen(0)
        self._coordinator.offer(round_)

    async def _stop(self) -> None:
        for server in self._servers:
            server.close()
        for session in list(self._sessions):
            session.abort()
        # A turn of the loop, in which the connections close.
        await asyncio.sleep(0)
