"""Tools: the main classes behind the scripts of a Kafka distribution."""

from __future__ import annotations

import os
from functools import cache
from zipfile import ZipFile

from groups.errors import BadInput

# The first one that a release has; the later ones are where older releases have them.
MAIN = {
    "acls": ("org.apache.kafka.tools.AclCommand", "kafka.admin.AclCommand"),
    "configs": ("org.apache.kafka.tools.ConfigCommand", "kafka.admin.ConfigCommand"),
    "consumer-groups": (
        "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
        "kafka.admin.ConsumerGroupCommand",
    ),
    "get-offsets": ("org.apache.kafka.tools.GetOffsetShell",),
    "groups": ("org.apache.kafka.tools.GroupsCommand",),
    "share-groups": ("org.apache.kafka.tools.consumer.group.ShareGroupCommand",),
    "topics": ("org.apache.kafka.tools.TopicCommand", "kafka.admin.TopicCommand"),
}


@cache
def main_class(name: str, classes: str) -> str:
    """Return the main class of a tool in a class path.

    Raises
    ------
    BadInput
        Where the tool is not known, or the release does not have it.
    """
    if name not in MAIN:
        raise BadInput(f"{name}: not a tool; there are {', '.join(sorted(MAIN))}")
    jars = [jar for jar in classes.split(os.pathsep) if "kafka-tools-" in jar or "kafka_2" in jar]
    there: set[str] = set()
    for jar in jars:
        with ZipFile(jar) as opened:
            there.update(opened.namelist())
    for main in MAIN[name]:
        if f"{main.replace('.', '/')}.class" in there:
            return main
    raise BadInput(f"{name}: this release of Kafka does not have it")
