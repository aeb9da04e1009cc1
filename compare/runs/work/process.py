"""Process: the one child of a worker, in which everything runs that may come to harm."""

from __future__ import annotations

import gc
import os
import sys
from functools import cache
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple

from compare.runs.work.requests import get_ready
from groups.errors import AssayError, in_one_line
from heuristics.child import Child, Lost
from heuristics.child.memory import allowed_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

START_SECONDS = 120.0
LEAST_BYTES = 2**30
Answer = TypeVar("Answer")
Arguments = TypeVarTuple("Arguments")


class Process:
    """A child process that has all it needs before the time of a call begins.

    Parameters
    ----------
    folders : where modules of the user's assignors are looked for, besides the usual ones
    memory_bytes : the most that it may hold; `memory_share` unless told otherwise
    """

    def __init__(self, folders: Sequence[str] = (), memory_bytes: int | None = None) -> None:
        self._child = Child(memory_share() if memory_bytes is None else memory_bytes)
        self._folders = tuple(folders)
        self._ready: set[str] = set()

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def warm_up(self) -> None:
        """Begin to start it, without waiting for it."""
        self._child.warm_up()

    def close(self) -> None:
        """Stop it; the next call starts a new one."""
        self._child.close()
        self._ready.clear()

    def call(
        self, function: Callable[[*Arguments], Answer], *args: *Arguments, seconds: float
    ) -> Answer | Lost:
        """Return what a function returns; Lost where it raises, dies or is not back in time.

        Raises
        ------
        AssayError
            Where no process can be started.
        """
        name = getattr(function, "__name__", "")
        if name not in self._ready:
            began = self._child.call(_ready, self._folders, name, seconds=START_SECONDS)
            if isinstance(began, Lost):
                raise AssayError(f"no process to work in can be started: {began.reason}")
            self._ready.add(name)
        answer = self._child.call(_caught, function, args, seconds=seconds)
        if isinstance(answer, Lost):
            self._ready.clear()
        return answer


def memory_share() -> int:
    """Return how much memory a worker's child may have: there is one for each core."""
    return max(allowed_bytes() * 4 // (5 * (os.cpu_count() or 1)), LEAST_BYTES)


@cache
def process_of(folders: tuple[str, ...]) -> Process:
    """Return the process of this worker, begun here, which ends when the worker does.

    Parameters
    ----------
    folders : where modules of the user's assignors are looked for, besides the usual ones
    """
    # After each task, Spark's worker looks for garbage among all that there is: what was imported
    # stays, and is not looked at any more.
    gc.freeze()
    process = Process(folders)
    # It is forked only while there is one thread, and to read Parquet starts others, for good.
    process.warm_up()
    return process


def _ready(folders: tuple[str, ...], asked: str) -> None:
    sys.path += [folder for folder in folders if folder not in sys.path]
    get_ready(asked)


def _caught(function: Callable[[*Arguments], Answer], args: tuple[*Arguments]) -> Answer | Lost:
    try:
        return function(*args)
    except AssayError as error:
        return Lost(str(error))
    except Exception as error:
        return Lost(in_one_line(error))
