"""Drawn groups by seed: with claims of every sort, by kind, and ordinary ones."""

from __future__ import annotations

from itertools import islice, product
from typing import TYPE_CHECKING, get_args

import numpy as np

from compare.samples.families import Family, LastEvent, Subscriptions, placed
from groups import Assignment, Group

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from groups.arrays import Bools
    from groups.documents.assay_group import JsonObject


def drawn(seed: int) -> Iterator[Group]:
    """Yield random groups without end: up to 8 members, 6 topics, 36 partitions.

    About half of them are smaller: up to 4 members, 3 topics, 12 partitions. Subscriptions are
    equal, nested or random. Nobody owns anything, or claims are arbitrary, or they are what a
    round robin gave before members joined and left. In one group out of ten, some claims are rival
    or of an older generation.
    """
    rng = np.random.default_rng(seed)
    number = 0
    while True:
        number += 1
        yield Group.from_dict(_document(rng, f"seed-{seed}-{number}"))


def _document(rng: np.random.Generator, name: str) -> JsonObject:
    few = rng.random() < 0.5
    counts = rng.integers(1, 5 if few else 7, rng.integers(1, 4 if few else 7))
    topics = [f"t{i}" for i in range(len(counts))]
    size = int(rng.integers(2, 5 if few else 9))
    rows = _rows(rng, size, topics)
    members: dict[str, JsonObject] = {
        f"m{i}": {"subscription": row, "owned": {}, "generation": 1} for i, row in enumerate(rows)
    }
    history = rng.choice(["nothing", "anything", "dealt"])
    newcomers = [0] * size
    if history == "dealt":
        newcomers = (rng.integers(0, 2, size) * rng.integers(0, 2)).tolist()
    if history != "nothing":
        _own(rng, members, dict(zip(topics, counts.tolist(), strict=True)), newcomers, history)
    lags = {t: rng.integers(0, 100, n).tolist() for t, n in zip(topics, counts, strict=True)}
    described: dict[str, int | JsonObject] = {
        t: {"partitions": len(lag), "lag": lag} for t, lag in lags.items()
    }
    return {"format": "assay-group/1", "group": name, "topics": described, "members": members}


def _rows(rng: np.random.Generator, size: int, topics: list[str]) -> list[list[str]]:
    kind = rng.choice(["equal", "nested", "random"], p=[0.25, 0.25, 0.5])
    if kind == "equal":
        return [list(topics)] * size
    if kind == "nested":
        return [topics[: int(rng.integers(1, len(topics) + 1))] for _ in range(size)]
    picked = rng.random((size, len(topics))) < rng.choice([0.3, 0.5, 0.8])
    picked[np.arange(size), rng.integers(0, len(topics), size)] = True
    return [[t for t, reads in zip(topics, row, strict=True) if reads] for row in picked]


def _own(
    rng: np.random.Generator,
    members: dict[str, JsonObject],
    topics: dict[str, int],
    newcomers: Sequence[int],
    history: str,
) -> None:
    old = [said for said, new in zip(members.values(), newcomers, strict=True) if not new]
    gone = int(rng.integers(0, 2))
    odd = rng.random() < 0.1
    turn = 0
    for topic, count in topics.items():
        readers = [said for said in old if topic in (said["subscription"] or ())]
        for number in range(count):
            # One turn of the round robin may be that of a member that left: nobody owns it now.
            at = turn % (len(readers) + gone) if readers else 0
            if history == "anything":
                at = int(rng.integers(0, len(readers) + 1))
            turn += 1
            for holder in readers[at : at + (2 if odd and rng.random() < 0.2 else 1)]:
                holder["owned"].setdefault(topic, []).append(number)
    if odd:
        for said in members.values():
            said["generation"] = int(rng.integers(0, 2))


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


BATCH = 200


def is_ordinary(group: Group) -> bool:
    """Return whether the group was balanced before its new members joined.

    Everybody reads something, and each topic has a partition. Either nobody owns anything; or the
    members that own something own everything that they read, without rival claims, in one
    generation, and balanced as KIP-54 defines it. The others are new.
    """
    if (group.reads == 0).any() or (group.partitions == 0).any():
        return False
    if not len(group.claims.member):
        return True
    current = Assignment.current(group)
    settled = np.asarray(current.loads > 0)
    if current.strays or (current.owner != group.owner).any():
        return False
    if len(set(group.generation[settled].tolist())) > 1:
        return False
    before = group.only(np.flatnonzero(settled))
    held = Assignment.current(before)
    return held.is_valid and held.balanced()


def ordinary(seed: int) -> Iterator[Group]:
    """Yield random ordinary groups without end: up to 8 members, 6 topics, 36 partitions.

    Subscriptions are those of :func:`drawn`. One or two members are new; the
    others own an assignment that is optimal for them, in generation 1. In one group out of eight
    nobody owns anything.
    """
    rng = np.random.default_rng(seed)
    groups = drawn(seed)
    while True:
        batch = list(islice(groups, BATCH))
        settled = []
        for group in batch:
            size = len(group.members)
            stays = np.ones(size, bool)
            stays[rng.permutation(size)[: int(rng.integers(1, 3))]] = False
            settled.append(stays if rng.random() > 1 / 8 else np.zeros(size, bool))
        before = [
            group.only(np.flatnonzero(stays)).with_claims([], [])
            for group, stays in zip(batch, settled, strict=True)
        ]
        for group, stays, part, owner in zip(batch, settled, before, placed(before), strict=True):
            yield _with_owned(group, stays, Assignment(part, owner))


def ordinary_in_racks(seed: int) -> Iterator[Group]:
    """Yield the groups of :func:`ordinary`, with racks.

    Most members have one of three racks, and each partition has replicas in one or two of them.
    """
    rng = np.random.default_rng(seed)
    for group in ordinary(seed):
        document = group.to_dict()
        place_in_racks(rng, document)
        yield Group.from_dict(document)


def _with_owned(group: Group, settled: Bools, held: Assignment) -> Group:
    """Return the group in which the settled members own an assignment, in generation 1."""
    document = group.to_dict()
    owned = held.to_dict()
    for name, stays in zip(group.members, settled.tolist(), strict=True):
        said = document["members"][name]
        said["owned"] = owned.get(name, {})
        said.pop("generation", None)
        if stays:
            said["generation"] = 1
    return Group.from_dict(document)
