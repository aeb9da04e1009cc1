"""Signals: a command that is asked to end says so in one line, and leaves with its exit code."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

# Of Ctrl-C, of kill and of whatever stops services, and of a terminal that is closed.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# As shells have it: 130 of Ctrl-C, 143 of kill.
FIRST_CODE = 128
INTERRUPTED = FIRST_CODE + signal.SIGINT


class Ended(Exception):
    """A signal ended a command; the message is what people are told.

    Attributes
    ----------
    code : exit code
    """

    def __init__(self, said: str, number: int) -> None:
        super().__init__(said)
        self.code = FIRST_CODE + number


@contextmanager
def ending_on_signals(said: str) -> Iterator[None]:
    """Raise KeyboardInterrupt where a signal asks this process to end; leave in good order then.

    A signal that is ignored, as under nohup, stays so. Those after the first change nothing:
    clearing up goes on.

    Parameters
    ----------
    said : what people are told

    Raises
    ------
    Ended
        With what people are told and the exit code of the signal.
    """
    if current_thread() is not main_thread():
        yield
        return
    asked: list[int] = []

    def end(number: int, _: FrameType | None) -> None:
        asked.append(number)
        if len(asked) == 1:
            raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in ENDING}
    ours = [number for number in ENDING if before[number] not in (signal.SIG_IGN, None)]
    for number in ours:
        signal.signal(number, end)
    try:
        yield
    except BaseException as error:
        # While Spark starts, pyspark takes Ctrl-C for itself.
        if isinstance(error, KeyboardInterrupt) and not asked:
            asked.append(signal.SIGINT)
        if not asked:
            raise
        raise Ended(said, asked[0]) from None
    finally:
        if not asked:
            for number in ours:
                signal.signal(number, before[number])
