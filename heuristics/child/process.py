"""Process: one that runs functions, as its parent holds it: asked, watched and ended."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from queue import SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING

from heuristics.child.frames import framed, taken
from heuristics.child.memory import used_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Start = Callable[[], subprocess.Popen[bytes]]

LOOK_SECONDS = 0.02
DYING_SECONDS = 0.1
# Linux frees the memory before it hangs up: only a busy machine then takes this long.
HUNG_UP_SECONDS = 10.0
MOST_READ = 1 << 18
MEGABYTE = 1_000_000
PROGRAM = """
import sys
sys.path[:] = {path!r}
from heuristics.child.serve import serve
serve({descriptor}, {parent}, {memory_bytes})
"""


@dataclass(frozen=True)
class Lost:
    """A call that did not come back: why, and whether its time was up."""

    reason: str
    timed_out: bool = False


class Process:
    """A new interpreter, without the main module of this one.

    Its session is its own, so that Ctrl-C in a terminal does not reach it: who decides is its
    parent. It ends with its parent, however that ends.

    Parameters
    ----------
    memory_bytes : the most that it and what it starts may hold
    """

    def __init__(self, memory_bytes: int) -> None:
        self._memory_bytes = memory_bytes
        self._socket, theirs = socket.socketpair()
        self._looking = select.poll()
        self._looking.register(self._socket, select.POLLIN)
        self._received = bytearray()
        self._looked = monotonic()
        self._in_use = Lock()
        with theirs:
            self._process = _started(theirs.fileno(), memory_bytes)

    def send(self, pieces: Iterable[bytes], seconds: float) -> None:
        """Send pieces as frames; where they cannot be sent, `receive` says why."""
        with self._in_use, suppress(OSError):
            self._socket.settimeout(seconds)
            self._socket.sendall(framed(pieces))

    def receive(self, seconds: float) -> bytes | Lost:
        """Return the next frame; after its death, too much memory or so many seconds, why not.

        What came before any of these counts.
        """
        until = monotonic() + seconds
        with self._in_use:
            while (frame := taken(self._received)) is None:
                left = until - monotonic()
                if self._is_readable(min(max(left, 0), LOOK_SECONDS)):
                    if not self._read():
                        return Lost(self._died())
                elif left <= 0:
                    return Lost(f"no answer within {seconds:g} s", timed_out=True)
                elif self._is_greedy():
                    return Lost(f"it used more than {self._memory_bytes // MEGABYTE:,} MB")
        return frame

    def end(self) -> None:
        """Kill it, with whatever it started in its session; a call in another thread is lost."""
        self._kill()
        with self._in_use:
            self._socket.close()

    def _read(self) -> bool:
        """Take what is there to be received; return False where the process hung up."""
        try:
            found = self._socket.recv(MOST_READ)
        except OSError:
            return False
        self._received += found
        return bool(found)

    def _is_readable(self, seconds: float) -> bool:
        return bool(self._looking.poll(1000 * seconds))

    def _is_greedy(self) -> bool:
        now = monotonic()
        if now - self._looked < LOOK_SECONDS:
            return False
        self._looked = now
        return used_bytes(self._process.pid) > self._memory_bytes

    def _died(self) -> str:
        code = self._kill(HUNG_UP_SECONDS)
        return "the child process died" + ("" if code is None else f" (exit code {code})")

    def _kill(self, seconds: float = DYING_SECONDS) -> int | None:
        """Kill it, unless it was seen dead before, and return its exit code if it is known.

        One that is dying already keeps the exit code that it dies with. It gets so many seconds
        to be gone.
        """
        if self._process.returncode is None:
            with suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
            try:
                self._process.wait(seconds)
            except subprocess.TimeoutExpired:
                # One that held much memory takes its time, which is nobody else's.
                Thread(target=self._process.wait, daemon=True).start()
        return self._process.returncode


def _started(descriptor: int, memory_bytes: int) -> subprocess.Popen[bytes]:
    """Start a process that serves at a socket."""
    program = PROGRAM.format(
        path=sys.path, descriptor=descriptor, parent=os.getpid(), memory_bytes=memory_bytes
    )
    return _from_the_lasting_thread(
        lambda: subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.DEVNULL,
            pass_fds=[descriptor],
            start_new_session=True,
        )
    )


def _from_the_lasting_thread(start: Start) -> subprocess.Popen[bytes]:
    """Start a process from a thread that lasts as long as this process.

    Linux kills a child that asked for it when the thread ends that started it.
    """
    made: Future[subprocess.Popen[bytes]] = Future()
    _lasting_thread().put((start, made))
    return made.result()


@cache
def _lasting_thread() -> SimpleQueue[tuple[Start, Future[subprocess.Popen[bytes]]]]:
    """Return what the thread takes starts from.

    That of an executor does not last: it ends with the main thread, before others are waited for.
    """
    asked: SimpleQueue[tuple[Start, Future[subprocess.Popen[bytes]]]] = SimpleQueue()

    def last() -> None:
        while True:
            start, made = asked.get()
            try:
                made.set_result(start())
            except BaseException as error:
                made.set_exception(error)

    Thread(target=last, name="starts children", daemon=True).start()
    return asked


# A fork of this process has none of its threads.
os.register_at_fork(after_in_child=_lasting_thread.cache_clear)
