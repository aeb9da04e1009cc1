"""Lines of terminal text: cleans them, recognises noise, and reads the numbers in them."""

from __future__ import annotations

import re
from typing import NoReturn

from groups.errors import BadInput
from groups.importers.console.headers import STARTS

MOST_LINES = 5_000_000
MOST_NUMBER = 2**31 - 1
WITHOUT_HEADER = "a row without its header: copy the line that begins with GROUP too"
_ESCAPE = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")
_COMMAND = re.compile(
    r"kafka-(consumer-groups|topics)(\.sh|\.bat)?\s+--|\brpk\s+(group|topic)\s+describe\b"
)
_LOG = re.compile(
    r"(```|[-=_*+#]{3,}$|\{(noformat|code)\b[^}]*\}$|</?(pre|code)>$|~$|\(END\)$|--More--|log4j:"
    r"|SLF4J[:(]|WARN(ING)?: |INFO: |Note: |Picked up |Warning: |Last login: "
    r"|OpenJDK \S+ Server VM warning|\[?\d{4}-\d\d-\d\d[ T][\d:.,]+\]? (WARN|INFO|DEBUG|ERROR) "
    r"|Defaulted container |Unable to use a TTY)"
)
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_ROW = re.compile(r"\S\s+\d+\s+(-|\d+)\s+(-|\d+)\s+(-|-?\d+)\s+\S|\s\S*/\d\S*\s+\S+\s+\d+(\s|$)")
_IN_A_HEADER = re.compile("PARTITION|PartitionCount|ASSIGNMENTS")
_FIRST_COLUMN = re.compile(rf"({'|'.join(STARTS)}|Topic:)\s")
_WRITTEN_OTHERWISE = (
    *((mark, "") for mark in "\ufeff\u200b\u2060"),
    *(("\r\n", "\n"), ("\r", "\n"), ("\xa0", " ")),
)
_LONG_DASHES = "\u2013\u2014\u2212"
_DRAWN = re.compile(r"^[^\S\n]*\|(.*)\|[^\S\n]*$", re.MULTILINE)
_LONGEST_PREFIX = 200
PROMPT_ENDS = ("$", "#", "%", ">", "\u276f")
_GROUP_OPTION = re.compile(r"--group[ =]+(\"[^\"]{1,300}\"|'[^']{1,300}'|\S{1,300})")


def cleaned(text: str) -> str:
    """Return the text of a console tool as the tool printed it, line for line.

    It removes what a terminal, a mail or a log added: colours, byte order marks, carriage returns,
    non-breaking blanks, long dashes for missing values, and prefixes of every line of a table,
    such as quote signs, line numbers or times. In a table drawn with bars, tabs replace the bars.

    Raises
    ------
    BadInput
        If there are more than `MOST_LINES` lines, or the text has a zero byte: no tool prints any.
    """
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise BadInput(f"line {line}: a zero byte, the file is damaged")
    if text.count("\n") + text.count("\r") > MOST_LINES:
        raise BadInput(f"more than {MOST_LINES} lines")
    if "\x1b" in text:
        text = _ESCAPE.sub("", text)
    for found, meant in _WRITTEN_OTHERWISE:
        text = text.replace(found, meant)
    if any(dash in text for dash in _LONG_DASHES):
        text = re.sub(rf"(?<!\S)[{_LONG_DASHES}](?!\S)", "-", text)
    return _without_prefixes(text)


def _without_prefixes(text: str) -> str:
    """Return a text without prefixes that a header and the next line share, except for digits."""
    prefixes: dict[str, None] = {}
    for found in _IN_A_HEADER.finditer(text):
        start = text.rfind("\n", 0, found.start()) + 1
        column = _FIRST_COLUMN.search(text, start, found.start())
        if column is None:
            continue
        prefix = text[start : column.start()]
        if not prefix.strip() or prefix[-1].isalnum() or len(prefix) > _LONGEST_PREFIX:
            break
        if prefix.strip() == "|" and "|" in text[start + len(prefix) : found.start()]:
            return _DRAWN.sub(_with_tabs, text)
        signs = re.sub(r"\d+", r"\\d+", re.escape(prefix.strip()))
        blanks = prefix[len(prefix.rstrip()) :]
        before = rf"[ \t]*{signs}(?:{blanks}|[ \t]*$)" if blanks else rf"[ \t]*{signs}"
        following = text.find("\n", found.start()) + 1
        if following and re.compile(rf"{before}[ \t]*\S").match(text, following):
            prefixes[before] = None
    if not prefixes:
        return text
    return re.compile(rf"^(?:{'|'.join(prefixes)})", re.MULTILINE).sub("", text)


def _with_tabs(line: re.Match[str]) -> str:
    cells = line[1].replace("|", "\t")
    return cells if cells.strip("\t -:") else ""


def is_like_a_row(line: str) -> bool:
    """Return whether a line looks like a row of ``kafka-consumer-groups.sh --describe``."""
    return _ROW.search(line[:2000]) is not None


def is_noise(line: str) -> bool:
    """Return whether a line is no part of a table: blank, a prompt, a command, a log, a fence."""
    text = line[:2000].strip()
    if not text or _LOG.match(text) or _COMMAND.search(text):
        return True
    words = text.split(None, 3)
    if words[0] in PROMPT_ENDS:
        return not is_like_a_row(text.replace("|", " "))
    return len(words) < 4 and words[-1].endswith(PROMPT_ENDS) and text[0] != "<"


def named_group(line: str) -> str | None:
    """Return the one group that a command line names, None if it names none or several."""
    if "--group" not in line[:2000] or not _COMMAND.search(line[:2000]):
        return None
    found = {name.strip("\"'") for name in _GROUP_OPTION.findall(line[:2000])}
    return found.pop() if len(found) == 1 else None


class Misread(BadInput):
    """A place in a text that breaks a rule; `place` and `reason` are kept apart."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"{place}: {reason}")
        self.place = place
        self.reason = reason


class TwoMoments(Misread):
    """Two views of a group that contradict each other."""


class NotToBeHad(Misread):
    """A group that has no assignment because of its state or kind; the text itself is good."""


def refuse(place: str, reason: str) -> NoReturn:
    """Raise Misread at a place."""
    raise Misread(place, reason)


def check_topic(name: str, place: str) -> None:
    """Refuse a name that Kafka does not allow for a topic.

    Raises
    ------
    Misread
        If it is empty, longer than 249 characters, or has any but letters, digits and ``._-``.
    """
    if not _TOPIC.fullmatch(name):
        refuse(place, f"topic {brief(name)}, expected letters, digits, dot, underscore or dash")


def count(text: str, place: str, what: str, *, most: int = MOST_NUMBER) -> int:
    """Return a number of 0 to `most` as a table prints it.

    Raises
    ------
    Misread
        If the text is anything else, such as a negative number.
    """
    if not (text.isascii() and text.isdigit() and len(text) <= 19 and int(text) <= most):
        refuse(place, f"{what} {brief(text)}, expected a number of 0 or more")
    return int(text)


def brief(text: str) -> str:
    """Return a text for an error message: quoted, and cut if it is long."""
    return repr(text if len(text) <= 80 else f"{text[:77]}...")
