"""An assignor that comes to grief on some groups, for a child process to import."""

import os
import time

from groups import Assignment, Failed, Refused
from heuristics import Plan
from heuristics.written import range


def plan(group) -> Plan:
    if group.name == "hangs":
        time.sleep(600)
    if group.name == "dies":
        os._exit(7)
    if group.name == "fails":
        raise Failed("broke down")
    if group.name == "raises":
        raise KeyError("a")
    if group.name == "refused":
        raise Refused("not mine")
    if group.name == "gives nothing":
        return Plan(Assignment(group, group.owner))
    return range.plan(group)
