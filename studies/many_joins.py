"""Joins: the clients' own assignors on every ordinary join of a size, to see which hang.

``python -m studies joins kafka-java/sticky@4.4.0 4x2x7`` calls an assignor on every ordinary join
of one new member that makes 4 members, with 2 topics and 7 partitions in all. It writes the number
of joins, and of those on which the assignor hangs, into ``docs/findings/joins.csv``. A size with
``-adjoining`` has only joins in which the partitions of a topic that a member owns are
consecutive.
"""

from __future__ import annotations

import re
import sys
from itertools import islice
from typing import TYPE_CHECKING

from compare.samples.enumerated import joined, joins
from groups import BadInput
from heuristics.time_limit import TimeLimit
from studies.page import FOLDER, renew

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from groups import Group
    from studies.page import Cell

RECORDS = FOLDER / "joins.csv"
KEY = ("assignor", "adjoining", "members", "topics", "partitions")
AT_A_TIME = 2000
SECONDS = 1.0


def run(names: Sequence[str]) -> None:
    """Call an assignor (the first name) on all joins of some sizes (the other names).

    Raises
    ------
    BadInput
        If a size is malformed.
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
        every = joins(members, topics, partitions, new=1, adjoining=bool(found[4]))
        tried, hang = counted(map(joined, every), assignor)
        row: dict[str, Cell] = {
            "assignor": assignor,
            "members": members,
            "topics": topics,
            "partitions": partitions,
            "adjoining": "yes" if found[4] else "no",
            "joins": tried,
            "hang": hang,
        }
        renew(RECORDS, [row], KEY, _order)


def _order(row: Mapping[str, Cell]) -> list[Cell]:
    return [row[key] if key in KEY[:2] else int(row[key] or 0) for key in KEY]


def counted(groups: Iterable[Group], assignor: str) -> tuple[int, int]:
    """Return the number of groups, and of those on which an assignor takes over a second."""
    stream, tried, hang = iter(groups), 0, 0
    with TimeLimit(SECONDS) as limit:
        while batch := [*islice(stream, AT_A_TIME)]:
            outcomes = limit.plan_many(batch, assignor)
            tried += len(outcomes)
            for group, one in zip(batch, outcomes, strict=True):
                if one.status == "timed-out":
                    hang += 1
                    sys.stderr.write(f"hangs: {group.to_dict()}\n")
    return tried, hang
