"""Assignments as the members views print them: one cell, topics with their partitions."""

from __future__ import annotations

import re

from groups.importers.lines import brief, count, refuse

_SHARED = re.compile(r"[\w.-]+:\d")
_TOPIC = re.compile(r"([^\s(),]*)\(([\d,]*)\)(?:, |$)")


def with_colons(cell: str, place: str) -> dict[str, tuple[int, ...]]:
    """Return the assignment of a cell as Kafka 4 prints it: ``t0:1,5;t1:3,4``, ``-`` for none.

    Raises
    ------
    BadInput
        Where the cell is anything else.
    """
    held: dict[str, tuple[int, ...]] = {}
    for part in () if cell == "-" else cell.split(";"):
        topic, _, numbers = part.rpartition(":")
        _add(held, topic, numbers, place)
    return held


def with_parentheses(cell: str, place: str) -> dict[str, tuple[int, ...]]:
    """Return the assignment of a cell as Kafka prints it up to 3.7: ``t0(1,5), t1(3,4)``.

    Raises
    ------
    BadInput
        Where the cell is anything else; 3.8 and 3.9 leave the topic names out.
    """
    held: dict[str, tuple[int, ...]] = {}
    at = 0
    while at < len(cell) and cell != "-":
        found = _TOPIC.match(cell, at)
        if found is None and _SHARED.match(cell):
            refuse(place, "a table of kafka-share-groups: a share group has no assignment")
        if found is None:
            refuse(place, f"assignment {brief(cell[at:])}, expected a topic as in t0(1,5)")
        topic, numbers = found.groups()
        if not topic:
            refuse(
                place,
                "Kafka 3.8 and 3.9 leave the topic names out of --members --verbose: "
                "use --describe, with --describe --members beside it for the idle members",
            )
        _add(held, topic, numbers, place)
        at = found.end()
    return held


def _add(held: dict[str, tuple[int, ...]], topic: str, numbers: str, place: str) -> None:
    if not topic:
        refuse(place, f"assignment {brief(numbers)}, expected a topic as in t0:1,5")
    if topic in held:
        refuse(place, f"topic {brief(topic)} twice in one assignment")
    found = tuple(count(number, place, "partition") for number in numbers.split(","))
    if len(set(found)) < len(found):
        refuse(place, f"a partition of {brief(topic)} twice in one assignment")
    held[topic] = tuple(sorted(found))
