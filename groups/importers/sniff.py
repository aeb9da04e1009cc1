"""Which tool wrote a text: its dialect, by what only that tool prints."""

from __future__ import annotations

import re

from groups.errors import BadInput
from groups.importers.lines import WITHOUT_HEADER, brief, is_like_a_row, refuse
from groups.importers.tools import json_groups, rpk_text

_CONSOLE = re.compile(
    r"^[^\S\n]*(GROUP|TOPIC|CONSUMER-ID|COORDINATOR)[^\S\n]+[#(A-Z]|^[ \t]*Topic: ?\S"
    r"|(Consumer|consumer|Share|Streams) group '|^[ \t]*Error: ",
    re.MULTILINE,
)
_WORDS = ("GROUP", "TOPIC", "CONSUMER-ID", "COORDINATOR", "Topic:", " group '", "Error: ")
_FEW = 4096


def sniff(name: str, text: str) -> str:
    """Return the dialect of a text, of a console tool's where it is cleaned.

    Raises
    ------
    BadInput
        Where no tool that is known here prints such a text; it says how the text begins.
    """
    start = text.lstrip()[:_FEW]
    if not start:
        raise BadInput(f"{name}: empty, expected the output of a tool")
    if start[0] in "{[":
        if '"assay-group/' in start or '"assay-streams/' in start:
            raise BadInput(f"{name}: a snapshot already, nothing to import")
        for dialect, signs in json_groups.SIGNS.items():
            if any(sign in text for sign in signs):
                return dialect
        if json_groups.PLAN.match(start):
            return "plan"
    if any(sign in text for sign in rpk_text.SIGNS):
        return "rpk"
    if any(word in text for word in _WORDS) and _CONSOLE.search(text):
        return "console"
    for number, line in enumerate(text[: len(text) - len(text.lstrip()) + _FEW].split("\n"), 1):
        if is_like_a_row(line):
            refuse(f"{name}:{number}", WITHOUT_HEADER)
    raise BadInput(
        f"{name}: begins with {brief(start.splitlines()[0].strip())}, expected what "
        "kafka-consumer-groups --describe, kafka-topics --describe, rpk, kafka-python, Kafka UI "
        "or AKHQ print, or {member: {topic: [partition]}}"
    )
