"""Many joins: the clients' own assignors called on very many small groups, to see which hang.

``python -m studies joins kafka-java/sticky@4.4.0 4x2x7`` calls an assignor on every ordinary join
of one new member, which makes 4 members with 2 topics and 7 partitions in all, and puts how many
there are, and on how many it hangs, into ``docs/findings/joins.csv``. A size with ``-adjoining``
has those only in which each member owns one run of neighbouring partitions of a topic.

Groups go to a program, one to a line: `ManyJoins.java`, or :func:`answer` for other clients. An
empty line is answered with the number of groups since the last one. The first group that takes
longer than the limit ends the program, which says "hangs" and how many groups came before it.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from compare.samples.enumerated import Small, joined, joins
from groups.errors import BadInput, Failed
from heuristics import assignor_named
from heuristics.assignor import TimedOut
from heuristics.shipped import CLIENTS
from heuristics.shipped.client import tiny
from heuristics.shipped.consumers.library import Library
from heuristics.shipped.java.jars import SHORT_LIVED, compile_java, compiled, java_home, noted
from heuristics.shipped.java.java_client import KAFKA_JAVA
from studies.page import FOLDER, read, write

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from studies.page import Cell

IN_JAVA = Path(__file__).with_name("ManyJoins.java")
RECORDS = FOLDER / "joins.csv"
KEY = ("assignor", "members", "topics", "partitions", "adjoining")
CHILDREN = 2
AT_A_TIME = 20_000
CALL_MILLISECONDS = 1000
ANSWER = (
    "import sys; from studies.many_joins import answer; "
    "answer(sys.stdin, sys.argv[1], int(sys.argv[2]))"
)


def run(names: Sequence[str]) -> None:
    """Call an assignor, the first name, on all joins of some sizes, the other ones.

    Raises
    ------
    BadInput
        Where a size is none.
    """
    if len(names) < 2:
        raise BadInput(
            "joins: expected an assignor and sizes, as in kafka-java/sticky@4.4.0 4x2x7"
        )
    assignor, *sizes = names
    for size in sizes:
        found = re.fullmatch(r"(\d+)x(\d+)x(\d+)(-adjoining)?", size)
        if found is None:
            raise BadInput(f"size: {size!r}, expected MEMBERSxTOPICSxPARTITIONS as in 4x2x7")
        members, topics, partitions = map(int, found.groups()[:3])
        every = partial(joins, members, topics, partitions, new=1, adjoining=bool(found[4]))
        # Each child calls it on every so-manieth join.
        parts = [islice(every(), first, None, CHILDREN) for first in range(CHILDREN)]
        with ThreadPoolExecutor(CHILDREN) as pool:
            told = pool.map(lambda part: [*hanging(part, assignor)], parts)
            came = [one for some in told for one in some]
        hung = [one for one in came if isinstance(one, Small)]
        sys.stderr.writelines(f"hangs: {line_of(one)}" for one in hung)
        put(
            {
                "assignor": assignor,
                "members": members,
                "topics": topics,
                "partitions": partitions,
                "adjoining": "yes" if found[4] else "no",
                "joins": len(hung) + sum(one for one in came if isinstance(one, int)),
                "hang": len(hung),
            }
        )


def put(row: Mapping[str, Cell]) -> None:
    """Write a record in its place; an older one of the same size goes."""
    before = read(RECORDS)
    rows = {tuple(str(one[key]) for key in KEY): one for one in [*before, row]}
    write(RECORDS, [rows[key] for key in sorted(rows, key=_order)])


def _order(key: Sequence[str]) -> tuple[str, str, int, int, int]:
    assignor, members, topics, partitions, adjoining = key
    return assignor, adjoining, int(members), int(topics), int(partitions)


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
    return [sys.executable, "-c", ANSWER, assignor, str(milliseconds)]


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


def small_of(line: str) -> Small:
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
        group = joined(small_of(line))
        signal.setitimer(timer, 0 if limit else milliseconds / 1000)
        try:
            assignor.function(group, **limit)
        except TimedOut:
            stop()
        signal.setitimer(timer, 0)
        done += 1
