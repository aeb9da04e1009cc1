"""Session: one connection of a client, frames in and answers out."""

from __future__ import annotations

import asyncio
from collections import deque
from time import perf_counter
from typing import TYPE_CHECKING, cast

from heuristics.shipped.probe import wire

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from heuristics.shipped.probe.coordinator import Coordinator
    from heuristics.shipped.probe.wire import Request

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
