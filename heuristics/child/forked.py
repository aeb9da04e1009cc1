"""Forked: a process that begins with all that its parent has imported.

A new interpreter takes some tenths of a second to import what a call needs, a fork takes
milliseconds. Only a process that said so is forked, and only while it has one thread: a fork
takes along the locks of other threads, but not who gives them back.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import signal
import subprocess
import sys
import time
from threading import Lock
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

FIRST_LOOK_SECONDS = 0.0005
LOOK_SECONDS = 0.02
_allowed = False


def fork_children() -> None:
    """Have this process, and those that it forks, fork their children where they can."""
    global _allowed
    _allowed = True


def can_fork() -> bool:
    """Whether a child is to be forked off this process, here and now."""
    try:
        return _allowed and len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False


class Forked:
    """A process that was forked, as its parent sees it: like `subprocess.Popen`.

    Its session is its own, standard input is empty, and nothing else is open but one file.

    Parameters
    ----------
    serve : what it does, until it ends
    descriptor : of the file that stays open
    """

    def __init__(self, serve: Callable[[], None], descriptor: int) -> None:
        self.returncode: int | None = None
        self._lock = Lock()
        self.pid = os.fork()
        if self.pid == 0:
            _become(serve, descriptor)

    def wait(self, seconds: float | None = None) -> int:
        """Return its exit code, that of a signal below 0, once it ended.

        Raises
        ------
        subprocess.TimeoutExpired
            Where it has not ended in time.
        """
        until = None if seconds is None else time.monotonic() + seconds
        pause = FIRST_LOOK_SECONDS
        while not self._ended():
            if until is not None and time.monotonic() > until:
                raise subprocess.TimeoutExpired([], seconds or 0.0)
            time.sleep(pause)
            pause = min(2 * pause, LOOK_SECONDS)
        assert self.returncode is not None
        return self.returncode

    def _ended(self) -> bool:
        with self._lock:
            if self.returncode is None:
                try:
                    pid, status = os.waitpid(self.pid, os.WNOHANG)
                except ChildProcessError:
                    # Somebody else has waited for it, and nobody knows its exit code.
                    self.returncode = 0
                else:
                    if pid:
                        self.returncode = os.waitstatus_to_exitcode(status)
            return self.returncode is not None


def _become(serve: Callable[[], None], descriptor: int) -> NoReturn:
    """Do in a fork what is to be done, and leave without what its parent does at its end."""
    try:
        os.setsid()
        # It would write to a file of the parent's.
        faulthandler.disable()
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
        os.closerange(3, descriptor)
        os.closerange(descriptor + 1, os.sysconf("SC_OPEN_MAX"))
        # What the parent has is not garbage.
        gc.freeze()
        serve()
    finally:
        os._exit(1)
