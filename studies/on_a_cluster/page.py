"""Page: the part of docs/findings/on-a-cluster.md that the courses make."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    Played = Mapping[str, Any]

COLUMNS = (
    "played",
    "whose poll does not return",
    "out of the group after",
    "without a reader, longest",
    "records behind, most",
    "in the group at the end",
    "unread at the end",
)
SHOWN = (
    "sticky",
    "several leaders",
    "restarted",
    "restarted static",
    "never settles",
    "librdkafka",
)
# What is said after so many lines is more of the same.
MOST_LINES = 30


def made(courses: Sequence[Played]) -> str:
    """Return the table of all courses, and what was seen of some, as Markdown."""
    head = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    table = "\n".join([*head, *(_row(each) for each in courses)])
    shown = (_captured(each) for each in courses if each["course"] in SHOWN)
    return "\n\n".join([table, *shown])


def _row(course: Played) -> str:
    hangs = course["hangs"]
    who = _in_turn(hang["member"] for hang in hangs) or "nobody's"
    if course["died"]:
        who = ", ".join(f"{member} dies" for member in course["died"])
    out = _in_turn(_out(hang) for hang in hangs) or "-"
    waited = course["without_a_reader_seconds"]
    long = int(next(value for key, value in waited.items() if key.startswith("longer_than_")))
    partitions = waited["partitions"]
    reader = f"{waited['longest']:.1f} s"
    if long:
        reader += f"; more than 10 s: {long} of {partitions} partitions"
    present, all_of_them = len(course["members_at_the_end"]), len(course["members"])
    unread = len(course["unread_at_the_end"])
    return " | ".join(
        [
            f"| {course['told']}",
            who,
            out,
            reader,
            f"{course['records_behind']['most']:,}",
            f"{present} of {all_of_them}",
            f"{counted(unread, 'partition')} |",
        ]
    )


def _in_turn(words: Iterable[str]) -> str:
    """Return what comes one after the other; what comes again at once is counted."""
    spells = ((word, len([*again])) for word, again in groupby(words))
    return ", then ".join(word if n == 1 else f"{word} ({n} times)" for word, n in spells)


def _out(hang: Mapping[str, Any]) -> str:
    if hang["killed_and_started_again_after_seconds"] is not None:
        return f"restarted after {hang['killed_and_started_again_after_seconds']:.0f} s"
    seconds = hang["out_of_the_group_after_seconds"]
    return "still in it" if seconds is None else f"{seconds:.0f} s"


def _captured(course: Played) -> str:
    said = course["said"]
    lines = [*said[:MOST_LINES]]
    if len(said) > MOST_LINES:
        lines.append(f"... and {counted(len(said) - MOST_LINES, 'line')} more like these")
    for when, views in course["console"].items():
        for view in ("state", "members"):
            if view in views:
                lines += ["", f"$ kafka-consumer-groups --describe --{view}   # {when}"]
                lines += views[view]
    told = course["told"]
    return f"### {told[0].upper()}{told[1:]}\n\n```text\n" + "\n".join(lines) + "\n```"
