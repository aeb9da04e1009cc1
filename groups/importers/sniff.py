"""Which tool wrote a text: its dialect, by what only that tool prints."""

from __future__ import annotations

import re

from groups.errors import BadInput
from groups.importers.lines import brief
from groups.importers.tools import akhq, kafka_python, kafka_ui, rpk_json, rpk_text

_CONSOLE = re.compile(
    rb"^[ \t]*(GROUP|TOPIC|CONSUMER-ID|COORDINATOR)[ \t]+[#(A-Z]|^[ \t]*Topic: ?\S"
    rb"|(Consumer|consumer|Share|Streams) group '|^[ \t]*Error: ",
    re.MULTILINE,
)
_WORDS = (b"GROUP", b"TOPIC", b"CONSUMER-ID", b"COORDINATOR", b"Topic:", b" group '", b"Error: ")
_FEW = 4096
_JSON = {
    "kafka-python": kafka_python.SIGNS,
    "rpk": rpk_json.SIGNS,
    "akhq": akhq.SIGNS,
    "kafka-ui": kafka_ui.SIGNS,
}


def sniff(name: str, data: bytes) -> str:
    """Return the dialect of a text.

    Raises
    ------
    BadInput
        Where no tool that is known here prints such a text; it says how the text begins.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        data = data.decode("utf-16", "replace").encode()
    start = data[:_FEW].lstrip(b"\xef\xbb\xbf \t\r\n")[:200]
    if not start:
        raise BadInput(f"{name}: empty, expected the output of a tool")
    if start[:1] in b"{[":
        if b'"assay-group/' in data[:_FEW]:
            raise BadInput(f"{name}: a snapshot already, nothing to import")
        for dialect, signs in _JSON.items():
            if any(sign in data for sign in signs):
                return dialect
    if any(sign in data for sign in rpk_text.SIGNS):
        return "rpk"
    if any(word in data for word in _WORDS) and _CONSOLE.search(data):
        return "console"
    line = start.splitlines()[0].decode("utf-8", "replace").strip()
    raise BadInput(
        f"{name}: begins with {brief(line)}, expected what kafka-consumer-groups --describe, "
        "kafka-topics --describe, rpk, kafka-python, Kafka UI or AKHQ print"
    )
