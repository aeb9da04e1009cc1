"""Functions that a worker's child runs, and an assignor: they fail at groups of certain names.

For example, the group `killed-harm` makes the child kill itself.
"""

import ctypes
import os
import signal
import time

from compare.fleet import worker
from compare.fleet.items import failure_of
from compare.fleet.optima import solve_and_score
from groups import Assignment


def harm(name: str) -> None:
    """Crash, raise, hang or fill the memory if a group's name asks for it."""
    kind, _, of = name.partition("-")
    if of != "harm":
        return
    if kind == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "segfault":
        ctypes.string_at(0)
    if kind == "raise":
        raise KeyError("arc 7")
    if kind == "hang":
        time.sleep(3600)
    if kind == "loop":
        while True:
            pass
    if kind == "greedy":
        kept = []
        while True:
            kept.append(bytearray(20_000_000))


def solve_rows(job, rows, lack):
    for name in rows.column("group").to_pylist():
        harm(name)
    return solve_and_score(job, rows, lack)


def solve_rows_of_others(job, rows, lack):
    """Fail only if assignors are to be called."""
    return (solve_rows if lack.others else solve_and_score)(job, rows, lack)


def read_items(job, items):
    for item in items:
        harm(failure_of(item, "").group or "")
    return worker.read_items(job, items)


def by_name(group) -> Assignment:
    """Keep all owners, unless the group's name asks for a failure."""
    harm(group.name)
    return Assignment(group, group.owner)
