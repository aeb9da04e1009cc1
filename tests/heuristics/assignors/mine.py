"""Assignors as users write them, right and wrong, for a child process to import."""

import sys

import numpy as np

from groups import Assignment, Refused
from heuristics import Plan

NUMBER = 4


def deal(group) -> Assignment:
    """Give all partitions to the first member."""
    return Assignment(group, np.zeros(group.n_partitions, int))


def while_all_are_there(group) -> Assignment:
    """Deal partitions in turn to three members or more; raise with fewer."""
    members = len(group.members)
    return Assignment(group, np.arange(group.n_partitions) % members + 0 // max(0, members - 2))


def by_name(group) -> dict:
    counts = zip(group.topics, group.partitions, strict=True)
    return {group.members[0]: {topic: np.arange(count) for topic, count in counts}}


def in_rounds(group) -> Plan:
    return Plan(deal(group), rounds=3, revoked=2)


def talk(group) -> Assignment:
    sys.stdout.write("one, two")
    return deal(group)


def unknown_member(group) -> dict:
    return {"nobody": {group.topics[0]: [0]}}


def twice(group) -> dict:
    return {member: {group.topics[0]: [0]} for member in group.members}


def beyond(group) -> dict:
    return {group.members[0]: {group.topics[0]: [99]}}


def nothing(group) -> None:
    return None


def letters(group) -> dict:
    return {group.members[0]: {group.topics[0]: "01"}}


def of_another(group) -> Assignment:
    return deal(group.only([0]))


def too_short(group) -> Assignment:
    return Assignment(group, np.zeros(1, int))


def of_more_partitions(group) -> Assignment:
    document = group.to_dict()
    document["topics"] = {topic: 9 for topic in group.topics}
    return deal(type(group).from_dict(document))


def astray(group) -> Assignment:
    return Assignment(group, group.owner, ((99, "t", 0),))


def astray_in_a_list(group) -> Assignment:
    return Assignment(group, group.owner, ([0, "t", 0],))


def in_half_rounds(group) -> Plan:
    return Plan(deal(group), rounds=1.5)


def divide(group) -> Assignment:
    return 1 / 0


def leave(group) -> Assignment:
    sys.exit("gone")


def refuse(group) -> Assignment:
    raise Refused("more than one topic")


class Least:
    """A callable with a setting."""

    def __init__(self, at: int) -> None:
        self.at = at

    def __call__(self, group) -> Assignment:
        return Assignment(group, np.full(group.n_partitions, self.at))


def local():
    def inner(group):
        return deal(group)

    return inner
