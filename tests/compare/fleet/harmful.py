"""What a worker's child is asked to do, done for real, but it comes to harm at certain groups.

And an assignor that does its harm by the name of the group.
"""

import ctypes
import os
import signal
import time
from pathlib import Path

from compare.runs.work import reading, requests
from compare.runs.work.wire import of_bytes
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


def solve_rows(job, rows: bytes, lack):
    for name in of_bytes(rows).column("group").to_pylist():
        harm(name)
    return requests.solve_rows(job, rows, lack)


def score_rows(job, rows: bytes, kept: bytes, assignors: tuple[str, ...]):
    for name in of_bytes(rows).column("group").to_pylist():
        harm(name)
    return requests.score_rows(job, rows, kept, assignors)


def read_items(job, items):
    for item in items:
        harm(reading.name_in(item) or "")
    return requests.read_items(job, items)


def read_while_it_changes(job, items):
    found = requests.read_items(job, items)
    for item in items:
        file = Path(item.source)
        file.write_text(file.read_text().replace("first", "other"))
    return found


def by_name(group) -> Assignment:
    """Leave everything where it is, unless the group's name says to do harm."""
    harm(group.name)
    return Assignment(group, group.owner)


def slowly(group) -> Assignment:
    """Leave everything where it is, after a while."""
    time.sleep(0.02)
    return Assignment(group, group.owner)
