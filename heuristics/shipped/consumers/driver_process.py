"""DriverProcess: a client's consumer in its own process, which leads one group after the other."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

from groups import Failed
from heuristics.assignor import Unavailable
from heuristics.shipped.consumers.program import DYING_SECONDS, Program
from heuristics.shipped.probe import Absent, Late, Probe
from heuristics.shipped.probe.coordinator import Disconnected
from heuristics.shipped.probe.guest import GROUP_ID, WAIT_SECONDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups import Group
    from heuristics.shipped.probe.wire import Held

# Interval of the checks whether a client that has not planned yet is dead or late.
LOOK_SECONDS = 0.2


class DriverProcess:
    """A client program, started on first use, and again after it has died.

    The program gets bootstrap.servers, group id and assignor as its last arguments, joins that
    group and polls until its standard input ends.

    Parameters
    ----------
    command : the program and its first arguments
    assignor : the assignor's name, as an argument of the program
    """

    def __init__(self, command: Sequence[str], assignor: str) -> None:
        self.command = tuple(command)
        self.assignor = assignor
        self._joined = False
        self._running: tuple[Probe, Program] | None = None

    def plan(
        self, group: Group, protocol: str, *, seconds: float = math.inf, spent: float = 0.0
    ) -> tuple[list[Held], float]:
        """Return the client's plan of a group, and the seconds it took.

        A client that exceeds its time is killed.

        Parameters
        ----------
        seconds, spent : as in :meth:`~heuristics.shipped.probe.round.Round.late`

        Raises
        ------
        Late
            If it takes longer; the time to join does not count.
        Unavailable
            If it does not join within a minute.
        Failed
            If it makes no plan, or dies.
        """
        probe, program = self._run()
        round_ = probe.offer(group, protocol, awaits_metadata=True)
        while not round_.over.wait(LOOK_SECONDS):
            if program.dies():
                raise Failed(round_.with_group_names(self.close()))
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
            died = program.dies(DYING_SECONDS)
            how = self.close()
            if died:
                raise Failed(round_.with_group_names(how)) from None
            raise
        if spent + took > seconds:
            raise Late(f"no answer within {seconds:g} s", seconds)
        return held, took

    def close(self) -> str:
        """Kill the client, and return how it died; the next call starts it again."""
        if self._running is None:
            return ""
        (probe, program), self._running = self._running, None
        how = program.end()
        probe.close()
        return how

    def _run(self) -> tuple[Probe, Program]:
        if self._running is not None and self._running[1].dies():
            self.close()
        if self._running is None:
            probe = Probe().__enter__()
            self._joined = False
            told = (probe.bootstrap, GROUP_ID, self.assignor)
            self._running = probe, Program([*self.command, *told])
        return self._running


@cache
def driver_process(command: tuple[str, ...], assignor: str) -> DriverProcess:
    """Return the process of a command and assignor, which is kept for later calls."""
    return DriverProcess(command, assignor)
