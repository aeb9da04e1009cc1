"""Calls: an assignor called on one group after the other, until one hangs, and then on.

The joins on which it was called are recorded by their size.
"""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from groups.errors import BadInput, Failed
from heuristics import assignor_named
from heuristics.shipped.java.jars import SHORT_LIVED, compile_java, compiled, java_home, noted
from heuristics.shipped.java.java_client import KAFKA_JAVA
from studies.page import read, write

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compare.samples.enumerated import Small
    from studies.page import Cell

IN_JAVA = Path(__file__).with_name("ManyJoins.java")


def program(assignor: str, milliseconds: int, folder: Path) -> Sequence[str]:
    """Return the command of the program that calls an assignor.

    It reads groups, one to a line, and says of many how many are answered, or which hangs.

    Parameters
    ----------
    assignor : its full name, as in "kafka-java/sticky@4.4.0"
    milliseconds : for one group: of the processor, but on the clock where the client runs in a
        process of its own
    folder : where it may be compiled to

    Raises
    ------
    BadInput
        Where the assignor cannot be called here.
    Failed
        Where the program cannot be compiled.
    """
    client, _, rest = assignor.partition("/")
    name, _, version = rest.partition("@")
    if client == KAFKA_JAVA.name:
        return _in_java(folder, name, version, milliseconds)
    reason = assignor_named(assignor).missing()
    if reason is not None:
        raise BadInput(f"{assignor}: {reason}")
    return [sys.executable, "-m", "studies.many_joins.called", assignor, str(milliseconds)]


def _in_java(folder: Path, assignor: str, version: str, milliseconds: int) -> list[str]:
    home, jars = java_home(), noted(KAFKA_JAVA.artifact, version)
    if home is None or not jars:
        raise BadInput(str(KAFKA_JAVA.missing(assignor, version)))
    places = [compiled(KAFKA_JAVA.artifact, version, KAFKA_JAVA.caller), *jars]
    reason = compile_java([IN_JAVA], places, folder)
    if reason is not None:
        raise Failed(reason)
    path = os.pathsep.join(map(str, [folder, *places]))
    called = f"{KAFKA_JAVA.package}.{KAFKA_JAVA.assignors[assignor]}"
    java = str(home / "bin" / "java")
    return [java, SHORT_LIVED[1], "-cp", path, "assay.ManyJoins", called, str(milliseconds)]


RECORDS = Path("docs/findings/joins.csv")
KEY = ("assignor", "members", "topics", "partitions", "adjoining")


def put(file: Path, row: Mapping[str, Cell]) -> None:
    """Write a record in its place; an older one of the same size goes."""
    before = read(file) if file.is_file() else []
    rows = {tuple(str(one[key]) for key in KEY): one for one in [*before, row]}
    write(file, [rows[key] for key in sorted(rows, key=_order)])


def _order(key: Sequence[str]) -> tuple[str, str, int, int, int]:
    assignor, members, topics, partitions, adjoining = key
    return assignor, adjoining, int(members), int(topics), int(partitions)


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
    milliseconds : for one group, see :func:`program`

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
