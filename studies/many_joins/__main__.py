"""Many joins: the clients' own assignors called on very many small groups, to see which hang.

``python -m studies.many_joins kafka-java/sticky@4.4.0 4x2x7`` calls an assignor on every ordinary
join of one new member, which makes 4 members with 2 topics and 7 partitions in all, and puts how
many there are, and on how many it hangs, into ``docs/findings/joins.csv``. With ``--adjoining``,
on those in which each member owns one run of neighbouring partitions of a topic.
"""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from compare.samples.enumerated import joins
from studies.many_joins.calls import CALL_MILLISECONDS, RECORDS, hanging, line_of, put

if TYPE_CHECKING:
    from argparse import Namespace

    from compare.samples.enumerated import Small
    from studies.page import Cell


def main() -> None:
    """Call an assignor on all joins of some sizes."""
    parser = ArgumentParser(description="call the clients' assignors on every small join")
    parser.add_argument("assignor", help="CLIENT/NAME@VERSION")
    parser.add_argument("sizes", nargs="+", help="MEMBERSxTOPICSxPARTITIONS")
    parser.add_argument("--adjoining", action="store_true", help="one run of each topic a member")
    parser.add_argument("--milliseconds", type=int, default=CALL_MILLISECONDS, help="for a group")
    parser.add_argument("--children", type=int, default=1, help="processes side by side")
    parser.add_argument("--to", type=Path, default=RECORDS)
    asked = parser.parse_args()
    for size in asked.sizes:
        if not re.fullmatch(r"[0-9]+x[0-9]+x[0-9]+", size):
            parser.error(f"size: {size!r}, expected MEMBERSxTOPICSxPARTITIONS as in 4x2x7")
        members, topics, partitions = map(int, size.split("x"))
        with ThreadPoolExecutor(asked.children) as side_by_side:
            part = partial(_part, asked, (members, topics, partitions))
            parts = [*side_by_side.map(part, range(asked.children))]
        row: dict[str, Cell] = {
            "assignor": asked.assignor,
            "members": members,
            "topics": topics,
            "partitions": partitions,
            "adjoining": "yes" if asked.adjoining else "no",
            "joins": sum(answered + len(hung) for answered, hung in parts),
            "hang": sum(len(hung) for _, hung in parts),
        }
        put(asked.to, row)


def _part(asked: Namespace, size: tuple[int, int, int], first: int) -> tuple[int, list[Small]]:
    """Call it on every so-manieth join of a size: one child's part."""
    groups = joins(*size, new=1, adjoining=asked.adjoining)
    mine = islice(groups, first, None, asked.children)
    answered, hung = 0, []
    for came in hanging(mine, asked.assignor, asked.milliseconds):
        if isinstance(came, int):
            answered += came
        else:
            hung.append(came)
            sys.stderr.write(f"hangs: {line_of(came)}")
    return answered, hung


if __name__ == "__main__":
    main()
