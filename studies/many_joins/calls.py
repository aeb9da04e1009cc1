"""Calls: an assignor called on one group after the other, until one hangs, and then on."""

from __future__ import annotations

import subprocess
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from groups.errors import Failed
from studies.many_joins.programs import program

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from compare.samples.enumerated import Small

AT_A_TIME = 20_000
CALL_MILLISECONDS = 1000


def hanging(
    groups: Iterable[Small], assignor: str, milliseconds: int = CALL_MILLISECONDS
) -> Iterator[Small | int]:
    """Return the groups on which a client's assignor hangs, as they are met.

    Between them comes how many groups have been answered since the last number. A cooperative
    assignor is asked until nobody must revoke.

    Parameters
    ----------
    assignor : its full name, as in "kafka-java/sticky@4.4.0"
    milliseconds : for one group, see :func:`studies.many_joins.programs.program`

    Raises
    ------
    BadInput
        Where the assignor cannot be called here.
    Failed
        Where the program that calls it ends before it should.
    """
    with TemporaryDirectory() as folder:
        command = program(assignor, milliseconds, Path(folder))
        stream = iter(groups)
        left: list[Small] = []
        while left or (left := list(islice(stream, AT_A_TIME))):
            with subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            ) as running:
                while left or (left := list(islice(stream, AT_A_TIME))):
                    said, number = _asked(running, left)
                    yield number
                    if said == "hangs":
                        yield left[number]
                        left = left[number + 1 :]
                        break
                    left = []


def line_of(small: Small) -> str:
    """Return a group as the programs read it."""
    rows = ",".join(" ".join(map(str, row)) for row in small.rows)
    return f"{','.join(map(str, small.counts))};{rows};{','.join(map(str, small.owner))}\n"


def _asked(running: subprocess.Popen[str], groups: list[Small]) -> tuple[str, int]:
    assert running.stdin is not None
    assert running.stdout is not None
    try:
        running.stdin.writelines(map(line_of, groups))
        running.stdin.write("\n")
        running.stdin.flush()
    except BrokenPipeError:
        pass
    said, _, number = running.stdout.readline().partition(" ")
    if said not in ("answered", "hangs"):
        raise Failed("the program that calls the assignor ended without an answer")
    return said, int(number)
