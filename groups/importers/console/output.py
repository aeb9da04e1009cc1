"""Reads the text of Kafka's console tools: tables, messages, and noise around them."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from groups.documents.texts import without_gz
from groups.importers.console.groups import read_table
from groups.importers.console.headers import VIEWS, is_header, kind_of
from groups.importers.console.remarks import is_remark, remarks_among
from groups.importers.console.tables import Layout, Table, unwrap
from groups.importers.lines import (
    PROMPT_ENDS,
    WITHOUT_HEADER,
    Misread,
    brief,
    count,
    is_like_a_row,
    is_noise,
    named_group,
    refuse,
)
from groups.importers.seen import (
    Finding,
    Refusal,
    Remark,
    TopicSize,
    View,
    absent,
    rebalancing,
    shared,
)
from groups.wording import NAMED_AFTER_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator

_END = r"' (has no active members|is rebalancing|does not exist)\."
_MESSAGE = re.compile(
    rf"(?:Warning: |Error: )?(?:The )?([Cc]onsumer|Share|Streams) group '(.*){_END}"
)
_ENDS = re.compile(_END)
_TOPIC = re.compile(
    r"\s*Topic:\s*(\S+)\s+(?:TopicId:\s*\S+\s+)?(PartitionCount|Partition):\s*(\S+)"
)
_NARROWEST = 60
_TRACE = re.compile(r"\s+at \S|Caused by: |\s*\.\.\. \d+ more|[a-z]\w*(\.\w+)+(Exception|Error)\b")
_FAILED = re.compile(r"Error: |Error \w|Exception in thread ")
_REASONS = {"is rebalancing": rebalancing, "does not exist": absent}


def read(source: str, text: str) -> Iterator[Finding]:
    """Yield the findings in a cleaned text of the console tools.

    It ends with a Refusal at the first line outside the tables that may be a part of one.
    """
    lines = text.split("\n")
    last = next((n for n in range(len(lines), 0, -1) if lines[n - 1].strip()), 0)
    group, at = None, 0
    nameless: list[list[str]] = []
    while at < len(lines):
        line = lines[at]
        if is_header(line):
            columns = line.split()
            if group is None and columns[0] != "GROUP":
                if columns in nameless:
                    reason = "a second table without a group's name: put each into its own file"
                    yield Refusal(source, f"{source}:{at + 1}", reason, (_named_after(source),))
                nameless.append(columns)
            found, at = _table(source, lines, at, group, last)
            yield from found
        elif _is_topic_line(line):
            topics, at = _topics(lines, at)
            yield from _read_topics(source, topics)
        else:
            group = named_group(line) or group
            finding = _message(source, at + 1, line)
            if finding is not None:
                yield finding
            elif not is_noise(line) and not _TRACE.match(line[:2000]):
                if not is_remark(line):
                    yield Refusal(source, f"{source}:{at + 1}", _stray(line))
                    return
                yield Remark(source, f"{source}:{at + 1}", line)
            at += 1


def _table(
    source: str, lines: list[str], at: int, group: str | None, last: int
) -> tuple[list[Finding], int]:
    """Return the findings of the table at a line, and of messages within, and where it ends."""
    rows: list[tuple[int, str]] = []
    noise: list[tuple[int, str]] = []
    found: list[Finding] = []
    header, end = lines[at], at + 1
    whole = unwrap(lines, at)
    if whole is not None:
        header, rows, end = whole
    while whole is None and end < len(lines):
        line = lines[end]
        if is_header(line) or _is_topic_line(line) or named_group(line):
            break
        message = _message(source, end + 1, line)
        if message is not None:
            found.append(message)
        else:
            (noise if is_noise(line) else rows).append((end + 1, line))
        end += 1
    rows = sorted([*rows, *_rows_among(noise, rows)])
    ends_the_text = (end if whole else rows[-1][0] if rows else at + 1) == last
    if whole is None and rows and kind_of(header.split()) in VIEWS:
        remarks = remarks_among(rows)
        found += [Remark(source, f"{source}:{n}", line) for n, line in remarks.items()]
        rows = [row for row in rows if row[0] not in remarks]
    assumed: tuple[str, ...] = ()
    if group is None and lines[at].split(None, 1)[0] != "GROUP":
        group = _named_after(source)
        assumed = (f"{NAMED_AFTER_FILE}, the text does not show its name",)
    table = Table(
        source, at + 1, Layout.of(header), tuple(rows), group or "", assumed,
        ends_the_text=ends_the_text, has_no_line_end=ends_the_text and last == len(lines),
    )  # fmt: skip
    return [*found, *read_table(table)], end


def _rows_among(
    noise: list[tuple[int, str]], rows: list[tuple[int, str]]
) -> Iterator[tuple[int, str]]:
    """Yield the lines of noise that begin like a row of the table, maybe after a prompt's sign."""
    begins = {line.split(None, 1)[0] for _, line in rows}
    for number, line in noise:
        first, *others = line.split(None, 2) or [""]
        if first in begins or (first in PROMPT_ENDS and begins.intersection(others[:1])):
            yield number, line


def _named_after(source: str) -> str:
    return PurePath(without_gz(source)).stem


def _topics(lines: list[str], at: int) -> tuple[list[tuple[int, str]], int]:
    """Return the lines of topics from a line on, wrapped ones joined, and where they end."""
    found: list[tuple[int, str]] = []
    for end in range(at, len(lines)):
        line = lines[end]
        if _is_topic_line(line):
            found.append((end + 1, line))
            continue
        if len(lines[end - 1]) < _NARROWEST or is_noise(line) or is_header(line):
            return found, end
        if _message("", 0, line) is not None:
            return found, end
        found[-1] = (found[-1][0], (found[-1][1] + line)[: _NARROWEST * 100])
    return found, len(lines)


def _is_topic_line(line: str) -> bool:
    """Return whether a line is from ``kafka-topics.sh --describe``."""
    return "Topic:" in line[:40] and line.lstrip().startswith("Topic:")


def _read_topics(source: str, lines: list[tuple[int, str]]) -> Iterator[Finding]:
    """Yield the partition counts of topics, from numbered lines.

    A topic without its line of totals is refused, and so is one whose partitions are incomplete.
    """
    totals: dict[str, tuple[str, int]] = {}
    numbers: dict[str, set[int]] = {}
    place = ""
    try:
        for number, line in lines:
            place = f"{source}:{number}"
            found = _TOPIC.match(line[:2000])
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


def _message(source: str, number: int, line: str) -> View | Refusal | None:
    text = line[:2000].strip()
    place = f"{source}:{number}"
    found = _MESSAGE.fullmatch(text)
    if found is not None:
        kind, group, what = found.groups()
        if _ENDS.search(group):
            return Refusal(source, place, "two messages in one line: put each on its own")
        if kind != "Share" and what not in _REASONS:
            return View(
                source, place, group, state_known=True, member_count=0, streams=kind == "Streams"
            )
        reason = shared if kind == "Share" else _REASONS[what]
        return Refusal(source, place, reason(group), (group,), not_to_be_had=True)
    if _FAILED.match(text):
        error = text.removeprefix("Error: ")[:300]
        return Refusal(source, place, f"the tool ended with an error: {error}")
    return None


def _stray(line: str) -> str:
    if is_like_a_row(line):
        return WITHOUT_HEADER
    expected = "expected a table of --describe or nothing; what follows is not read"
    return f"{brief(line.strip())}, {expected}"
