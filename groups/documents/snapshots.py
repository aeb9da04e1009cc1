"""Snapshots: the columns of many documents, computed for all of them at once."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, chain, pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import UNSET, UnsetType

from groups.arrays import NO_GENERATION, UNKNOWN, check_total, frozen, starts, sums
from groups.columns.claims import Claims
from groups.columns.lists import OFFSETS, Lists, offsets_through, subscriptions_through
from groups.columns.offsets import require_reset, reset_noted, start_under
from groups.columns.places import MemberDetails
from groups.documents.assay_group import Log, Topic, or_none
from groups.documents.fields import refuse, without_repeats
from groups.times import in_utc
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from groups.arrays import Int32
    from groups.documents.assay_group import Document, Member, Partitions


_LISTS = ("lag", "weight", "racks", "offsets")


def topics_of(given: Mapping[str, int | Topic], names: Sequence[str]) -> list[Topic]:
    """Return the topics of a document by name, in the order of `names`.

    Raises
    ------
    BadInput
        If a list is not as long as its topic has partitions, a topic has both offsets and lag, or
        a partition has a rack twice.
    """
    return [
        Topic(topic) if isinstance(topic, int) else _check_topic(topic, name)
        for name, topic in ((name, given[name]) for name in names)
    ]


def _check_topic(topic: Topic, name: str) -> Topic:
    place = f"topics.{name}"
    if topic.lag is not UNSET and topic.offsets is not UNSET:
        refuse(place, "both lag and offsets, expected one of them")
    for key in _LISTS:
        values = getattr(topic, key)
        if values is not UNSET and len(values) != topic.partitions:
            found, has = counted(len(values), "value"), counted(topic.partitions, "partition")
            refuse(f"{place}.{key}", f"{found}, but {name} has {has}")
    if not isinstance(topic.racks, UnsetType):
        for at, racks in enumerate(topic.racks):
            without_repeats(racks, f"{place}.racks[{at}]")
    return topic


def per_partition(
    topics: Sequence[Topic],
    key: str,
    nothing: object,
    values: Callable[[Any], list[Any]] = list,
) -> list[Any]:
    """(all partitions,) the values of a key of topics, converted by `values`.

    Parameters
    ----------
    nothing : the value of each partition of a topic without this key
    """
    found: list[Any] = []
    for topic in topics:
        given = getattr(topic, key)
        found += values([nothing] * topic.partitions if given is UNSET else given)
    return found


def _numbers(values: Sequence[int | UnsetType | None]) -> list[int]:
    return [value if type(value) is int else UNKNOWN for value in values]


def _ends(logs: Sequence[Log]) -> list[int]:
    """Return beginning, end and committed offset of each log, three numbers per log."""
    return _numbers([end for log in logs for end in (log.beginning, log.end, log.committed)])


def _begun_at_the_end(topics: Iterable[Topic]) -> int:
    """Return how many partitions have no commit; 0 if where members begin decides no lag."""
    given = (topic.offsets for topic in topics if topic.offsets is not UNSET)
    logs = [log for each in given for log in each if or_none(log.committed) is None]
    decides = any(or_none(log.end) is None or log.end != log.beginning for log in logs)
    return len(logs) if decides else 0


NO_DETAILS = MemberDetails()
_details = attrgetter(*vars(NO_DETAILS))
_NOTHING = (UNSET,) * len(vars(NO_DETAILS))


def details_of(member: Member, place: str) -> MemberDetails:
    """Return the details of a member, those fields that are no columns of a group.

    Raises
    ------
    BadInput
        If an assignor, or a partition of the target, is named twice.
    """
    values = _details(member)
    if values == _NOTHING:
        return NO_DETAILS
    found = MemberDetails(*map(or_none, values))
    if found.assignors is not None:
        assignors = tuple(without_repeats(found.assignors, f"{place}.assignors"))
        found = replace(found, assignors=assignors)
    if found.target is not None:
        for topic, numbers in found.target.items():
            require_single(numbers, f"{place}.target.{topic}")
        target = {topic: tuple(sorted(numbers)) for topic, numbers in found.target.items()}
        found = replace(found, target=target)
    return found


def index_of(
    topics: Sequence[str],
    listed: Sequence[Sequence[str] | None],
    owned: Sequence[Partitions],
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return the index of each topic, followed by absent topics, and the absent topics, sorted.

    Absent topics are those that only members name.
    """
    mentioned: set[str] = set().union(*filter(None, listed), *owned)
    absent = tuple(sorted(mentioned.difference(topics)))
    return dict(zip((*topics, *absent), range(len(topics) + len(absent)), strict=True)), absent


def topic_lists(
    listed: Sequence[Sequence[str] | None], index: Mapping[str, int], members: Sequence[str]
) -> tuple[list[tuple[int, ...]], list[int]]:
    """Return the distinct topic lists, topics by ascending index, and the list of each member.

    Raises
    ------
    BadInput
        If a list names a topic twice.
    """
    number: dict[tuple[int, ...], int] = {}
    row: list[int] = []
    before: object = None
    for member, topics in zip(members, listed, strict=True):
        # Most members read the same as the one before them.
        if topics != before or not row:
            before = topics
            found = without_repeats(topics or (), f"members.{member}.subscription")
            at = number.setdefault(tuple(sorted([index[topic] for topic in found])), len(number))
        row.append(at)
    return list(number), row


def require_single(numbers: Sequence[int], place: str) -> None:
    """Raise BadInput if a partition is named twice."""
    if len(set(numbers)) < len(numbers):
        twice = next(n for n, after in pairwise(sorted(numbers)) if n == after)
        refuse(place, f"partition {twice} appears twice")


# The columns of documents, with their types (None: names, which are no array) and the size that
# their length is: 0 topics, 1 members, 2 topic lists + 1, 3 topics in these, 4 partitions.
_COLUMNS = {
    "topics": (None, 0),
    "partitions": (np.int64, 0),
    "members": (None, 1),
    "subscription_row": (np.int32, 1),
    "subscription_known": (np.bool_, 1),
    "generation": (np.int64, 1),
    "subscription_indptr": (np.int64, 2),
    "subscription_topics": (np.int32, 3),
}
_OPTIONAL = {"lag": (np.int64, 4), "weight": (np.int64, 4), "offsets.given": (np.bool_, 0)}


class Snapshots:
    """The columns of several documents, collected one document at a time.

    Attributes
    ----------
    fields : for each document the fields that are no columns of numbers, by the names of `Group`
        and of the layout of rows; `racks` of each member and `replicas` of each partition are None
        if none are known
    """

    def __init__(self) -> None:
        self.fields: list[dict[str, Any]] = []
        self._sizes: list[tuple[int, ...]] = []
        self._values: dict[str, list[Any]] = {name: [] for name in (*_COLUMNS, *_OPTIONAL)}
        self._given: dict[str, list[bool]] = {name: [] for name in _OPTIONAL}
        self._logs: list[int] = []
        self._claims: list[tuple[int, int, int]] = []
        self._claimed: list[int] = []
        self._members = 0

    def __len__(self) -> int:
        """Count the documents."""
        return len(self.fields)

    def add(self, document: Document) -> int:
        """Add a document, and return how many partitions it has.

        Raises
        ------
        BadInput
            If a rule of the format is broken that types cannot express; then it is not added.
        """
        reset = or_none(document.auto_offset_reset)
        require_reset(reset)
        captured_at = in_utc(or_none(document.captured_at))
        names, members = sorted(document.topics), sorted(document.members)
        topics = topics_of(document.topics, names)
        total = check_total(topic.partitions for topic in topics)
        of_members = [document.members[name] for name in members]
        listed = [or_none(member.subscription) for member in of_members]
        owned = [or_none(member.owned) or {} for member in of_members]
        index, absent = index_of(names, listed, owned)
        if absent:
            # An absent topic of which a member claims an empty list of partitions is dropped.
            owned = [{t: n for t, n in held.items() if n} for held in owned]
            index, absent = index_of(names, listed, owned)
        rows, row = topic_lists(listed, index, members)
        others: tuple[tuple[int, int], ...] = ()
        if absent:
            rows, row, others = _without_absent(rows, row, len(names))
        places = [f"members.{name}" for name in members]
        details = tuple(map(details_of, of_members, places))
        claimed: list[int] = []
        runs = []
        for member, held in enumerate(owned):
            for topic, numbers in held.items():
                if len(numbers) > 1:
                    require_single(numbers, f"{places[member]}.owned.{topic}")
                runs.append((self._members + member, index[topic], len(numbers)))
                claimed += numbers
        racks = [or_none(member.rack) for member in of_members]
        born = [or_none(member.generation) for member in of_members]
        described = [one for one in document.topics.values() if not isinstance(one, int)]
        has = {
            name: any(getattr(topic, name) is not UNSET for topic in described)
            for name in ("lag", "weight", "offsets", "racks")
        }
        logs = per_partition(topics, "offsets", Log(), _ends) if has["offsets"] else None
        uncommitted, with_logs = 0, None
        if logs is not None:
            with_logs = [topic.offsets is not UNSET for topic in topics]
            if reset is None:
                sure = bool(members) and None not in listed
                read = {*chain.from_iterable(rows)} if sure else range(len(topics))
                uncommitted = _begun_at_the_end([topics[t] for t in read])
        self._claims += runs
        self._claimed += claimed
        self._members += len(members)
        self._logs += logs or ()
        columns: dict[str, Iterable[Any]] = {
            "topics": names,
            "partitions": [topic.partitions for topic in topics],
            "members": members,
            "subscription_row": row,
            "subscription_known": [one is not None for one in listed],
            "generation": [NO_GENERATION if one is None else one for one in born],
            "subscription_indptr": accumulate(map(len, rows), initial=0),
            "subscription_topics": chain.from_iterable(rows),
        }
        optional = {
            "lag": per_partition(topics, "lag", None, _numbers) if has["lag"] else None,
            "weight": per_partition(topics, "weight", UNKNOWN) if has["weight"] else None,
            "offsets.given": with_logs,
        }
        for name, values in (columns | optional).items():
            self._values[name] += values or ()
        for name, values in optional.items():
            self._given[name].append(values is not None)
        entries = sum(map(len, rows))
        self._sizes.append((len(names), len(members), len(rows) + 1, entries, total))
        self.fields.append(
            {
                "group": document.group,
                "captured_at": captured_at,
                "auto_offset_reset": reset,
                "assumed": reset_noted(or_none(document.assumed) or (), uncommitted),
                "absent_topics": absent,
                "absent_subscriptions": others,
                "racks": racks if any(racks) else None,
                "replicas": per_partition(topics, "racks", None) if has["racks"] else None,
                "details": details if any(one is not NO_DETAILS for one in details) else (),
            }
        )
        return total

    def columns(self) -> dict[str, Lists]:
        """Return the columns of all documents, by the names of the layout of rows."""
        sizes = np.array(self._sizes, np.int64).reshape(-1, 5).T
        begin, every, size = starts(sizes), np.ones(len(self), bool), sizes[4]
        found = {
            name: Lists(self._array(name, kind), every, begin[of])
            for name, (kind, of) in _COLUMNS.items()
        }
        for name, (kind, of) in _OPTIONAL.items():
            given = np.array(self._given[name], bool)
            if given.any():
                found[name] = Lists.of(self._array(name, kind), sizes[of], given)
        if "offsets.given" in found:
            with_logs, counts = found["offsets.given"].given, found["partitions"].values
            logs = np.array(self._logs, np.int64).reshape(-1, 3).T
            for name, offsets in zip(OFFSETS, logs, strict=True):
                found[name] = Lists.of(frozen(offsets), size, with_logs)
            start = np.array([start_under(one["auto_offset_reset"]) for one in self.fields])
            lag = offsets_through(found, size).lag_beside(
                found["lag"].filled(size, UNKNOWN) if "lag" in found else None,
                np.repeat(start, size),
                counts,
            )
            has_lag = np.array(self._given["lag"], bool) | with_logs
            found["lag"] = Lists.of(frozen(lag[np.repeat(has_lag, size)]), size, has_lag)
        claims, owner = self._claims_and_owners(found)
        members, partitions = begin[1], begin[4]
        owners = Lists(owner, every, partitions)
        found["owner"] = Lists(frozen(owners.shifted(-members[:-1])), every, partitions)
        claimed = np.searchsorted(claims.member, members)
        disputed = sums(owner >= 0, partitions) != np.diff(claimed)
        if disputed.any():
            kept = np.repeat(disputed, np.diff(claimed))
            first = np.repeat(members[:-1].astype(np.int32), np.diff(claimed))
            columns = claims.member - first, claims.topic, claims.partition
            for name, of_claim in zip(("member", "topic", "partition"), columns, strict=True):
                found[f"claims.{name}"] = Lists.of(
                    frozen(of_claim[kept]), np.diff(claimed), disputed
                )
        return found

    def _array(self, name: str, kind: type[np.generic] | None) -> Any:
        values = self._values[name]
        return values if kind is None else frozen(np.array(values, kind))

    def _claims_and_owners(self, found: Mapping[str, Lists]) -> tuple[Claims, Int32]:
        """(claims, valid owner of each partition), with members numbered across documents.

        Topics of the claims are numbered within each document, absent ones after existing ones.
        """
        runs = np.array(self._claims, np.int64).reshape(-1, 3).T
        member, topic = (np.repeat(of_run, runs[2]).astype(np.int32) for of_run in runs[:2])
        claims = Claims.sorted(member, topic, np.array(self._claimed, np.int64))
        topics, counts = found["topics"], found["partitions"].values
        of = np.repeat(np.arange(len(self)), found["members"].length)[claims.member]
        exists = claims.topic < topics.length[of]
        through = np.where(exists, claims.topic + topics.start[of], len(counts)).astype(np.int32)
        numbered = Claims.ascending(claims.member, through, claims.partition)
        born, read = found["generation"].values, subscriptions_through(found)
        return claims, numbered.valid_owner(born, counts, read)


def _without_absent(
    rows: list[tuple[int, ...]], row: list[int], topics: int
) -> tuple[list[tuple[int, ...]], list[int], tuple[tuple[int, int], ...]]:
    """Return the topic lists without absent topics, the list of each member, and absent pairs.

    Absent pairs are (member, index of an absent topic that it reads).
    """
    absent = [[topic - topics for topic in one if topic >= topics] for one in rows]
    others = tuple((member, topic) for member, at in enumerate(row) for topic in absent[at])
    number: dict[tuple[int, ...], int] = {}
    there = [tuple(topic for topic in one if topic < topics) for one in rows]
    row = [number.setdefault(there[at], len(number)) for at in row]
    return list(number), row, others
