"""Kinds of seeded groups: each adds one thing by which two assignors may differ."""

from __future__ import annotations

from itertools import islice, product
from typing import TYPE_CHECKING, get_args

import numpy as np

from compare.samples.drawn import drawn
from compare.samples.families import Family, LastEvent, Subscriptions
from groups import Assignment, Group

if TYPE_CHECKING:
    from collections.abc import Iterator

    from groups.documents.assay_group import JsonObject

EQUAL, DIFFERING, ODD, STATIC, RACKS = "equal", "differing", "odd claims", "static", "racks"
KINDS: dict[str, str] = {
    EQUAL: "members read the same; each claim is the only one on its partition, all members are "
    "of one generation; nobody has an instance id or a rack",
    DIFFERING: "the same, but members read different topics",
    ODD: "claims of two members on one partition, of several generations, or on what the member "
    "does not read; subscriptions of any sort",
    STATIC: "as the first two, but about half of the members have an instance id, in another "
    "order than their member ids",
    RACKS: "as the first two, but most members have one of three racks, and each partition has "
    "replicas in one or two of them",
}
SEED = 71


def seeded(total: int, seed: int = SEED) -> dict[str, list[Group]]:
    """Return at least `total` groups by kind: a third equal, two fifths differing.

    Most are drawn, with up to 8 members, 6 topics and 36 partitions. A tenth of `total`, in the
    first two kinds, are points of the seeded families, with up to 10 members and 100 partitions,
    after any event.
    """
    wanted = {EQUAL: total // 3, DIFFERING: 2 * total // 5}
    found: dict[str, list[Group]] = {kind: [] for kind in KINDS}
    for group in islice(_families(seed), total // 10):
        found[EQUAL if _reads_equally(group) else DIFFERING].append(group)
    rest = -(-(total - sum(wanted.values())) // 3)
    rng = np.random.default_rng(seed)
    groups = drawn(seed)
    while any(len(found[kind]) < number for kind, number in wanted.items()):
        group = next(groups)
        kind = EQUAL if _reads_equally(group) else DIFFERING
        if _is_odd(group):
            kind = ODD
        if len(found[kind]) < wanted.get(kind, rest):
            found[kind].append(group)
    while len(found[ODD]) < rest:
        document = next(groups).to_dict()
        _add_odd_claims(rng, document)
        found[ODD].append(Group.from_dict(document))
    for kind, change in ((STATIC, _add_instance_ids), (RACKS, place_in_racks)):
        for group in islice((group for group in groups if not _is_odd(group)), rest):
            document = group.to_dict()
            change(rng, document)
            found[kind].append(Group.from_dict(document))
    return found


def _families(seed: int) -> Iterator[Group]:
    points = product(
        (5, 10), (3, 10), (2, 7), get_args(Subscriptions), get_args(LastEvent), (False, True)
    )
    for number, (members, per_member, topics, subscriptions, event, skewed) in enumerate(
        sorted(points, key=str)
    ):
        family = Family(members, per_member, topics, subscriptions, event, skewed)
        yield family.group(seed + number)


def _reads_equally(group: Group) -> bool:
    return bool(np.isin(group.readers, (0, len(group.members))).all())


def _is_odd(group: Group) -> bool:
    current = Assignment.current(group)
    several = len(set(group.generation.tolist())) > 1 and bool(current.loads.any())
    return several or bool(current.strays) or bool((current.owner != group.owner).any())


def _add_odd_claims(rng: np.random.Generator, document: JsonObject) -> None:
    for said in document["members"].values():
        said["generation"] = int(rng.integers(0, 3))
        owned = said.setdefault("owned", {})
        for topic, described in document["topics"].items():
            count = described if isinstance(described, int) else described["partitions"]
            more = np.flatnonzero(rng.random(count) < 0.15).tolist()
            if more:
                owned[topic] = sorted({*owned.get(topic, []), *more})


def _add_instance_ids(rng: np.random.Generator, document: JsonObject) -> None:
    order = rng.permutation(len(document["members"])).tolist()
    for place, said in zip(order, document["members"].values(), strict=True):
        if rng.random() < 0.5:
            said["instance_id"] = f"i{place}"


def place_in_racks(rng: np.random.Generator, document: JsonObject) -> None:
    """Give most members one of three racks, and each partition replicas in one or two of them."""
    racks = ("r0", "r1", "r2")
    for said in document["members"].values():
        if rng.random() < 0.9:
            said["rack"] = str(rng.choice(racks))
    for topic, described in document["topics"].items():
        fields = described if isinstance(described, dict) else {"partitions": described}
        replica_racks = [
            sorted(rng.choice(racks, int(rng.integers(1, 3)), replace=False).tolist())
            for _ in range(fields["partitions"])
        ]
        document["topics"][topic] = {**fields, "racks": replica_racks}
