"""Hunt: the smallest group on which an assignor breaks a promise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from time import monotonic
from typing import TYPE_CHECKING, Any

from compare.promises import Promise, Runner, Trial, Verdict, optima
from compare.small_groups import drawn, equal, fresh, owned
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
) -> Hunt:
    """Look for a group on which an assignor breaks a promise, and shrink what is found.

    First every group is tried of up to 2 topics x 3 members x 4 partitions, and with equal
    subscriptions of up to 4 members x 9 partitions; only where all of them keep the promise,
    those of :func:`compare.small_groups.drawn`. Of the groups that break it the smallest are
    shrunk, and of these the smallest is kept. The same seed gives the same answer, unless the
    time is up before.

    Parameters
    ----------
    run : runs the assignor, under a time limit if it may hang
    groups : how many to draw
    seconds : stop trying after that; shrinking has as much again; None: no limit
    """
    until = None if seconds is None else monotonic() + seconds
    tried = tested = 0
    broken: list[Quarry] = []
    in_time = True
    for stream in (_every_small_group(), islice(drawn(seed), groups)):
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

    Members go first, then topics, partitions, subscriptions and claims, one by one; where no
    single removal is left after which the promise still breaks, a member goes together with one
    partition or more, as what it breaks may hang on how many each has on average.

    Parameters
    ----------
    until : time of ``monotonic()`` at which to stop with what there is
    """
    smaller: Quarry | None = found
    while smaller is not None:
        found = smaller
        document = found.group.to_dict()
        smaller = _first(removals(document), assignor, promise, run, until) or _first(
            shares(document), assignor, promise, run, until
        )
    return found


def removals(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the documents with one member, topic, partition, subscription or claim less.

    Where a partition goes, those after it take the number before; racks go with it.
    """
    members, topics = document["members"], document["topics"]
    for member in members:
        yield _without(document, "members", member)
    for topic in topics:
        less = {m: _without_topic(said, topic) for m, said in members.items()}
        yield {**_without(document, "topics", topic), "members": less}
    for topic, said in topics.items():
        count = said if isinstance(said, int) else said["partitions"]
        for number in range(count):
            yield _less(document, topic, number)
    for member, said in members.items():
        for topic in said["subscription"]:
            rest = [t for t in said["subscription"] if t != topic]
            yield {**document, "members": {**members, member: {**said, "subscription": rest}}}
    for member, said in members.items():
        for topic, numbers in said["owned"].items():
            for number in numbers:
                owned = {**said["owned"], topic: [n for n in numbers if n != number]}
                yield {**document, "members": {**members, member: {**said, "owned": owned}}}


def shares(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the documents with one member and some partitions less.

    From one partition to the average share and one more; those that the member owns go first,
    then the last of each topic.
    """
    members = document["members"]
    total = sum(t if isinstance(t, int) else t["partitions"] for t in document["topics"].values())
    for member in members:
        left: Mapping[str, Any] = document
        for _ in range(min(total, total // len(members) + 2)):
            left = _one_partition_less(left, member)
            yield _without(left, "members", member)


def _one_partition_less(document: Mapping[str, Any], member: str) -> dict[str, Any]:
    """Take out a partition that a member owns, or else the last of the largest topic."""
    topics, owned = document["topics"], document["members"][member]["owned"]
    counts = {
        t: said if isinstance(said, int) else said["partitions"] for t, said in topics.items()
    }
    mine = [
        (t, n) for t, numbers in sorted(owned.items()) for n in numbers if n < counts.get(t, 0)
    ]
    largest = max(sorted(counts), key=lambda t: counts[t])
    topic, number = mine[0] if mine else (largest, counts[largest] - 1)
    return _less(document, topic, number)


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
        for group, optimum in zip(batch, optima(batch), strict=True):
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
