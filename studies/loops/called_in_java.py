"""Calls one of Kafka's assignors in a JVM that a debugger may look into.

``python -m studies.loops.called_in_java ASSIGNOR``: the JVM says on standard output where it
listens; the group's document comes as one line on standard input once the debugger is there.
"""

from __future__ import annotations

import json
import sys

from groups import Group
from heuristics import assignor_named
from heuristics.shipped.java import jvm


def main() -> None:
    """Call it."""
    jvm.start("-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0")
    assignor_named(sys.argv[1]).function(Group.from_dict(json.loads(sys.stdin.readline())))


if __name__ == "__main__":
    main()
