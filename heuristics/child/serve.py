"""Serve: what runs in the child process, until its parent is gone."""

from __future__ import annotations

import ctypes
import os
import pickle
import resource
import signal
import socket
import sys
import time
from threading import Thread
from typing import TYPE_CHECKING

from groups.errors import in_one_line
from heuristics.child.frames import ANSWER, NONE, READY, frame_of, framed
from heuristics.child.memory import allow

if TYPE_CHECKING:
    from collections.abc import Callable

SET_PARENT_DEATH_SIGNAL = 1
LOOK_SECONDS = 0.5


def serve(descriptor: int, parent: int, memory_bytes: int) -> None:
    """Call one function after the other, each on many arguments, and answer one by one.

    What is printed goes to standard error, as standard output is the parent's.

    Parameters
    ----------
    descriptor : of the socket to the parent
    parent : its process id
    memory_bytes : what this process may hold
    """
    _end_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.set_inheritable(descriptor, False)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    allow(memory_bytes)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    with socket.socket(fileno=descriptor) as connection, connection.makefile("rb") as stream:
        try:
            while True:
                function = _function(frame_of(stream), connection)
                if function is not None:
                    count = int.from_bytes(frame_of(stream), "little")
                    items = [frame_of(stream) for _ in range(count)]
                    for item in items:
                        connection.sendall(framed([_answer(function, item)]))
        except (EOFError, OSError):
            # Nobody is there any more: what a JVM or an assignor would do at its end is over too.
            os._exit(0)


def _function(packed: bytes, connection: socket.socket) -> Callable[..., object] | None:
    try:
        function: Callable[..., object] = pickle.loads(packed)
    except BaseException as error:
        connection.sendall(framed([NONE + _cannot_import(error)]))
        return None
    connection.sendall(framed([READY]))
    return function


def _answer(function: Callable[..., object], packed: bytes) -> bytes:
    try:
        args = pickle.loads(packed)
    except BaseException as error:
        return NONE + _cannot_import(error)
    try:
        answer = function(*args)
    except BaseException as error:
        return NONE + in_one_line(error).encode()
    try:
        return ANSWER + pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)
    except BaseException as error:
        return NONE + f"its answer cannot be pickled: {in_one_line(error)}".encode()


def _cannot_import(error: BaseException) -> bytes:
    return f"the child process cannot import it: {in_one_line(error)}".encode()


def _end_with(parent: int) -> None:
    """See to it that this process ends when its parent does, even in an endless loop of a JVM."""
    try:
        told = ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL) == 0
    except (AttributeError, OSError):
        told = False
    if os.getppid() != parent:
        os._exit(1)
    if not told:
        # Elsewhere than on Linux, whatever holds the interpreter's lock for ever outlives it.
        Thread(target=_watch, args=[parent], daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    os._exit(1)
