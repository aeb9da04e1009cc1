"""Shrink: removes parts of a group on which a promise breaks, as long as it still breaks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from groups import Group
from groups.documents.assay_group import pairs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from compare.promises.promise import Promise
    from compare.promises.trial import Runner
    from groups.documents.assay_group import JsonObject

Size = tuple[int, ...]


@dataclass(frozen=True)
class Quarry:
    """A group on which a promise breaks, and what was measured there."""

    group: Group
    measured: Mapping[str, object]

    @cached_property
    def size(self) -> Size:
        """Members + partitions, partitions, members, topics, subscriptions, claims, racks."""
        group = self.group
        members, partitions = len(group.members), group.n_partitions
        subscriptions, claims = int(group.reads.sum()), len(group.claims.member)
        topics, racks = len(group.topics), 0
        if group.racks is not None:
            replicas = sum(len(group.racks.of_set(s)) for s in group.racks.replicas.tolist())
            racks = int((group.racks.member >= 0).sum()) + replicas
        sums = (members + partitions, partitions, members, topics, subscriptions, claims)
        return (*sums, racks)

    def is_smaller_than(self, other: Quarry) -> bool:
        """Return whether the group is smaller, or of the same size and sorts first as text."""
        return self.size < other.size or (self.size == other.size and self.text < other.text)

    @cached_property
    def text(self) -> str:
        """The group's document as text, to choose between groups of one size."""
        return str(self.group.to_dict())


def shrink(found: Quarry, promise: Promise, run: Runner, *, until: float | None = None) -> Quarry:
    """Return a smaller group on which the promise breaks, from which nothing can be removed.

    The last member stays.

    First one member, topic or partition is removed; then a member together with its share of the
    partitions, as a promise may break only at a certain number of partitions per member; then one
    subscription, claim or rack. After each removal all of this begins anew.

    Parameters
    ----------
    until : time of ``monotonic()`` at which to stop and return the smallest group so far
    """
    while True:
        document = found.group.to_dict()
        for removals in (without_a_part, without_a_share, without_a_tie):
            smaller = _first_broken(removals(document), promise, run, until)
            if smaller is not None:
                found = smaller
                break
        else:
            return found


def without_a_part(document: JsonObject) -> Iterator[JsonObject]:
    """Yield the documents without one member, topic or partition."""
    members, topics = document["members"], document["topics"]
    for member in members:
        yield _without_member(document, member)
    for topic in topics:
        rest = {name: details for name, details in topics.items() if name != topic}
        less = {
            member: {
                **details,
                "owned": {t: n for t, n in details["owned"].items() if t != topic},
                "subscription": [t for t in details["subscription"] or () if t != topic],
            }
            for member, details in members.items()
        }
        yield {**document, "topics": rest, "members": less}
    for topic, details in topics.items():
        for number in range(_count(details)):
            yield _without_one_partition(document, topic, number)


def without_a_tie(document: JsonObject) -> Iterator[JsonObject]:
    """Yield the documents without one subscription, claim, or rack of a member or a replica."""
    members = document["members"]
    for member, details in members.items():
        reads = details["subscription"] or []
        for topic in reads:
            rest = [t for t in reads if t != topic]
            yield {**document, "members": {**members, member: {**details, "subscription": rest}}}
    for member, details in members.items():
        for topic, numbers in details["owned"].items():
            for number in numbers:
                owned = {**details["owned"], topic: [n for n in numbers if n != number]}
                yield {**document, "members": {**members, member: {**details, "owned": owned}}}
    for member, details in members.items():
        if "rack" in details:
            rackless: JsonObject = {**details}
            del rackless["rack"]
            yield {**document, "members": {**members, member: rackless}}
    for topic, described in document["topics"].items():
        if isinstance(described, int):
            continue
        near = described.get("racks", [])
        for number, racks in enumerate(near):
            # Every partition keeps a replica.
            for rack in racks if len(racks) > 1 else ():
                rest = [r for r in racks if r != rack]
                less: JsonObject = {**described}
                less["racks"] = [*near[:number], rest, *near[number + 1 :]]
                yield {**document, "topics": {**document["topics"], topic: less}}


def without_a_share(document: JsonObject) -> Iterator[JsonObject]:
    """Yield the documents without one member and one partition, or up to two more than its share.

    The partitions that the member owns are removed first, then those that nobody owns, then the
    last ones of the largest topic.
    """
    members = document["members"]
    total = sum(map(_count, document["topics"].values()))
    for member in members:
        left = document
        for _ in range(min(total, total // len(members) + 2)):
            left = _without_one_partition(left, *_partition_to_spare(left, member))
            yield _without_member(left, member)


def _partition_to_spare(document: JsonObject, member: str) -> tuple[str, int]:
    counts = {topic: _count(details) for topic, details in sorted(document["topics"].items())}
    owners = {
        place: owner
        for owner, details in document["members"].items()
        for place in pairs(details["owned"])
    }
    largest = max(counts, key=lambda topic: counts[topic])
    every = [(topic, number) for topic, count in counts.items() for number in range(count)]
    mine = (place for place in every if owners.get(place) == member)
    nobodys = (place for place in every if place not in owners)
    return next(chain(mine, nobodys), (largest, counts[largest] - 1))


def _count(topic: int | JsonObject) -> int:
    return int(topic if isinstance(topic, int) else topic["partitions"])


def _without_one_partition(document: JsonObject, topic: str, number: int) -> JsonObject:
    """Return the document without one partition; those after it move up by one number."""
    described = document["topics"][topic]
    fewer: JsonObject | int = _count(described) - 1
    if not isinstance(described, int):
        fewer = {"partitions": fewer}
        for key in ("lag", "weight", "racks"):
            if key in described:
                fewer[key] = [value for at, value in enumerate(described[key]) if at != number]
    members = {}
    for name, details in document["members"].items():
        owned = {**details["owned"]}
        left = [n - (n > number) for n in owned.pop(topic, ()) if n != number]
        members[name] = {**details, "owned": owned | ({topic: left} if left else {})}
    return {**document, "topics": {**document["topics"], topic: fewer}, "members": members}


def _first_broken(
    documents: Iterable[JsonObject],
    promise: Promise,
    run: Runner,
    until: float | None,
) -> Quarry | None:
    # No client or broker asks an assignor about a group without members.
    groups = [Group.from_dict(document) for document in documents if document["members"]]
    for group, judgement in promise.judge_each(run, groups, until=until):
        if judgement.holds is False:
            return Quarry(group, judgement.measured)
    return None


def _without_member(document: JsonObject, member: str) -> JsonObject:
    rest = {name: details for name, details in document["members"].items() if name != member}
    return {**document, "members": rest}
