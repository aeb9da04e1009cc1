"""Small random groups, by seed or drawn by Hypothesis, with the columns of all tiers."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

from groups import Group, values
from groups.columns.racks import Racks
from groups.tiers import is_flow
from optimal import solve
from tests.optimal.small_groups import document

if TYPE_CHECKING:
    from collections.abc import Sequence

STATE = ("stateful_balance", "restores")
BESIDE = ("balance", "load_squares", "host_balance", "stickiness")
TOPICS = ("t0", "t1", "t2", "t3", "t4")


@st.composite
def documents(
    draw: st.DrawFn, *, equal: bool | None = False, least_members: int = 0, rivals: int = 2
) -> dict[str, Any]:
    """Draw an ``assay-group/1`` document: members m0, m1, ...; some subscribe to missing topics.

    Up to `rivals` members claim each partition, and one number past the last of a topic. `equal`
    is whether all members have the same subscription; with None that is drawn.
    """
    topics: dict[str, Any] = {}
    for topic in TOPICS[: draw(st.integers(0, 5))]:
        lag = draw(st.lists(st.integers(0, 99), max_size=5))
        racks = [draw(st.lists(st.sampled_from("abc"), max_size=2, unique=True)) for _ in lag]
        topics[topic] = {"partitions": len(lag), "lag": lag, "weight": lag[::-1], "racks": racks}
    reads = st.sets(st.sampled_from(TOPICS)).map(sorted)
    if draw(st.booleans()) if equal is None else equal:
        reads = st.just(draw(reads))
    members = {
        f"m{m}": {
            "subscription": draw(reads),
            "rack": draw(st.sampled_from("abc")),
            "generation": draw(st.integers(-1, 3)),
            "owned": {},
        }
        for m in range(draw(st.integers(least_members, 5)))
    }
    for topic, described in topics.items():
        for number in range(described["partitions"] + 1 if members else 0):
            holders = st.lists(st.sampled_from(sorted(members)), max_size=rivals, unique=True)
            for member in draw(holders):
                members[member]["owned"].setdefault(topic, []).append(number)
    return document(topics, members)


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
    described = {}
    # A generator of its own for hosts, so that the other draws stay those of earlier versions.
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
        described[f"c{m}"] = member
    _claim(rng, topics, list(described.values()))
    return with_copies(hosts, Group.from_dict(document(topics, described, group="random")))


def with_copies(rng: random.Random, group: Group) -> Group:
    """Return the group with state on some partitions, and copies of it on some hosts.

    Mostly one copy is on the owner's host.
    """
    keeps_state, has_copy = rng.choice((0, 0.5, 0.8, 1)), rng.choice((0, 0.3, 0.6))
    hosts = [one.host for one in group.details] or [None] * len(group.members)
    copies: list[list[str] | None] = []
    for owner in group.owner.tolist():
        chosen = {host for host in sorted({*hosts} - {None}) if rng.random() < has_copy}
        if owner >= 0 and rng.random() < 0.9:
            chosen.add(hosts[owner])
        copies.append(sorted(chosen) if rng.random() < keeps_state else None)
    return replace(group, copies=Racks.of(hosts, copies))


def crowded(rng: random.Random, *, members: int, partitions: int, alike: bool = False) -> Group:
    """Return a random group in which one reader of each topic owns all or half of it.

    With `alike` all members read all topics.
    """
    drawn = random_group(rng, members=members, partitions=partitions)
    document = drawn.to_dict()
    described_members = document["members"].values()
    for member in described_members:
        member.pop("generation", None)
        member["owned"] = {}
        likes = 1 if alike else 0.7
        member["subscription"] = [t for t in document["topics"] if rng.random() < likes]
    for topic, described in document["topics"].items():
        readers = [m for m in described_members if topic in m["subscription"]]
        if readers and isinstance(described, dict):
            count = described["partitions"]
            held = sorted(rng.sample(range(count), rng.choice((count, count, count // 2))))
            rng.choice(readers)["owned"][topic] = held
    return replace(Group.from_dict(document), copies=drawn.copies)


def any_owner(rng: random.Random, group: Group, stays: float = 0.0) -> np.ndarray:
    """Return random owners of a valid assignment; an owner stays with the probability `stays`."""
    owner = np.full(group.n_partitions, -1, np.int32)
    for partition, topic in enumerate(group.topic.tolist()):
        readers, now = group.subscribers(topic).tolist(), int(group.owner[partition])
        if readers:
            owner[partition] = now if now >= 0 and rng.random() < stays else rng.choice(readers)
    return owner


def with_a_row_each(group: Group, order: Sequence[int] | None = None) -> Group:
    """Return the group with a subscription row for each member, in an order of members.

    Equal subscriptions then have several rows.
    """
    order = range(len(group.members)) if order is None else order
    rows = [group.subscription(member) for member in order]
    return replace(
        group,
        subscription_indptr=np.cumsum([0, *map(len, rows)]),
        subscription_topics=np.concatenate([np.empty(0, np.int32), *rows]),
        subscription_row=np.argsort(order).astype(np.int32),
    )


def mixed_magnitudes(rng: random.Random, group: Group, *, below: int) -> Group:
    """Return the group with lags and weights that range from 1 to tens of millions.

    The sum of a column, times the number of members less one, stays below `below`.
    """
    magnitudes = [10 ** rng.randint(0, 7) for _ in range(rng.randint(1, 3))]

    def column() -> np.ndarray:
        sizes = []
        for _ in range(group.n_partitions):
            most = rng.choice(magnitudes)
            sizes.append(
                rng.choice((most, rng.randint(0, most), max(0, most - rng.randint(1, 3))))
            )
        shrink = 1 + sum(sizes) * max(1, len(group.members) - 1) // below
        return np.array(sizes, np.int64) // shrink

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


def random_streams(
    rng: random.Random, *, members: int, tasks: int, processes: str = "ABC"
) -> dict[str, Any]:
    """Return an ``assay-streams/1`` document of at most `members` members and `tasks` tasks.

    Members hold active, standby and warm-up tasks as in a rebalancing group: some tasks have no
    member, some several copies on one process, some an active and a standby task on one process.
    """
    processes = processes[: rng.randint(1, len(processes))]
    described: dict[str, Any] = {
        f"c{m}": {"process": rng.choice(processes), "tasks": {"active": {}, "standby": {}}}
        for m in range(rng.randint(1, members))
    }
    subtopologies: dict[str, Any] = {}
    left, held = rng.randint(0, tasks), rng.choice((0, 0.7, 1))
    favourites = rng.sample([*described], rng.randint(1, len(described)))
    while left > 0:
        count = rng.randint(1, left)
        name = str(len(subtopologies))
        subtopologies[name] = {"tasks": count, "stateful": rng.random() < 0.6}
        left -= count
        for number in range(count):
            if rng.random() < held:
                active = described[rng.choice(favourites)]["tasks"]["active"]
                active.setdefault(name, []).append(number)
            for kind in ("standby", "warmup"):
                if subtopologies[name]["stateful"] and rng.random() < 0.3:
                    held_tasks = described[rng.choice([*described])]["tasks"].setdefault(kind, {})
                    held_tasks.setdefault(name, []).append(number)
    return {
        "format": "assay-streams/1",
        "group": "random",
        "standby_replicas": rng.randint(0, 2),
        "subtopologies": subtopologies,
        "members": described,
    }


def of_state(rng: random.Random) -> tuple[str, ...]:
    """Return a random objective that flows serve, with at least one tier about state."""
    while True:
        tiers = rng.sample(STATE, rng.randint(1, 2)) + rng.sample(BESIDE, rng.randint(0, 3))
        tiers = rng.sample(tiers, len(tiers))
        both = {"balance", "load_squares"} <= {*tiers}
        late = "balance" in tiers and "host_balance" in tiers[: tiers.index("balance")]
        if is_flow(tiers) and not both and not late:
            return tuple(tiers)


# Objectives of loads: tiers before the loads, tiers of loads, and what budgets are tried with.
EARLIER = (
    (),
    ("balance",),
    ("topic_balance",),
    ("stickiness",),
    ("moved_weight",),
    ("racks", "stickiness"),
    ("balance", "stickiness"),
    ("stickiness", "balance"),
    ("balance", "moved_weight"),
    ("balance", "racks", "stickiness"),
    ("racks", "balance", "moved_weight"),
)

LAST = (
    ("peak_lag",),
    ("peak_weight",),
    ("peak_time",),
    ("peak_lag", "lag_balance"),
    ("peak_lag", "lag_spread"),
    ("peak_weight", "weight_balance"),
    ("peak_weight", "weight_spread"),
    ("lag_spread",),
    ("weight_balance",),
)

WITHOUT_MOVES = [earlier for earlier in EARLIER if "stickiness" not in earlier]
WITHIN = (
    *((*earlier, *last) for earlier in EARLIER for last in LAST),
    *((*earlier, "peak_lag", "stickiness") for earlier in WITHOUT_MOVES),
    *((*earlier, "peak_time", "stickiness") for earlier in WITHOUT_MOVES),
    *((*earlier, "stickiness") for earlier in WITHOUT_MOVES),
)


def case(rng: random.Random) -> tuple[Group, tuple[str, ...]]:
    """Return a small group with random lags, and an objective of `EARLIER` and `LAST` tiers."""
    group = random_group(rng, members=rng.randint(1, 4), partitions=rng.randint(1, 8))
    kind = rng.choice(("as they are", "magnitudes", "hot", "zero", "ties"))
    if kind == "magnitudes":
        group = mixed_magnitudes(rng, group, below=2**24)
    elif group.n_partitions and kind != "as they are":
        column = np.full(group.n_partitions, {"hot": 1, "zero": 0, "ties": 7}[kind], np.int64)
        column[rng.randrange(len(column))] = {"hot": 1000, "zero": 0, "ties": 14}[kind]
        group = replace(group, lag_records=column, weight=column[::-1].copy())
    earlier, last = rng.choice(EARLIER), rng.choice(LAST)
    if "stickiness" not in earlier and last[0].startswith("peak") and rng.random() < 0.2:
        last = (last[0], "stickiness", *last[1:])
    return group, (*earlier, *last)


def case_within(rng: random.Random) -> tuple[Group, tuple[str, ...], dict[str, int]]:
    """Return a small group, an objective, and one to three budgets near what it can reach."""
    group, _ = case(rng)
    objective = rng.choice(WITHIN)
    peaks = [tier for tier in objective if tier.startswith("peak")]
    peak = (peaks or [rng.choice(("peak_lag", "peak_time"))])[0]
    most = {}
    for tier in rng.sample(
        ["stickiness", "load_spread", "idle_members", peak], rng.choice((1, 1, 2, 3))
    ):
        least = solve(group, (tier,), method="brute").terms[0].value
        free = solve(group, objective, method="brute").assignment
        reached = values(free, (tier,))[0]
        most[tier] = rng.choice((least, rng.randint(least, max(least, reached)), least + 1))
    return group, objective, most
