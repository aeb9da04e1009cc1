"""JSON of a tool of one's own: ``{member: {topic: [partition, ...]}}``, who holds what."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from groups.documents import fields
from groups.documents.json_files import parse_json
from groups.documents.texts import STANDARD_INPUT
from groups.importers.seen import Finding, SeenMember, View
from groups.importers.tools.json_groups import held_by, partition_number

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = r'"(?:[^"\\]|\\.)+"\s*:\s*'
# It begins with a member that holds nothing, or a list of a topic, whatever is in that.
BEGINNING = re.compile(rf"\{{\s*{_NAME}\{{\s*(?:\}}|{_NAME}\[)")


def read(source: str, content: str) -> Iterator[Finding]:
    """Yield the group that a plan shows, under the name of its file.

    Raises
    ------
    BadInput
        Where the text is no such JSON; the message names the place.
    """
    members = []
    for member, topics in fields.mapping(parse_json(content), "").items():
        fields.name(member, "member")
        pairs = [
            (topic, partition_number(number, f"{member}.{topic}[{i}]"))
            for topic, numbers in fields.mapping(topics, member).items()
            for i, number in enumerate(fields.listed(numbers, f"{member}.{topic}"))
        ]
        members.append(SeenMember(f"{source}: {member}", member, held_by(pairs, member)))
    name = "plan" if source == STANDARD_INPUT else PurePath(source).name.split(".")[0] or "plan"
    assumed = (f"group: {name}, as its file is named",)
    yield View(source, source, name, tuple(members), every_member=True, assumed=assumed)
