"""Called: an assignor of any client on many small groups, in a process that it may hang.

``python -m studies.many_joins.called NAME MILLISECONDS`` reads groups, one to a line, as the
program in Java does. An empty line is answered with the number of groups since the last one.
The first group that takes longer than the limit ends the program, which says "hangs" and how many
groups came before it.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

from compare.samples.enumerated import Small, joined
from heuristics import assignor_named
from heuristics.assignor import TimedOut
from heuristics.shipped import CLIENTS
from heuristics.shipped.client import tiny
from heuristics.shipped.consumers.library import Library

if TYPE_CHECKING:
    from collections.abc import Iterable


def read(line: str) -> Small:
    """Return the group of a line."""
    counts, rows, owner = line.split(";")
    return Small(
        tuple(map(int, counts.split(","))),
        tuple(tuple(map(int, row.split())) for row in rows.split(",")),
        tuple(map(int, owner.split(","))),
    )


def answer(lines: Iterable[str], name: str, milliseconds: int) -> None:
    """Call an assignor on the groups of some lines."""
    assignor = assignor_named(name)
    limit = {"seconds": milliseconds / 1000} if assignor.keeps_time else {}
    assignor.function(tiny())
    done = 0

    def stop(*_: object) -> None:
        # What hangs, hangs in this process: nothing but its end ends it.
        os.write(1, f"hangs {done}\n".encode())
        os._exit(3)

    # A client in another process takes none of this one's.
    elsewhere = isinstance(CLIENTS[name.partition("/")[0]], Library)
    timer = signal.ITIMER_REAL if elsewhere else signal.ITIMER_VIRTUAL
    signal.signal(signal.SIGALRM, stop)
    signal.signal(signal.SIGVTALRM, stop)
    for line in lines:
        if line == "\n":
            sys.stdout.write(f"answered {done}\n")
            sys.stdout.flush()
            done = 0
            continue
        group = joined(read(line))
        signal.setitimer(timer, 0 if limit else milliseconds / 1000)
        try:
            assignor.function(group, **limit)
        except TimedOut:
            stop()
        signal.setitimer(timer, 0)
        done += 1


if __name__ == "__main__":
    answer(sys.stdin, sys.argv[1], int(sys.argv[2]))
