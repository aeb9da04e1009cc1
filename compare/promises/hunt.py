"""Hunt: the smallest group on which an assignor breaks a promise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from time import monotonic
from typing import TYPE_CHECKING, Any

from compare.promises.promise import Promise, Runner, Trial, Verdict, optima
from compare.samples.small_groups import drawn, equal, fresh, owned
from groups import Group

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

BATCH = 100
MOST_SHRUNK = 12
Size = tuple[int, ...]


@dataclass(frozen=True)
class Quarry:
    """A group on which a promise breaks, and what was measured there."""

    group: Group
    measured: Mapping[str, Any]

    @cached_property
    def size(self) -> Size:
        """Partitions and members, then each by itself, topics, subscriptions, claims."""
        group = self.group
        members, partitions = len(group.members), group.n_partitions
        subscriptions, claims = len(group.subscription_topics), len(group.claims.member)
        topics = len(group.topics)
        return members + partitions, partitions, members, topics, subscriptions, claims

    def is_smaller_than(self, other: Quarry) -> bool:
        """Say whether the group is smaller, or of the same size and sorts first as text."""
        return self.size < other.size or (self.size == other.size and self.text < other.text)

    @cached_property
    def text(self) -> str:
        """The group's document as text, to choose between groups of one size."""
        return str(self.group.to_dict())


@dataclass(frozen=True)
class Hunt:
    """What a hunt came to.

    Attributes
    ----------
    quarry : the smallest group found, which no removal of a member, topic, partition, claim or
        subscription makes smaller while the promise still breaks; None where none was found
    tried : groups that were tried
    tested : of those, how many put the promise to the test
    broken : of those, how many break it
    in_time : whether the hunt came to its end before the time was up
    """

    quarry: Quarry | None
    tried: int
    tested: int
    broken: int
    in_time: bool


def hunt(
    assignor: str,
    promise: Promise,
    run: Runner,
    *,
    seed: int = 1,
    groups: int = 2000,
    seconds: float | None = None,
    exhaustive: bool = True,
) -> Hunt:
    """Look for a group on which an assignor breaks a promise, and shrink what is found.

    First every group is tried of up to 2 topics x 3 members x 4 partitions, and with equal
    subscriptions of up to 4 members x 9 partitions; only where all of them keep the promise,
    those of :func:`compare.samples.small_groups.drawn`. Of the groups that break it the smallest
    are shrunk, and of these the smallest is kept. The same seed gives the same answer, unless the
    time is up before.

    Parameters
    ----------
    run : runs the assignor, under a time limit if it may hang
    groups : how many to draw
    seconds : stop trying after that; shrinking has as much again; None: no limit
    exhaustive : whether to try every small group first
    """
    until = None if seconds is None else monotonic() + seconds
    tried = tested = 0
    broken: list[Quarry] = []
    in_time = True
    first = _every_small_group() if exhaustive else iter(())
    for stream in (first, islice(drawn(seed), groups)):
        while in_time and (batch := list(islice(stream, BATCH))):
            for group, verdict in _judge(assignor, promise, run, batch, until):
                tried += 1
                tested += verdict.holds is not None
                if verdict.holds is False:
                    broken.append(Quarry(group, verdict.measured))
            in_time = until is None or monotonic() < until
        if broken:
            break
    broken.sort(key=lambda found: (found.size, found.text))
    until = None if seconds is None else monotonic() + seconds
    best: Quarry | None = None
    for found in broken[:MOST_SHRUNK]:
        least = shrink(found, assignor, promise, run, until=until)
        best = least if best is None or least.is_smaller_than(best) else best
    return Hunt(best, tried, tested, len(broken), in_time)


def _every_small_group() -> Iterator[Group]:
    each = chain(fresh(2, 3, 4), owned(2, 3, 4), equal(4, 9))
    return (small.group() for small in each)


def shrink(
    found: Quarry, assignor: str, promise: Promise, run: Runner, *, until: float | None = None
) -> Quarry:
    """Return a group on which the promise still breaks and from which nothing can be removed.

    Members go first, then topics and partitions, one by one; then a member together with its
    share of partitions, as what breaks may hang on how many each has on average; then single
    subscriptions and claims. After each removal it begins anew.

    Parameters
    ----------
    until : time of ``monotonic()`` at which to stop with what there is
    """
    while True:
        document = found.group.to_dict()
        for less in (parts_less, shares_less, ties_less):
            smaller = _first(less(document), assignor, promise, run, until)
            if smaller is not None:
                found = smaller
                break
        else:
            return found


def parts_less(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the documents with one member, topic or partition less."""
    members, topics = document["members"], document["topics"]
    for member in members:
        yield _without(document, "members", member)
    for topic in topics:
        less = {m: _without_topic(said, topic) for m, said in members.items()}
        yield {**_without(document, "topics", topic), "members": less}
    for topic, said in topics.items():
        for number in range(_count(said)):
            yield _less(document, topic, number)


def ties_less(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the documents with one subscription or claim less."""
    members = document["members"]
    for member, said in members.items():
        for topic in said["subscription"]:
            rest = [t for t in said["subscription"] if t != topic]
            yield {**document, "members": {**members, member: {**said, "subscription": rest}}}
    for member, said in members.items():
        for topic, numbers in said["owned"].items():
            for number in numbers:
                owned = {**said["owned"], topic: [n for n in numbers if n != number]}
                yield {**document, "members": {**members, member: {**said, "owned": owned}}}


def shares_less(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the documents with one member and some partitions less.

    From one partition to two more than the average share: those that the member owns first, then
    those that nobody owns, then the last of the largest topic.
    """
    members = document["members"]
    total = sum(map(_count, document["topics"].values()))
    for member in members:
        left: Mapping[str, Any] = document
        for _ in range(min(total, total // len(members) + 2)):
            left = _less(left, *_partition_to_spare(left, member))
            yield _without(left, "members", member)


def _partition_to_spare(document: Mapping[str, Any], member: str) -> tuple[str, int]:
    counts = {topic: _count(said) for topic, said in sorted(document["topics"].items())}
    owners = {
        (topic, number): owner
        for owner, said in document["members"].items()
        for topic, numbers in said["owned"].items()
        for number in numbers
    }
    largest = max(counts, key=lambda topic: counts[topic])
    every = [(topic, number) for topic, count in counts.items() for number in range(count)]
    mine = (place for place in every if owners.get(place) == member)
    nobodys = (place for place in every if place not in owners)
    return next(chain(mine, nobodys), (largest, counts[largest] - 1))


def _count(topic: Any) -> int:
    return int(topic if isinstance(topic, int) else topic["partitions"])


def _less(document: Mapping[str, Any], topic: str, number: int) -> dict[str, Any]:
    """Take out one partition; those after it take the number before."""
    fewer = {**document["topics"], topic: _without_partition(document["topics"][topic], number)}
    members = {m: _renumbered(body, topic, number) for m, body in document["members"].items()}
    return {**document, "topics": fewer, "members": members}


def _first(
    documents: Iterable[Mapping[str, Any]],
    assignor: str,
    promise: Promise,
    run: Runner,
    until: float | None,
) -> Quarry | None:
    groups = [Group.from_dict(document) for document in documents]
    for group, verdict in _judge(assignor, promise, run, groups, until):
        if verdict.holds is False:
            return Quarry(group, verdict.measured)
    return None


def _judge(
    assignor: str,
    promise: Promise,
    run: Runner,
    groups: Sequence[Group],
    until: float | None,
) -> Iterable[tuple[Group, Verdict]]:
    for start in range(0, len(groups), BATCH):
        batch = groups[start : start + BATCH]
        known = optima(batch) if promise.needs_optimum else [None] * len(batch)
        for group, optimum in zip(batch, known, strict=True):
            if until is not None and monotonic() > until:
                return
            yield group, promise.judge(Trial(assignor, run, group, optimum))


def _without(document: Mapping[str, Any], part: str, name: str) -> dict[str, Any]:
    return {**document, part: {n: said for n, said in document[part].items() if n != name}}


def _without_topic(member: Mapping[str, Any], topic: str) -> dict[str, Any]:
    owned = {t: numbers for t, numbers in member["owned"].items() if t != topic}
    rest = [t for t in member["subscription"] if t != topic]
    return {**member, "owned": owned, "subscription": rest}


def _without_partition(topic: Any, number: int) -> Any:
    if isinstance(topic, int):
        return topic - 1
    found = {"partitions": topic["partitions"] - 1}
    for key in ("lag", "weight"):
        if key in topic:
            found[key] = [v for i, v in enumerate(topic[key]) if i != number]
    return found


def _renumbered(member: Mapping[str, Any], topic: str, gone: int) -> dict[str, Any]:
    numbers = [n - (n > gone) for n in member["owned"].get(topic, ()) if n != gone]
    owned = {t: held for t, held in member["owned"].items() if t != topic}
    return {**member, "owned": {**owned, **({topic: numbers} if numbers else {})}}
