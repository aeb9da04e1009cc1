"""Child: functions that run in a process of their own, one after the other."""

from __future__ import annotations

import pickle
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple
from weakref import finalize

from groups.errors import in_one_line
from heuristics.child.frames import ANSWER, READY, WIDTH
from heuristics.child.memory import allowed_bytes
from heuristics.child.process import Lost, Process

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

START_SECONDS = 60.0
# Of what this process may hold, unless told otherwise.
SHARE = 2
Answer = TypeVar("Answer")
Arguments = TypeVarTuple("Arguments")


class Child:
    """A process in which functions run one after the other; one that dies is replaced.

    Use it as a context manager and over many calls: starting the process takes some tenths of a
    second, a call after that about a tenth of a millisecond. It starts as a new interpreter and
    without the caller's main module, so it shares nothing with threads, a JVM or a Spark session
    of the parent, and scripts need no guard around their main part. It ends with its parent, even
    where that is killed, and Ctrl-C in a terminal does not reach it.

    Parameters
    ----------
    memory_bytes : the most that the process may hold, with those that it starts; half of what this
        one may hold unless told otherwise. Looked at fifty times a second, on Linux.
    """

    def __init__(self, memory_bytes: int | None = None) -> None:
        self.memory_bytes = allowed_bytes() // SHARE if memory_bytes is None else memory_bytes
        self._process: Process | None = None
        self._lock = Lock()
        self._forgotten: finalize[[], Child]

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Kill the process, a call in another thread with it; the next call starts a new one."""
        with self._lock:
            process = self._process
            self._let_go()
        if process is not None:
            process.end()

    def warm_up(self) -> None:
        """Begin to start the process, without waiting for it."""
        with suppress(OSError):
            self._running()

    def call(
        self, function: Callable[[*Arguments], Answer], *args: *Arguments, seconds: float
    ) -> Answer | Lost:
        """Return what a function, which the process must be able to import, returns.

        After `seconds`, enforced to about a tenth of a second, its death or too much memory:
        Lost. So is what raises, and what cannot be pickled here or imported there. The start of
        the process and importing the function take no part of the time.
        """
        return self.call_each(function, [args], seconds=seconds)[0]

    def call_each(
        self,
        function: Callable[[*Arguments], Answer],
        items: Sequence[tuple[*Arguments]],
        *,
        seconds: float,
    ) -> list[Answer | Lost]:
        """Call a function with each of many arguments, in one go; answers in their order.

        As `call`, with the time for each. Where one of them ends the process, its answer is the
        last: those after it have not been asked.
        """
        try:
            packed = pickle.dumps(function)
        except Exception as error:
            return [_cannot_be_pickled(error)] * len(items)
        try:
            return self._answers(packed, list(map(_packed, items)), seconds)
        except BaseException:
            # Ctrl-C here: what the process is still at would answer the next call.
            self.close()
            raise

    def _answers(
        self, function: bytes, asked: Sequence[bytes | Lost], seconds: float
    ) -> list[Any]:
        process = self._ready(function)
        if isinstance(process, Lost):
            return [process] * len(asked)
        sent = [item for item in asked if not isinstance(item, Lost)]
        process.send([len(sent).to_bytes(WIDTH, "little"), *sent], START_SECONDS)
        answers: list[Any] = []
        for item in asked:
            if isinstance(item, Lost):
                answers.append(item)
                continue
            frame = process.receive(seconds)
            if isinstance(frame, Lost):
                self._replace(process)
                return [*answers, frame]
            answers.append(_unpacked(frame))
        return answers

    def _ready(self, function: bytes) -> Process | Lost:
        """Return the process once it has imported a function, or why it cannot."""
        lost = Lost("the child process did not start")
        # One that died between two calls is found out only here.
        for _ in range(2):
            try:
                process = self._running()
            except OSError as error:
                return Lost(f"the child process did not start: {error.strerror}")
            process.send([function], START_SECONDS)
            frame = process.receive(START_SECONDS)
            if frame == READY:
                return process
            if not isinstance(frame, Lost):
                return Lost(frame[1:].decode())
            self._replace(process)
            if frame.timed_out:
                break
            lost = frame
        return lost

    def _running(self) -> Process:
        with self._lock:
            if self._process is None:
                self._process = Process(self.memory_bytes)
                self._forgotten = finalize(self, self._process.end)
            return self._process

    def _replace(self, process: Process) -> None:
        """End a process and begin to start another: the next call should not have to wait."""
        with self._lock:
            closed = self._process is not process
            if not closed:
                self._let_go()
        process.end()
        if not closed:
            self.warm_up()

    def _let_go(self) -> None:
        if self._process is not None:
            self._forgotten.detach()
        self._process = None


def _packed(args: tuple[object, ...]) -> bytes | Lost:
    try:
        return pickle.dumps(args, pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        return _cannot_be_pickled(error)


def _cannot_be_pickled(error: Exception) -> Lost:
    return Lost(f"it cannot be pickled: {' '.join(str(error).split())}")


def _unpacked(frame: bytes) -> Any:
    if not frame.startswith(ANSWER):
        return Lost(frame[1:].decode())
    try:
        return pickle.loads(memoryview(frame)[1:])
    except Exception as error:
        return Lost(f"its answer cannot be read: {in_one_line(error)}")
