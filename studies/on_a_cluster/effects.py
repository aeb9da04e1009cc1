"""Effects: what a course did to its group and records, and the page of all courses.

``python -m studies on-a-cluster [COURSE ...]`` plays the named courses (default: all) on a real
broker; the other courses keep their measurements.
"""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from broker import BROKER_RELEASE
from groups import BadInput
from groups.wording import counted
from studies.on_a_cluster.course import COURSES
from studies.on_a_cluster.play import play
from studies.on_a_cluster.stage import RATE, RELEASE
from studies.page import FOLDER, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from broker import Read
    from studies.on_a_cluster.play import Partition, Played

    Told = Mapping[str, Any]

FORMAT = "assay-on-a-cluster/1"
DATA = FOLDER / "on-a-cluster.json"
PYTHON_CLIENTS = ("aiokafka", "confluent-kafka", "kafka-python")
# A rebalance without trouble takes less.
LONG_SECONDS = 10.0


def effects(played: Played) -> dict[str, object]:
    """Return the measurements for JSON; seconds are since the start of the last member."""
    course, last = played.course, played.looks[-1]
    waited = _waited(played)
    long = sorted(f"{t}-{n}" for (t, n), seconds in waited.items() if seconds > LONG_SECONDS)
    return {
        "course": course.name,
        "told": course.told,
        "members": {member: [*topics] for member, topics in course.joining.reads.items()},
        "topics": course.joining.topics,
        "hangs": [
            {
                "member": hang.member,
                "began_seconds": round(hang.began, 1),
                "out_of_the_group_after_seconds": _rounded(hang.left, hang.began),
                "killed_and_started_again_after_seconds": _rounded(hang.restarted, hang.began),
                "share_of_time_computing": round(hang.busy_share, 2),
                "has_not_returned_after_seconds": _rounded(hang.watched, 0.0),
                "ends_when_asked": hang.ended,
            }
            for hang in played.hangs
        ],
        "died": {member: round(at, 1) for member, at in played.died.items()},
        "states": _states(played),
        "state_at_the_end": last.state,
        "members_at_the_end": sorted(last.members),
        "without_a_reader_seconds": {
            "longest": round(max(waited.values()), 1),
            "partitions": len(waited),
            f"longer_than_{LONG_SECONDS:g}_seconds": len(long),
        },
        "unread_at_the_end": [f"{topic}-{n}" for topic, n in sorted(played.unread)],
        "records_behind": {
            "most": max(look.behind for look in played.looks),
            "at_the_end": last.behind,
        },
        "records_read_twice": sum(
            min(new, read.last + 1) - read.first for _, read, new in _in_order(played)
        ),
        "watched_seconds": round(last.at, 1),
        "said": played.said,
        "console": {"during": played.during, "after": played.after},
    }


def _rounded(at: float | None, since: float) -> float | None:
    return None if at is None else round(at - since, 1)


def _waited(played: Played) -> Mapping[Partition, float]:
    """Return for each partition the longest time that a record waited for its first read."""
    longest: defaultdict[Partition, float] = defaultdict(float)
    for partition, read, new in _in_order(played):
        if new <= read.last:
            at = played.written[partition]
            seconds = read.waited_seconds - (at[new] - at[read.first])
            longest[partition] = max(longest[partition], seconds)
    for partition, seconds in played.unread.items():
        longest[partition] = max(longest[partition], seconds)
    return longest


def _in_order(played: Played) -> Iterator[tuple[Partition, Read, int]]:
    """Yield (partition, read, first offset in it that is new), ordered by time.

    Records written before the start of the last member count as read.
    """
    reached = dict(played.before)
    for _, read in sorted(played.reads, key=lambda each: each[1].at):
        partition = read.topic, read.partition
        new = max(read.first, reached.get(partition, 0))
        yield partition, read, new
        reached[partition] = max(new, read.last + 1)


def _states(played: Played) -> list[tuple[str, float]]:
    """Return the (state, seconds) of the group since the last join."""
    spells: list[tuple[str, float]] = []
    for look, after in pairwise(played.looks):
        if not spells and look.state == "Stable":
            continue
        seconds = after.at - look.at
        if spells and spells[-1][0] == look.state:
            seconds += spells.pop()[1]
        spells.append((look.state, seconds))
    return [(state, round(seconds, 1)) for state, seconds in spells]


COLUMNS = (
    "played", "whose poll does not return", "out of the group after", "without a reader, longest",
    "records behind, most", "in the group at the end", "unread at the end",
)  # fmt: skip
SHOWN = (
    "sticky", "several leaders", "restarted", "restarted static", "never settles", "librdkafka",
)  # fmt: skip
# Further lines of a course repeat the same.
MOST_LINES = 30


def page_of(played: Told) -> str:
    """Return the table of all courses, and the lines of some, as Markdown."""
    courses = played["courses"]
    shown = (_captured(each) for each in courses if each["course"] in SHOWN)
    return "\n\n".join([table(COLUMNS, map(_row, courses)), *shown])


def _row(course: Told) -> list[str]:
    hangs = course["hangs"]
    who = _in_turn(hang["member"] for hang in hangs) or "nobody's"
    if course["died"]:
        who = ", ".join(f"{member} dies" for member in course["died"])
    waited = course["without_a_reader_seconds"]
    long = waited[f"longer_than_{LONG_SECONDS:g}_seconds"]
    reader = f"{waited['longest']:.1f} s"
    if long:
        reader += f"; more than 10 s: {long} of {waited['partitions']} partitions"
    return [
        course["told"],
        who,
        _in_turn(_out(hang) for hang in hangs) or "-",
        reader,
        f"{course['records_behind']['most']:,}",
        f"{len(course['members_at_the_end'])} of {len(course['members'])}",
        counted(len(course["unread_at_the_end"]), "partition"),
    ]


def _in_turn(words: Iterable[str]) -> str:
    """Return words joined by "then"; a word repeated in a row is counted."""
    spells = ((word, len([*again])) for word, again in groupby(words))
    return ", then ".join(word if n == 1 else f"{word} ({n} times)" for word, n in spells)


def _out(hang: Mapping[str, Any]) -> str:
    if hang["killed_and_started_again_after_seconds"] is not None:
        return f"restarted after {hang['killed_and_started_again_after_seconds']:.0f} s"
    seconds = hang["out_of_the_group_after_seconds"]
    return "still in it" if seconds is None else f"{seconds:.0f} s"


def _captured(course: Told) -> str:
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


def run(names: Sequence[str]) -> None:
    """Play the courses of these names; all if there are none.

    Raises
    ------
    BadInput
        If there is no course of a name.
    """
    courses = {course.name: course for course in COURSES}
    for name in names or courses:
        if name not in courses:
            raise BadInput(f"{name}: not a course; there are {', '.join(map(repr, courses))}")
    for name in names or courses:
        sys.stderr.write(f"{name}: {courses[name].told}\n")
        measured = effects(play(courses[name], lambda line: sys.stderr.write(f"  {line}\n")))
        where = {
            "date": datetime.now(UTC).date().isoformat(),
            "broker": BROKER_RELEASE,
            "clients": {"java": RELEASE, **{name: version(name) for name in PYTHON_CLIENTS}},
            "processors": os.cpu_count(),
            "runnable": round(os.getloadavg()[0], 1),
        }
        keep({name: {**measured, **where}})


def keep(played: dict[str, dict[str, object]]) -> None:
    """Write the measurements of these courses, by name, beside those of the others."""
    # Read again each time, as another process may play other courses.
    told = json.loads(DATA.read_text("utf-8"))
    found = {each["course"]: each for each in told["courses"]} | played
    document = {
        "format": FORMAT,
        "records_a_second_to_each_partition": RATE,
        "courses": [found[course.name] for course in COURSES if course.name in found],
    }
    DATA.write_text(f"{json.dumps(document, indent=1)}\n", encoding="utf-8")
