"""DriverProcess: a client's consumer in a process of its own, which leads group after group."""

from __future__ import annotations

import contextlib
import math
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from groups import Failed
from heuristics.assignor import Unavailable
from heuristics.shipped.consumers.last_words import DYING_SECONDS, LastWords, obituary
from heuristics.shipped.probe import Absent, Late, Probe
from heuristics.shipped.probe.coordinator import Disconnected
from heuristics.shipped.probe.guest import GROUP_ID, WAIT_SECONDS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from groups import Group
    from heuristics.shipped.probe.round import Manner
    from heuristics.shipped.probe.wire import Held

TETHER = Path(__file__).with_name("tether.py")
# How often a client that has not planned yet is looked at.
LOOK_SECONDS = 0.2


class DriverProcess:
    """A client program, started when first needed and again when it has died.

    The program is called with bootstrap.servers, group id and assignor as its last arguments,
    joins that group and polls for ever. It is killed with this process, however that ends.

    Parameters
    ----------
    command : the program and its first arguments
    assignor : what to call its assignor

    Attributes
    ----------
    starts : how often the program was started
    """

    def __init__(self, command: Sequence[str], assignor: str) -> None:
        self.command = tuple(command)
        self.assignor = assignor
        self.starts = 0
        self._joined = False
        self._probe: Probe | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._said: LastWords | None = None

    def plan(
        self,
        group: Group,
        protocol: str,
        *,
        seconds: float = math.inf,
        spent: float = 0.0,
        **manner: Unpack[Manner],
    ) -> tuple[list[Held], float]:
        """Return what the client makes of a group, and the seconds it took.

        As :meth:`~heuristics.shipped.probe.Probe.plan`, which takes the same `manner`. A client
        whose time is up is ended.

        Parameters
        ----------
        seconds, spent : as of :meth:`~heuristics.shipped.probe.round.Round.late`

        Raises
        ------
        Late
            Where it takes longer; joining takes no part of that time.
        Unavailable
            Where it does not join within a minute.
        Failed
            Where it makes no plan, or dies.
        """
        probe, process = self._running()
        round_ = probe.offer(group, protocol, **manner)
        while not round_.over.wait(LOOK_SECONDS):
            if process.poll() is not None:
                raise Failed(round_.in_own_words(self._obituary(process)))
            late = round_.late(seconds, WAIT_SECONDS, spent=spent)
            if late is not None:
                again = " again" if self._joined else ""
                self.close()
                if isinstance(late, Absent):
                    absent = f"the client did not join{again} within {WAIT_SECONDS:g} s"
                    raise Unavailable(absent)
                raise late
        self._joined = True
        try:
            held, took = round_.result()
        except Disconnected:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(DYING_SECONDS)
                raise Failed(round_.in_own_words(self._obituary(process))) from None
            self.close()
            raise
        if spent + took > seconds:
            raise Late(f"no answer within {seconds:g} s", seconds)
        return held, took

    def close(self) -> None:
        """End the client; the next call starts it again."""
        process, probe = self._process, self._probe
        self._process = self._probe = None
        if process is not None and process.stdin is not None and process.stdout is not None:
            process.stdin.close()
            process.wait()
            process.stdout.close()
        if self._said is not None:
            self._said.close()
        if probe is not None:
            probe.close()

    def _running(self) -> tuple[Probe, subprocess.Popen[bytes]]:
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._process is None or self._probe is None:
            self._probe = Probe().__enter__()
            self.starts, self._joined = self.starts + 1, False
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    *("-I", "-S", str(TETHER)),
                    *self.command,
                    *(self._probe.bootstrap, GROUP_ID, self.assignor),
                ],
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
            )
            self._said = LastWords(self._process)
        return self._probe, self._process

    def _obituary(self, process: subprocess.Popen[bytes]) -> str:
        """Return how a client died, and bury it."""
        said = b"" if process.stdout is None else process.stdout.read()
        code = int(said) if said.strip() else process.wait()
        words = "" if self._said is None else self._said.close()
        self.close()
        return obituary(code, words)


_RUNNING: dict[tuple[tuple[str, ...], str], DriverProcess] = {}


def driver_process(command: Sequence[str], assignor: str) -> DriverProcess:
    """Return the process of that command, kept for the following calls in this one."""
    key = (tuple(command), assignor)
    return _RUNNING.setdefault(key, DriverProcess(command, assignor))
