"""HeldBack: requests that are answered later, when something has happened or some time is over."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from heuristics.shipped.probe.wire import Request


class HeldBack:
    """Requests that wait for their answers, in the order in which they came.

    Parameters
    ----------
    seconds : the longest that one waits
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._held: list[tuple[object, Request, Callable[[], None]]] = []

    def add(self, peer: object, request: Request, answer: Callable[[], None]) -> None:
        """Hold a request of a connection back; `answer` answers it."""
        self._held.append((peer, request, answer))
        asyncio.get_running_loop().call_later(self._seconds, partial(self.let_go, one=request))

    def forget(self, peer: object) -> None:
        """Leave the requests of a connection that has closed without an answer."""
        self._held = [held for held in self._held if held[0] is not peer]

    def let_go(
        self, *, of: object | None = None, one: Request | None = None, key: int | None = None
    ) -> None:
        """Answer those of one connection, one request, those of one API, or all."""
        held, self._held = self._held, []
        for peer, request, answer in held:
            if of in (None, peer) and one in (None, request) and key in (None, request.key):
                answer()
            else:
                self._held.append((peer, request, answer))
