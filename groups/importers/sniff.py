"""Which tool wrote a text: its dialect, by what only that tool prints."""

from __future__ import annotations

import re

from groups.errors import BadInput
from groups.importers import kafka_python
from groups.importers.lines import brief

_CONSOLE = re.compile(
    rb"^[ \t]*(GROUP|TOPIC|CONSUMER-ID|COORDINATOR)[ \t]+[#(A-Z]"
    rb"|^\s*Topic: ?\S|Consumer group '|consumer group '|^Error: ",
    re.MULTILINE,
)
_FEW = 64 * 1024


def sniff(name: str, data: bytes) -> str:
    """Return the dialect of a text.

    Raises
    ------
    BadInput
        Where no tool that is known here prints such a text; it says how the text begins.
    """
    head = data[:_FEW]
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        data = data.decode("utf-16", "replace").encode()
        head = data[:_FEW]
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:200]
    if not start:
        raise BadInput(f"{name}: empty, expected the output of a tool")
    if start[:1] in b"{[":
        if any(sign in data for sign in kafka_python.SIGNS):
            return "kafka-python"
    elif _CONSOLE.search(data):
        return "console"
    line = start.splitlines()[0].decode("utf-8", "replace").strip()
    raise BadInput(
        f"{name}: begins with {brief(line)}, expected what kafka-consumer-groups --describe, "
        "kafka-topics --describe or kafka-python print"
    )
