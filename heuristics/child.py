"""Child: functions in a process of their own, whose hang or death is an answer."""

from __future__ import annotations

import os
import pickle
import sys
from concurrent.futures import TimeoutError as TimeUp
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import parent_process
from multiprocessing.connection import wait
from multiprocessing.context import SpawnContext, SpawnProcess
from threading import Thread
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple, cast

from pebble import ProcessExpired, ProcessPool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

START_SECONDS = 60.0
Answer = TypeVar("Answer")
Arguments = TypeVarTuple("Arguments")


@dataclass(frozen=True)
class Lost:
    """A call that did not come back: why, and whether its time was up."""

    reason: str
    timed_out: bool = False


class Child:
    """A process in which functions run one after the other; one that dies is replaced.

    Use it as a context manager and over many calls: starting the process takes some tenths of a
    second, a call after that about a millisecond. It starts as a new interpreter and without the
    caller's main module, so it shares nothing with threads, a JVM or a Spark session of the
    parent, and scripts need no guard around their main part.
    """

    def __init__(self) -> None:
        self._pool: ProcessPool | None = None

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the process; the next call starts a new one."""
        if self._pool is not None:
            self._pool.stop()  # type: ignore[no-untyped-call]
            self._pool.join()
            self._pool = None

    def call(
        self, function: Callable[[*Arguments], Answer], *args: *Arguments, seconds: float
    ) -> Answer | Lost:
        """Return what a function, which the process must be able to import, returns.

        After `seconds`, enforced to about a tenth of a second, or its death: Lost. So is what
        cannot be pickled here or imported there.
        """
        try:
            packed = pickle.dumps((function, args))
        except Exception as error:
            return Lost(f"it cannot be pickled: {' '.join(str(error).split())}")
        try:
            return self._attempt(packed, seconds)
        except BrokenProcessPool:
            # The process died between two calls, and the pool had not noticed until now.
            self.close()
        try:
            return self._attempt(packed, seconds)
        except BrokenProcessPool:
            self.close()
            return Lost("the child process died")

    def _attempt(self, packed: bytes, seconds: float) -> Answer | Lost:
        if self._pool is not None and not self._pool.active:
            self.close()
        if self._pool is None:
            self._pool = ProcessPool(1, initializer=_end_with_parent, context=_Spawn())
        try:
            future = self._pool.schedule(_unpack_and_call, args=[packed], timeout=seconds)
        except RuntimeError as error:
            raise BrokenProcessPool(str(error)) from error
        try:
            return cast("Answer | Lost", future.result(seconds + START_SECONDS))
        except TimeUp:
            if future.done():
                return Lost(f"no answer within {seconds:g} s", timed_out=True)
            self.close()
            return Lost("the child process did not start")
        except ProcessExpired as death:
            return Lost(f"the child process died (exit code {death.exitcode})")


def _unpack_and_call(packed: bytes) -> object:
    try:
        function, args = pickle.loads(packed)
    except Exception as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return Lost(f"the child process cannot import it: {reason}")
    return function(*args)


def _end_with_parent() -> None:
    """See to it that this process ends when its parent does, even in an endless loop of a JVM."""
    parent = parent_process()
    if parent is not None:
        Thread(target=_end_after, args=[parent.sentinel], daemon=True).start()


def _end_after(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)


@contextmanager
def _main_module_hidden() -> Iterator[None]:
    main = vars(sys.modules["__main__"])
    kept: dict[str, object] = {k: main[k] for k in ("__file__", "__spec__") if k in main}
    main.pop("__file__", None)
    main["__spec__"] = None
    try:
        yield
    finally:
        main.update(kept)


class _Child(SpawnProcess):
    def start(self) -> None:
        # A spawned process runs the parent's main module again: a script without a guard would
        # start itself anew, and one that imports Spark would import it in the child.
        with _main_module_hidden():
            super().start()


class _Spawn(SpawnContext):
    Process = _Child
