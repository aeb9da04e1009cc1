"""Text of ``kafka-topics.sh --describe``: the partition count of each topic."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from groups.importers.lines import Misread, brief, count, refuse
from groups.importers.seen import Finding, Refusal, TopicSize

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE = re.compile(
    r"\s*Topic:\s*(\S+)\s+(?:TopicId:\s*\S+\s+)?(PartitionCount|Partition):\s*(\S+)"
)


def is_topic_line(line: str) -> bool:
    """Return whether a line is one of ``kafka-topics.sh --describe``."""
    return "Topic:" in line[:40] and line.lstrip().startswith("Topic:")


def read_topics(source: str, lines: list[tuple[int, str]]) -> Iterator[Finding]:
    """Yield the sizes of the topics, from numbered lines.

    A topic without its line of totals, and one whose partitions are not all there, is refused.
    """
    totals: dict[str, tuple[str, int]] = {}
    numbers: dict[str, set[int]] = {}
    place = ""
    try:
        for number, line in lines:
            place = f"{source}:{number}"
            found = _LINE.match(line[:2000])
            if found is None:
                refuse(place, f"{brief(line.strip())}, expected a line of a topic")
            topic, what, value = found.groups()
            if what == "Partition":
                numbers.setdefault(topic, set()).add(count(value, place, "Partition"))
            elif topic in totals:
                refuse(place, f"topic {brief(topic)} a second time")
            else:
                totals[topic] = (place, count(value, place, "PartitionCount"))
    except Misread as error:
        yield Refusal(source, error.place, error.reason)
        return
    for topic in sorted(numbers.keys() - totals.keys()):
        yield Refusal(source, place, f"topic {brief(topic)} has no line with its PartitionCount")
    for topic, (at, size) in totals.items():
        shown = numbers.get(topic)
        if shown is not None and (len(shown) != size or max(shown) != size - 1):
            yield Refusal(source, at, f"PartitionCount {size}, but {len(shown)} partitions follow")
        else:
            yield TopicSize(source, at, topic, size)
