"""What a worker's child is asked to do, done for real, but it comes to harm at certain groups.

And an assignor that does its harm by the name of the group.
"""

import ctypes
import os
import signal
import time

from compare.fleet import worker
from compare.fleet.items import failure_of
from compare.fleet.worker import of_bytes
from groups import Assignment


def harm(name: str) -> None:
    """Come to harm as the name of a group says."""
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


def solve_rows(job, rows: bytes, lack) -> bytes:
    for name in of_bytes(rows).column("group").to_pylist():
        harm(name)
    return worker.solve_rows(job, rows, lack)


def solve_rows_of_others(job, rows: bytes, lack) -> bytes:
    """Come to harm only where assignors are asked."""
    return (solve_rows if lack.others else worker.solve_rows)(job, rows, lack)


def read_items(job, items) -> bytes:
    for item in items:
        harm(failure_of(item, "").group or "")
    return worker.read_items(job, items)


def by_name(group) -> Assignment:
    """Leave everything where it is, unless the group's name says to do harm."""
    harm(group.name)
    return Assignment(group, group.owner)
