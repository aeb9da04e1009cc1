"""Signals: a command that is interrupted prints one line and exits with the signal's code."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

# Ctrl-C; kill and service managers; a closed terminal.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# The shell's convention, 128 + signal number: 130 for Ctrl-C, 143 for kill.
FIRST_CODE = 128
INTERRUPTED = FIRST_CODE + signal.SIGINT


class Ended(Exception):
    """A signal ended a command; its message is printed.

    Attributes
    ----------
    code : exit code
    """

    def __init__(self, said: str, number: int) -> None:
        super().__init__(said)
        self.code = FIRST_CODE + number


@contextmanager
def ending_on_signals(said: str) -> Iterator[None]:
    """Turn the first ending signal into KeyboardInterrupt, so that the block can clean up.

    A signal that is ignored, as under nohup, stays ignored. Later signals do nothing, so that they
    do not stop the cleaning up.

    Parameters
    ----------
    said : the message of `Ended`

    Raises
    ------
    Ended
        After a signal, with its exit code.
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
        # While Spark starts, pyspark replaces our SIGINT handler.
        if isinstance(error, KeyboardInterrupt) and not asked:
            asked.append(signal.SIGINT)
        if not asked:
            raise
        raise Ended(said, asked[0]) from None
    finally:
        if not asked:
            for number in ours:
                signal.signal(number, before[number])
