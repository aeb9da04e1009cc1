"""Assignors that hang, crash, raise or answer wrongly, for a child process to import."""

import os
import signal
import sys
import time

from groups import Assignment
from heuristics import Plan, assign

CALLS: list = []


def sleep(group) -> Plan:
    time.sleep(600)
    return Plan(Assignment(group, group.owner))


def loop(group) -> Plan:
    while True:
        pass


def leave(group) -> Plan:
    os._exit(7)


def crash(group) -> Plan:
    os.kill(os.getpid(), signal.SIGSEGV)
    return Plan(Assignment(group, group.owner))


def stumble(group) -> Plan:
    raise KeyError("t0")


def stumble_once(group) -> Assignment:
    """Raise in the first call in this process, and answer in later ones."""
    CALLS.append(group)
    if len(CALLS) == 1:
        raise KeyError("t0")
    return assign(group, "range")


def hand_out_twice(group) -> Plan:
    """Give all partitions to the first member, those of the first topic twice."""
    topics = zip(group.topics, group.partitions.tolist(), strict=True)
    held = [(0, topic, number) for topic, count in topics for number in range(count)]
    again = [triple for triple in held if triple[1] == group.topics[0]]
    return Plan(Assignment.from_holdings(group, sorted([*held, *again])))


def tell_pid(group) -> Plan:
    return Plan(Assignment(group, group.owner), rounds=os.getpid())


def count_imports(group) -> Plan:
    heavy = {"pytest", "pyspark", "ortools", "typer"} & sys.modules.keys()
    return Plan(Assignment(group, group.owner), revoked=len(heavy))


def eat(group) -> Plan:
    kept = []
    while True:
        kept.append(bytearray(20_000_000))


def as_named(group) -> Plan:
    """Call the function of this module that the group is named after, otherwise `tell_pid`."""
    return globals().get(group.name, tell_pid)(group)
