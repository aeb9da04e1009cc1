"""Small seeded streams groups, and objectives about what keeps state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from groups.tiers import is_flow

if TYPE_CHECKING:
    import random

STATE = ("stateful_balance", "restores")
BESIDE = ("balance", "load_squares", "host_balance", "stickiness")


def random_streams(
    rng: random.Random, *, members: int, tasks: int, processes: str = "ABC"
) -> dict[str, Any]:
    """Return an ``assay-streams/1`` document of at most so many members and tasks.

    Members hold active, standby and warm-up tasks as a group may on its way, so that some tasks
    have no member, some several copies on one process, and some an active one beside a standby.
    """
    processes = processes[: rng.randint(1, len(processes))]
    said: dict[str, Any] = {
        f"c{m}": {"process": rng.choice(processes), "tasks": {"active": {}, "standby": {}}}
        for m in range(rng.randint(1, members))
    }
    subtopologies: dict[str, Any] = {}
    left, held = rng.randint(0, tasks), rng.choice((0, 0.7, 1))
    favourites = rng.sample([*said], rng.randint(1, len(said)))
    while left > 0:
        count = rng.randint(1, left)
        name = str(len(subtopologies))
        subtopologies[name] = {"tasks": count, "stateful": rng.random() < 0.6}
        left -= count
        for number in range(count):
            if rng.random() < held:
                mine = said[rng.choice(favourites)]["tasks"]["active"]
                mine.setdefault(name, []).append(number)
            for kind in ("standby", "warmup"):
                if subtopologies[name]["stateful"] and rng.random() < 0.3:
                    mine = said[rng.choice([*said])]["tasks"].setdefault(kind, {})
                    mine.setdefault(name, []).append(number)
    return {
        "format": "assay-streams/1",
        "group": "random",
        "standby_replicas": rng.randint(0, 2),
        "subtopologies": subtopologies,
        "members": said,
    }


def of_state(rng: random.Random) -> tuple[str, ...]:
    """Any order of tiers that flows serve, one of them at least about state."""
    while True:
        tiers = rng.sample(STATE, rng.randint(1, 2)) + rng.sample(BESIDE, rng.randint(0, 3))
        tiers = rng.sample(tiers, len(tiers))
        both = {"balance", "load_squares"} <= {*tiers}
        late = "balance" in tiers and "host_balance" in tiers[: tiers.index("balance")]
        if is_flow(tiers) and not both and not late:
            return tuple(tiers)
