"""Small seeded groups with everything in them that an objective may ask for."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np

from groups import Group
from groups.columns.racks import Racks


def random_group(rng: random.Random, *, members: int, partitions: int) -> Group:
    """Return a group of at most `members` members and `partitions` partitions.

    Subscriptions differ, or are equal in one group out of four; claims may be of several
    generations, contested, or on topics and partitions that are gone; some topics have no reader.
    Every partition has lag, weight and replica racks, every member a rack, a host in it and a
    capacity.
    """
    racks = ("a", "b", "c")[: rng.randint(1, 3)]
    topics: dict[str, Any] = {}
    left = rng.randint(0, partitions) if rng.random() < 0.1 else partitions
    while left > 0 and len(topics) < 6:
        count = rng.randint(1, left)
        topics[f"t{len(topics)}"] = _topic(rng, count, racks)
        left -= count
    if rng.random() < 0.1:
        topics["empty"] = 0
    count = rng.randint(0, members) if rng.random() < 0.2 else members
    equal = rng.random() < 0.25
    likes = rng.choice((0.3, 0.6, 0.9))
    several = rng.random() < 0.5
    said = {}
    # Of its own, so that everything else is as it was before there were hosts.
    hosts = random.Random(f"{count} {sorted(topics)} {likes}")
    for m in range(count):
        member: dict[str, Any] = {
            "subscription": [t for t in topics if equal or rng.random() < likes],
            "rack": rng.choice(racks),
            "owned": {},
            "capacity": (1, 3, 2, 10, 1)[m % 5],
        }
        member["host"] = f"{member['rack']}{hosts.randrange(2)}"
        if several:
            member["generation"] = rng.randint(3, 5)
        said[f"c{m}"] = member
    _claim(rng, topics, list(said.values()))
    document = {"format": "assay-group/1", "group": "random", "topics": topics, "members": said}
    return with_copies(hosts, Group.from_dict(document))


def with_copies(rng: random.Random, group: Group) -> Group:
    """Return the group with partitions that keep state, and copies of it on some hosts.

    Mostly one is where the owner is.
    """
    likes, has_copy = rng.choice((0, 0.5, 0.8, 1)), rng.choice((0, 0.3, 0.6))
    hosts = [one.host for one in group.details] or [None] * len(group.members)
    copies: list[list[str] | None] = []
    for owner in group.owner.tolist():
        some = {host for host in sorted({*hosts} - {None}) if rng.random() < has_copy}
        if owner >= 0 and rng.random() < 0.9:
            some.add(hosts[owner])
        copies.append(sorted(some) if rng.random() < likes else None)
    return replace(group, copies=Racks.of(hosts, copies))


def mixed_magnitudes(rng: random.Random, group: Group, *, below: int) -> Group:
    """Return the group with lags and weights from units to tens of millions side by side.

    The score of all pairs of members stays below a number.
    """
    magnitudes = [10 ** rng.randint(0, 7) for _ in range(rng.randint(1, 3))]

    def column() -> np.ndarray:
        found = []
        for _ in range(group.n_partitions):
            most = rng.choice(magnitudes)
            found.append(
                rng.choice((most, rng.randint(0, most), max(0, most - rng.randint(1, 3))))
            )
        shrink = 1 + sum(found) * max(1, len(group.members) - 1) // below
        return np.array(found, np.int64) // shrink

    return replace(group, lag_records=column(), weight=column())


def _topic(rng: random.Random, count: int, racks: tuple[str, ...]) -> dict[str, Any]:
    greatest = rng.choice((3, 100))
    return {
        "partitions": count,
        "lag": [rng.randint(0, greatest) for _ in range(count)],
        "weight": [rng.randint(0, greatest) for _ in range(count)],
        "racks": [
            sorted(rng.sample(racks, rng.randint(1, min(2, len(racks))))) for _ in range(count)
        ],
    }


def _claim(rng: random.Random, topics: dict[str, Any], members: list[dict[str, Any]]) -> None:
    claimed = rng.choice((0, 0.5, 0.9, 1))
    newcomers = rng.choice((0, 1))
    holders = members[newcomers:]
    favourite = rng.random() < 0.3
    for topic, described in topics.items():
        count = described if isinstance(described, int) else described["partitions"]
        for number in range(count + 1):
            if not holders or rng.random() >= claimed or (number == count and rng.random() < 0.9):
                continue
            readers = [m for m in holders if topic in m["subscription"]]
            strays = not readers or rng.random() < 0.1
            among = holders if strays else readers[:1] if favourite else readers
            for member in rng.sample(among, min(len(among), 2 if rng.random() < 0.15 else 1)):
                member["owned"].setdefault(topic, []).append(number)
    if holders and rng.random() < 0.1:
        rng.choice(holders)["owned"]["gone"] = [0]
