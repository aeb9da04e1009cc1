"""Many joins: Kafka's client assignors called on very many small groups, to see which hang.

``python -m studies.many_joins sticky@4.4.0 4x2x7`` calls an assignor on every ordinary join of one
new member, which makes 4 members with 2 topics and 7 partitions in all, and puts how many there
are, and on how many it hangs, into ``docs/findings/joins.csv``. With ``--adjoining``, on those in
which each member owns one run of neighbouring partitions of a topic.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from argparse import ArgumentParser
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from compare.samples.joins import joins
from groups.errors import BadInput, Failed
from heuristics.shipped.java.jars import SHORT_LIVED, compile_java, compiled, noted
from heuristics.shipped.java.kafka_java import CLIENT
from heuristics.shipped.java.runtime import java_home
from studies.records import read, write

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from compare.samples.enumerated import Small
    from studies.records import Cell

RECORDS = Path("docs/findings/joins.csv")
KEY = ("assignor", "members", "topics", "partitions", "adjoining")
SOURCE = Path(__file__).parent / "sources" / "ManyJoins.java"
AT_A_TIME = 20_000
CALL_MILLISECONDS = 1000


def hanging(
    groups: Iterable[Small], assignor: str, version: str, milliseconds: int = CALL_MILLISECONDS
) -> Iterator[Small | int]:
    """Return the groups on which an assignor of Kafka's consumer hangs, as they are met.

    Between them comes how many groups have been answered since the last number.

    Parameters
    ----------
    assignor : "sticky" or "cooperative-sticky", which is asked until nobody must revoke
    milliseconds : of the processor, for one call

    Raises
    ------
    BadInput
        Where there is no Java, or the release is not here.
    Failed
        Where the program that calls the assignor ends before it should.
    """
    with TemporaryDirectory() as folder:
        command = _command(Path(folder), assignor, version, milliseconds)
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
    """Return a group as the program reads it."""
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
        raise Failed(f"{SOURCE.name} ended without an answer")
    return said, int(number)


def _command(folder: Path, assignor: str, version: str, milliseconds: int) -> list[str]:
    home, jars = java_home(), noted(CLIENT.artifact, version)
    if home is None or not jars:
        raise BadInput(str(CLIENT.missing(assignor, version)))
    places = [compiled(CLIENT.artifact, version, CLIENT.caller), *jars]
    reason = compile_java([SOURCE], places, folder)
    if reason is not None:
        raise Failed(reason)
    path = os.pathsep.join(map(str, [folder, *places]))
    called = f"{CLIENT.package}.{CLIENT.assignors[assignor]}"
    java = str(home / "bin" / "java")
    return [java, SHORT_LIVED[1], "-cp", path, "assay.ManyJoins", called, str(milliseconds)]


def sentence_of(records: Sequence[Mapping[str, str]]) -> str:
    """Return on which joins an assignor was called, for people; "" where there are none."""
    parts = []
    for adjoining in ("no", "yes"):
        most: dict[tuple[int, int], int] = {}
        for record in records:
            if record["adjoining"] == adjoining:
                sizes = int(record["members"]), int(record["topics"])
                most[sizes] = max(most.get(sizes, 0), int(record["partitions"]))
        shapes = [f"{m} members and {t} topics up to {p} partitions" for (m, t), p in most.items()]
        if shapes:
            held = ", each with one run of a topic's partitions" if adjoining == "yes" else ""
            parts.append(f"{'; '.join(shapes)}{held}")
    total = sum(int(record["joins"]) for record in records)
    return f"every join of one new member ({total:,} in all): {'; '.join(parts)}" if parts else ""


def main() -> None:
    """Call an assignor on all joins of some sizes."""
    parser = ArgumentParser(description="call Kafka's assignors on every small join")
    parser.add_argument("assignor", help="sticky@VERSION or cooperative-sticky@VERSION")
    parser.add_argument("sizes", nargs="+", help="MEMBERSxTOPICSxPARTITIONS")
    parser.add_argument("--adjoining", action="store_true", help="one run of each topic a member")
    parser.add_argument("--to", type=Path, default=RECORDS)
    asked = parser.parse_args()
    name, _, version = asked.assignor.partition("@")
    for size in asked.sizes:
        if not re.fullmatch(r"[0-9]+x[0-9]+x[0-9]+", size):
            parser.error(f"size: {size!r}, expected MEMBERSxTOPICSxPARTITIONS as in 4x2x7")
        members, topics, partitions = map(int, size.split("x"))
        groups = joins(members, topics, partitions, new=1, adjoining=asked.adjoining)
        answered, hung = 0, []
        for came in hanging(groups, name, version):
            if isinstance(came, int):
                answered += came
            else:
                hung.append(came)
                sys.stderr.write(f"hangs: {line_of(came)}")
        row: dict[str, Cell] = {
            "assignor": f"kafka-java/{asked.assignor}",
            "members": members,
            "topics": topics,
            "partitions": partitions,
            "adjoining": "yes" if asked.adjoining else "no",
            "joins": answered + len(hung),
            "hang": len(hung),
        }
        _put(asked.to, row)


def _put(file: Path, row: Mapping[str, Cell]) -> None:
    before = read(file) if file.is_file() else []
    rows = {tuple(str(one[key]) for key in KEY): one for one in [*before, row]}
    write(file, [rows[key] for key in sorted(rows, key=_order)])


def _order(key: Sequence[str]) -> tuple[str, str, int, int, int]:
    assignor, members, topics, partitions, adjoining = key
    return assignor, adjoining, int(members), int(topics), int(partitions)


if __name__ == "__main__":
    main()
