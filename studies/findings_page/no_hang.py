"""NoHang: up to which size no ordinary join hangs, by assignor."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from studies.many_joins.called_on import shapes_of
from studies.smallest import SMALL, is_larger

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from studies.findings_page.measured import Measured

ALL, ONE_RUN = "no", "yes"


def no_hang(measured: Measured) -> Iterator[str]:
    """Return the table, and what it says and does not say."""
    rows = measured.joins
    if not rows:
        return
    columns = sorted(
        {(row["adjoining"], int(row["members"])) for row in rows}, key=lambda c: (c[1], c[0])
    )
    small = {r["assignor"]: r["groups"] - r.get("joins", 0) for r in measured.smallest
             if r["promise"] == "terminates"}  # fmt: skip
    yield (
        f"**No hang on.** *Small* counts all ordinary groups of up to {SMALL[-1][0]} members and "
        "partitions in all. *Joins* are larger, of one new member to a healthy group of 2 topics, "
        "each called once, in every order of members, topics and partitions (sarama goes through "
        "maps at random, so that another call may differ): the columns say up to how many "
        "partitions in all, with so many members. *One run*: only those joins in which each "
        "member owns one run of neighbouring partitions of a topic, as the group below is. What "
        "is larger, and smaller than the group below, was not tried in full: that group is not "
        "proved to be the smallest."
    )
    heads = [f"{n} members{', one run' * (kind == ONE_RUN)}" for kind, n in columns]
    lines = [
        f"| assignor | small | joins | {' | '.join(heads)} |",
        "|---" * (len(heads) + 3) + "|",
    ]
    ordered = sorted(rows, key=itemgetter("assignor"))
    for assignor, of in groupby(ordered, itemgetter("assignor")):
        mine = list(of)
        total = f"{sum(int(row['joins']) for row in mine if is_larger(row)):,}"
        many = f"{small[assignor]:,}" if assignor in small else "-"
        cells = [_cell(mine, kind, members) for kind, members in columns]
        lines.append(f"| `{assignor}` | {many} | {total} | {' | '.join(cells)} |")
    yield "\n".join(lines)


def _cell(rows: Sequence[Mapping[str, str]], kind: str, members: int) -> str:
    mine = [row for row in rows if int(row["members"]) == members]
    hung = sum(int(row["hang"]) for row in mine if row["adjoining"] == kind)
    if hung:
        return f"hangs on {hung:,}"
    most = shapes_of(mine, kind)
    return f"up to {max(most.values())}" if most else "-"
