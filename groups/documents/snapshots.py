"""Snapshots: the columns of many documents, each fact found once for all of them."""

from __future__ import annotations

from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from msgspec import UNSET, UnsetType

from groups.arrays import NO_GENERATION, UNKNOWN, check_total, frozen
from groups.columns.claims import Claims
from groups.columns.lists import OFFSETS, Lists, offsets_through, subscriptions_through
from groups.columns.member_details import MemberDetails
from groups.columns.offsets import is_latest, reset_noted
from groups.columns.segments import starts, sums
from groups.documents.assay_group import Topic, told, without_repeats
from groups.documents.fields import refuse
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from groups.arrays import Bools, Int32, Int64
    from groups.documents.assay_group import Document, Member, Partitions


_LISTS = ("lag", "weight", "racks", "offsets")


def topics_of(given: Mapping[str, int | Topic], names: Sequence[str]) -> list[Topic]:
    """Return what a document says of the topics of these names, in their order.

    Raises
    ------
    BadInput
        Where a list is not as long as its topic has partitions, offsets stand beside lag, or a
        partition has a rack twice.
    """
    return [
        Topic(topic) if isinstance(topic, int) else _checked(topic, name)
        for name, topic in ((name, given[name]) for name in names)
    ]


def _checked(topic: Topic, name: str) -> Topic:
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


def logs_of(topics: Sequence[Topic]) -> list[int]:
    """(3 for each of all partitions,) where its log begins and ends, and what is committed."""
    found: list[int] = []
    for topic in topics:
        if isinstance(topic.offsets, UnsetType):
            found += (UNKNOWN,) * (3 * topic.partitions)
        else:
            found += [
                value if type(value) is int else UNKNOWN
                for log in topic.offsets
                for value in (log.beginning, log.end, log.committed)
            ]
    return found


def per_partition(topics: Sequence[Topic], key: Literal["lag", "weight"]) -> list[int]:
    """(all partitions,) what is said of each under a key, -1 where nothing."""
    found: list[int] = []
    for topic in topics:
        column = topic.lag if key == "lag" else topic.weight
        if isinstance(column, UnsetType):
            found += [UNKNOWN] * topic.partitions
        else:
            found += [UNKNOWN if value is None else value for value in column]
    return found


def replicas_of(topics: Sequence[Topic]) -> list[Sequence[str] | None]:
    """(all partitions,) the racks of the replicas of each, None where nothing is known."""
    found: list[Sequence[str] | None] = []
    for topic in topics:
        if isinstance(topic.racks, UnsetType):
            found += [None] * topic.partitions
        else:
            found += topic.racks
    return found


NO_DETAILS = MemberDetails()
_NOTHING = (UNSET,) * 8


def details_of(member: Member, place: str) -> MemberDetails:
    """Return what a document says of a member that is no column of a group.

    Raises
    ------
    BadInput
        Where an assignor, or a partition of the target, is named twice.
    """
    texts = member.instance_id, member.client_id, member.host, member.subscription_regex
    others = member.assignors, member.capacity, member.epoch, member.target
    if (*texts, *others) == _NOTHING:
        return NO_DETAILS
    assignors, target = told(member.assignors), told(member.target)
    instance_id, client_id, host, regex = map(told, texts)
    return MemberDetails(
        instance_id=instance_id,
        client_id=client_id,
        host=host,
        assignors=None
        if assignors is None
        else tuple(without_repeats(assignors, f"{place}.assignors")),
        capacity=told(member.capacity),
        epoch=told(member.epoch),
        target=None
        if target is None
        else {t: tuple(_ascending(n, f"{place}.target.{t}")) for t, n in target.items()},
        subscription_regex=regex,
    )


def index_of(
    topics: Sequence[str],
    listed: Sequence[Sequence[str] | None],
    owned: Sequence[Partitions],
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return the index of each topic, then of those that only members name; and these, sorted."""
    mentioned: set[str] = set().union(*filter(None, listed), *owned)
    absent = tuple(sorted(mentioned.difference(topics)))
    return dict(zip((*topics, *absent), range(len(topics) + len(absent)), strict=True)), absent


def rows_of(
    listed: Sequence[Sequence[str] | None], index: Mapping[str, int], members: Sequence[str]
) -> tuple[list[tuple[int, ...]], list[int]]:
    """Return the distinct topic lists, ascending by the index of topics, and which each reads.

    Raises
    ------
    BadInput
        Where a list names a topic twice.
    """
    number: dict[tuple[int, ...], int] = {}
    row: list[int] = []
    before: object = None
    for member, topics in zip(members, listed, strict=True):
        # Mostly members read what the one before them reads.
        if topics != before or not row:
            before = topics
            found = without_repeats(topics or (), f"members.{member}.subscription")
            at = number.setdefault(tuple(sorted([index[topic] for topic in found])), len(number))
        row.append(at)
    return list(number), row


def require_single(numbers: Sequence[int], place: str) -> None:
    """Raise BadInput where a partition is named twice."""
    if len(set(numbers)) < len(numbers):
        twice = next(n for n, after in pairwise(sorted(numbers)) if n == after)
        refuse(place, f"partition {twice} appears twice")


def _ascending(numbers: Sequence[int], place: str) -> list[int]:
    require_single(numbers, place)
    return sorted(numbers)


class Said(NamedTuple):
    """What a document says that is no column of numbers, and which of these it has.

    Attributes
    ----------
    absent_topics, absent_subscriptions, details : as in `Group`
    racks : (members,) the rack of each; None where no member has one
    replicas : (all partitions,) the racks of the replicas of each; None where none are known
    """

    group: str
    captured_at: str | None
    auto_offset_reset: str | None
    assumed: Sequence[str]
    absent_topics: tuple[str, ...]
    absent_subscriptions: tuple[tuple[int, int], ...]
    racks: Sequence[str | None] | None
    replicas: Sequence[Sequence[str] | None] | None
    details: tuple[MemberDetails, ...]
    has_lag: bool
    has_weight: bool
    has_offsets: bool

    def row(self) -> dict[str, Any]:
        """Return the columns of texts of its row."""
        return {
            "group": self.group,
            "captured_at": self.captured_at,
            "auto_offset_reset": self.auto_offset_reset,
            "assumed": self.assumed,
            "absent_topics": self.absent_topics or None,
            "absent_subscriptions": [
                {"member": member, "topic": topic} for member, topic in self.absent_subscriptions
            ]
            or None,
        }


class Snapshots:
    """Documents side by side.

    Attributes
    ----------
    said : of each document, what is no column of numbers
    topics, members : names of all, ascending in each document
    """

    def __init__(self) -> None:
        self.said: list[Said] = []
        self.topics: list[str] = []
        self.members: list[str] = []
        self._sizes: list[tuple[int, int, int, int, int]] = []
        self._counts: list[int] = []
        self._ends: list[int] = []
        self._listed: list[int] = []
        self._row: list[int] = []
        self._known: list[bool] = []
        self._generation: list[int] = []
        self._lag: list[int] = []
        self._weight: list[int] = []
        self._logs: list[int] = []
        self._given: list[bool] = []
        self._claims: list[tuple[int, int, int]] = []
        self._claimed: list[int] = []

    def __len__(self) -> int:
        """Count the documents."""
        return len(self.said)

    def add(self, document: Document) -> int:
        """Add a document, and return how many partitions it has.

        Raises
        ------
        BadInput
            Where a rule of the format is broken that types cannot say: it is not added then.
        """
        names, members = sorted(document.topics), sorted(document.members)
        topics = topics_of(document.topics, names)
        total = check_total(topic.partitions for topic in topics)
        of_members = [document.members[name] for name in members]
        listed = [told(member.subscription) for member in of_members]
        owned = [told(member.owned) or {} for member in of_members]
        index, absent = index_of(names, listed, owned)
        if absent:
            # A topic of which a member claims no partition is named for nothing.
            owned = [{t: n for t, n in held.items() if n} for held in owned]
            index, absent = index_of(names, listed, owned)
        rows, row = rows_of(listed, index, members)
        others: tuple[tuple[int, int], ...] = ()
        if absent:
            rows, row, others = _existing(rows, row, len(names))
        places = [f"members.{name}" for name in members]
        details = tuple(map(details_of, of_members, places))
        claimed, runs = self._claimed_by(owned, index, places)
        racks = [told(member.rack) for member in of_members]
        described = [one for one in document.topics.values() if not isinstance(one, int)]
        has_lag, has_weight, has_offsets, has_racks = (
            any(getattr(topic, name) is not UNSET for topic in described)
            for name in ("lag", "weight", "offsets", "racks")
        )
        if has_lag:
            self._lag += per_partition(topics, "lag")
        if has_weight:
            self._weight += per_partition(topics, "weight")
        uncommitted = 0
        if has_offsets:
            logs = logs_of(topics)
            self._logs += logs
            others_of = sum(one.partitions for one in topics if one.offsets is UNSET)
            uncommitted = logs[2::3].count(UNKNOWN) - others_of
            self._given += [topic.offsets is not UNSET for topic in topics]
        self._claims += runs
        self._claimed += claimed
        self._counts += [topic.partitions for topic in topics]
        self._ends += accumulate(map(len, rows), initial=0)
        self._listed += chain.from_iterable(rows)
        self._row += row
        self._known += [one is not None for one in listed]
        born = [told(member.generation) for member in of_members]
        self._generation += [NO_GENERATION if one is None else one for one in born]
        self.topics += names
        self.members += members
        entries = sum(map(len, rows))
        self._sizes.append((len(names), len(members), total, len(rows), entries))
        reset = told(document.auto_offset_reset)
        self.said.append(
            Said(
                group=document.group,
                captured_at=told(document.captured_at),
                auto_offset_reset=reset,
                assumed=reset_noted(
                    told(document.assumed) or (), uncommitted if reset is None else 0
                ),
                absent_topics=absent,
                absent_subscriptions=others,
                racks=racks if any(racks) else None,
                replicas=replicas_of(topics) if has_racks else None,
                details=details if any(one is not NO_DETAILS for one in details) else (),
                has_lag=has_lag,
                has_weight=has_weight,
                has_offsets=has_offsets,
            )
        )
        return total

    def _claimed_by(
        self, owned: Sequence[Partitions], index: dict[str, int], places: Sequence[str]
    ) -> tuple[list[int], list[tuple[int, int, int]]]:
        """Return the partitions that are claimed, and (member, topic, how many) of each run."""
        claimed: list[int] = []
        runs = []
        before = len(self.members)
        for member, held in enumerate(owned):
            for topic, numbers in held.items():
                if len(numbers) > 1:
                    require_single(numbers, f"{places[member]}.owned.{topic}")
                runs.append((before + member, index[topic], len(numbers)))
                claimed += numbers
        return claimed, runs

    def columns(self) -> dict[str, Lists]:
        """Return the columns of all documents, by the names of the layout of rows."""
        sizes = np.array(self._sizes, np.int64).reshape(-1, 5).T
        topics, members, partitions, _, _ = starts(sizes)
        rows, entries = starts(sizes[3] + 1), starts(sizes[4])
        every = np.ones(len(self), bool)
        found = {
            "topics": Lists(self.topics, every, topics),
            "partitions": _column(self._counts, np.int64, every, topics),
            "members": Lists(self.members, every, members),
            "subscription_indptr": _column(self._ends, np.int64, every, rows),
            "subscription_topics": _column(self._listed, np.int32, every, entries),
            "subscription_row": _column(self._row, np.int32, every, members),
            "subscription_known": _column(self._known, np.bool_, every, members),
            "generation": _column(self._generation, np.int64, every, members),
        }
        has_lag, has_weight, has_offsets = (
            np.array([getattr(one, name) for one in self.said], bool)
            for name in ("has_lag", "has_weight", "has_offsets")
        )
        for name, values, has in (
            ("lag", self._lag, has_lag),
            ("weight", self._weight, has_weight),
        ):
            if has.any():
                found[name] = Lists.of(frozen(np.array(values, np.int64)), sizes[2], has)
        if has_offsets.any():
            logs = np.array(self._logs, np.int64).reshape(-1, 3).T
            for name, offsets in zip(OFFSETS, logs, strict=True):
                found[name] = Lists.of(frozen(offsets), sizes[2], has_offsets)
            given = frozen(np.array(self._given, bool))
            found["offsets.given"] = Lists.of(given, sizes[0], has_offsets)
            latest = np.array([is_latest(one.auto_offset_reset) for one in self.said], bool)
            lag = offsets_through(found, sizes[2]).lag_beside(
                found["lag"].filled(sizes[2], UNKNOWN) if "lag" in found else None,
                np.repeat(latest, sizes[2]),
                found["partitions"].values,
            )
            has_lag = has_lag | has_offsets
            lag = frozen(lag[np.repeat(has_lag, sizes[2])])
            found["lag"] = Lists.of(lag, sizes[2], has_lag)
        claims, owner = self._claims_and_owners(found)
        found["owner"] = Lists(owner, every, partitions)
        found["owner"] = Lists(frozen(found["owner"].shifted(-members[:-1])), every, partitions)
        claimed = np.searchsorted(claims.member, members)
        disputed = sums(owner >= 0, partitions) != np.diff(claimed)
        if disputed.any():
            kept = np.repeat(disputed, np.diff(claimed))
            first = np.repeat(members[:-1].astype(np.int32), np.diff(claimed))
            said = claims.member - first, claims.topic, claims.partition
            for name, of_claim in zip(("member", "topic", "partition"), said, strict=True):
                found[f"claims.{name}"] = Lists.of(
                    frozen(of_claim[kept]), np.diff(claimed), disputed
                )
        return found

    def _claims_and_owners(self, found: Mapping[str, Lists]) -> tuple[Claims, Int32]:
        """(what members claim, who validly owns what), members of all documents numbered through.

        Topics of the claims are numbered in each document, the absent ones after those that exist.
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


def _column(values: Sequence[int], kind: type[np.generic], given: Bools, start: Int64) -> Lists:
    return Lists(frozen(np.array(values, kind)), given, start)


def _existing(
    rows: list[tuple[int, ...]], row: list[int], topics: int
) -> tuple[list[tuple[int, ...]], list[int], tuple[tuple[int, int], ...]]:
    """Return the topic lists of existing topics, which each member reads, and who reads others."""
    absent = [[topic - topics for topic in one if topic >= topics] for one in rows]
    others = tuple((member, topic) for member, at in enumerate(row) for topic in absent[at])
    number: dict[tuple[int, ...], int] = {}
    there = [tuple(topic for topic in one if topic < topics) for one in rows]
    row = [number.setdefault(there[at], len(number)) for at in row]
    return list(number), row, others
