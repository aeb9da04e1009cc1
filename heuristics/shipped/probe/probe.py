"""Probe: a stub coordinator on loopback that reads a real client's plan off the wire."""

from __future__ import annotations

import asyncio
import ipaddress
import threading
from collections import deque
from time import perf_counter
from typing import TYPE_CHECKING, Any

from groups import BadInput, Failed
from heuristics.shipped.probe import wire
from heuristics.shipped.probe.coordinator import Coordinator, Round

if TYPE_CHECKING:
    from collections.abc import Callable

    from groups import Group
    from heuristics.shipped.probe.wire import Request, UserData

# As Kafka's own socket.request.max.bytes.
MOST_BYTES = 104_857_600
MOST_SESSIONS = 64
MOST_RACKS = 64
MOST_LINES = 100


class Late(Failed):
    """No plan within the time there is."""


class Probe:
    """A coordinator to which a client connects, and which puts groups before it.

    Use it as a context manager. It listens on loopback only, in a thread of its own; a client
    that sends what cannot be read loses its connection, and `say` is told in one line.

    Parameters
    ----------
    host : a loopback address
    port : where to listen, 0 for any free one
    say : is told what went wrong with a connection; by default `lines` keeps the last of it

    Raises
    ------
    BadInput
        Where the address is not a loopback address, or cannot be listened on.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        say: Callable[[str], None] | None = None,
    ) -> None:
        try:
            loopback = ipaddress.ip_address(host).is_loopback
        except ValueError:
            loopback = False
        if not loopback:
            raise BadInput(f"probe: {host!r} is not a loopback address, such as 127.0.0.1")
        self.host = host
        self.port = port
        self.lines: deque[str] = deque(maxlen=MOST_LINES)
        self._say = say or self.lines.append
        self._loop = asyncio.new_event_loop()
        self._servers: list[asyncio.Server] = []
        self._ports: list[int] = []
        self._sessions: set[_Session] = set()
        self._coordinator = Coordinator(host, lambda: self._ports)
        self._thread = threading.Thread(target=self._loop.run_forever, name="probe", daemon=True)

    def __enter__(self) -> Probe:
        wire.types()
        self._thread.start()
        try:
            self._call(self._listen(self.port))
        except OSError as error:
            self.close()
            raise BadInput(f"probe: {self.host}:{self.port}: {error.strerror}") from None
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

    @property
    def bootstrap(self) -> str:
        """What the client is told as bootstrap.servers."""
        return f"{self.host}:{self.port}"

    def offer(
        self,
        group: Group,
        protocol: str | None = None,
        *,
        leader: int = 0,
        prefix: str = "",
        cooperative: bool | None = None,
        user_data: UserData | None = None,
    ) -> Round:
        """Put a group before the client that waits, or the next that joins.

        Parameters
        ----------
        protocol : the assignor's name on the wire; None for the one the client prefers
        leader : index of the member that the client stands for
        prefix : put before each topic name on the wire, for clients that keep metadata by name
        cooperative, user_data : as in :func:`~heuristics.shipped.probe.wire.member_metadata`; None
            for what the assignor's name and the client's own subscription suggest

        Raises
        ------
        Failed
            Where the group has no member who could lead it, or too many racks.
        """
        if not group.members:
            raise Failed("a group without members has no leader")
        racks = 0 if group.racks is None else len(group.racks.names)
        if racks > MOST_RACKS:
            raise Failed(f"{racks} racks, more than the {MOST_RACKS} that the probe stands for")
        round_ = Round(group, protocol, leader, prefix, cooperative, user_data)
        self._call(self._offer(round_, racks))
        return round_

    def withdraw(self, round_: Round) -> None:
        """Take a group back that nobody made a plan of."""
        self._loop.call_soon_threadsafe(self._coordinator.withdraw, round_)

    def plan(
        self, group: Group, protocol: str | None = None, *, timeout: float, **how: Any
    ) -> tuple[list[tuple[int, str, int]], float]:
        """Return what the client makes of a group, and the seconds it took.

        The plan is as the client sent it: (member index, topic, partition number) each. The
        seconds run from the JoinGroup response, sent, to the SyncGroup request, received, less
        what the probe itself took to answer requests for metadata in between: decoding the
        members, the assignor, encoding the plan and the way over loopback.

        Parameters
        ----------
        timeout : seconds to wait for the client to join and to plan
        protocol, how : as in :meth:`offer`

        Raises
        ------
        Late
            Where it makes none in time.
        Failed
            Where the client makes no plan.
        """
        round_ = self.offer(group, protocol, **how)
        self.wait(round_, timeout)
        return round_.result()

    def wait(self, round_: Round, timeout: float) -> None:
        """Wait until a round is over.

        Raises
        ------
        Late
            Where it is not within `timeout` seconds; the group is taken back then.
        """
        if round_.over.wait(timeout):
            return
        self.withdraw(round_)
        if round_.chosen:
            raise Late(f"the client sent no plan within {timeout:g} s")
        raise Late(f"no client joined within {timeout:g} s")

    def _call(self, work: Any) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _listen(self, port: int) -> None:
        server = await self._loop.create_server(
            lambda: _Session(self._coordinator, self._sessions, self._say), self.host, port
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


class _Session(asyncio.Protocol):
    """One connection: frames in, answers out."""

    def __init__(
        self, coordinator: Coordinator, sessions: set[_Session], say: Callable[[str], None]
    ) -> None:
        self.received = 0.0
        self._coordinator = coordinator
        self._sessions = sessions
        self._say = say
        self._buffer = bytearray()
        self._transport: Any = None
        self._held_up = False
        self._unsent: deque[Callable[[], None]] = deque()
        self._ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        if len(self._sessions) >= MOST_SESSIONS:
            self._end(f"a connection too many: there are {MOST_SESSIONS}")
            return
        self._sessions.add(self)
        self._transport.set_write_buffer_limits(0)

    def connection_lost(self, _: Exception | None) -> None:
        self._sessions.discard(self)
        if self._buffer and not self._ended:
            self._say(f"a connection ended inside a request, after {len(self._buffer)} bytes")
        self._coordinator.left(self)

    def pause_writing(self) -> None:
        self._held_up = True

    def resume_writing(self) -> None:
        self._held_up = False
        while self._unsent:
            self._unsent.popleft()()

    def data_received(self, data: bytes) -> None:
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
        self, request: Request, *, sent: Callable[[], None] | None = None, **fields: Any
    ) -> None:
        self._transport.write(wire.encode_response(request, **fields))
        if sent is not None and self._held_up:
            self._unsent.append(sent)
        elif sent is not None:
            sent()

    def abort(self) -> None:
        self._ended = True
        self._transport.abort()

    def _end(self, line: str) -> None:
        self._say(f"a connection closed: {line}")
        self._ended = True
        self._transport.close()
