"""Group: a consumer group as solvers and assignors see it; immutable, columnar, always valid."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.arguments import require_whole, taking
from groups.arrays import (
    GREATEST,
    NO_GENERATION,
    NOBODY,
    UNKNOWN,
    check_total,
    column,
    constructor_call,
    count_owners,
    frozen,
    integers,
    names,
    starts,
)
from groups.columns.claims import BY_CLAIMS, Claims
from groups.columns.offsets import reset_noted, start_under
from groups.columns.places import MemberDetails, Places, host_of_client
from groups.columns.subscriptions import Subscriptions, in_use, of_members
from groups.columns.validity import Columns, valid
from groups.documents.assay_group import as_json, pairs
from groups.documents.assay_streams import StreamsDocument, of_mapping, of_text
from groups.documents.json_files import split_documents
from groups.documents.snapshot import columns_of_each, document_of
from groups.documents.snapshots import Snapshots
from groups.documents.texts import named, read_bytes
from groups.errors import BadInput
from groups.framed import Framed
from groups.wording import (
    CLASSIC_STREAMS,
    HELD_NOW,
    OF_CONSUMERS,
    OF_STREAMS,
    ON_THE_WAY,
    RANDOM_ID,
    Nouns,
    counted,
    with_client,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from groups.arrays import Bools, Int32, Int64, Ints
    from groups.columns.places import PlaceKind
    from groups.documents.assay_group import Document, JsonObject


@dataclass(frozen=True, eq=False)
class Group(Columns, Framed):
    """A consumer group: topics, members, subscriptions, owners, lag and weight.

    The constructor checks every rule and keeps arrays that nobody else can change, so that every
    group is valid. Usually `from_dict`, `read` or `from_arrays` calls it. "All partitions" are
    numbered topic by topic, in the order of `topics`.

    Attributes
    ----------
    name : id of the group
    topics, members : names, (topics,) and (members,)
    partitions : (topics,) int64, partition count of each topic
    subscription_indptr, subscription_topics : CSR of the topic lists that members read, (rows +
        1,) int64 and (entries,) int32; ascending in each row, and some member reads each row
    subscription_row : (members,) int32, the row that each member reads; rows may be equal
    subscription_known : (members,) bool, False where the source does not show a subscription
    owner : (all partitions,) int32, valid owner (docs/explanation/proof.md), -1 where nobody; pass
        `groups.columns.claims.BY_CLAIMS` to derive it from `raw_claims`
    generation : (members,) int64, generation of the member's claims, -1 where none was given
    lag_records, weight : (all partitions,) int64 with -1 where unknown, or None
    racks : the racks of members and replicas, or None
    copies : the hosts of members and of the copies of each partition's state, its owner's copy
        included; a partition without a set of replicas keeps no state. None if that is not known.
        No ``assay-group/1`` document has it
    offsets : the log offsets from which the lag was computed, or None
    raw_claims : what members said they own; None if that is what they validly own, or owners
        were given
    absent_topics : names that members subscribe to or claim but that do not exist
    absent_subscriptions : (member, index into `absent_topics`) pairs
    details : of each member, or empty
    assumed : what was assumed about the source, as lines for users
    streams : the snapshot of the Kafka Streams group whose active tasks these partitions are

    Raises
    ------
    BadInput
        If a rule is broken; the message names the place.
    """

    def __post_init__(self) -> None:
        """Check every rule of a group, and replace arrays by immutable ones."""
        vars(self).update(valid(self))

    def to_rows(self) -> Iterator[dict[str, object]]:
        """Return one row per partition.

        The columns are `topic`, `partition` (its number in the topic), `owner` (the member that
        validly owns it, None if nobody does), `lag_records` and `weight`, None if unknown.
        """
        for at, owner in enumerate(self.owner.tolist()):
            lag, weight = (
                None if column is None or column[at] < 0 else int(column[at])
                for column in (self.lag_records, self.weight)
            )
            yield {
                "topic": self.topics[self.topic[at]],
                "partition": int(self.number[at]),
                "owner": None if owner < 0 else self.members[owner],
                "lag_records": lag,
                "weight": weight,
            }

    def __repr__(self) -> str:
        return (
            f"Group({self.name!r}, {len(self.topics)} topics, {self.n_partitions} partitions, "
            f"{len(self.members)} members)"
        )

    __reduce__ = constructor_call

    @staticmethod
    @taking
    def read(path: str | Path) -> Group:
        """Read the one group of an ``assay-group/1`` or ``assay-streams/1`` file.

        Raises
        ------
        BadInput
            If the file is not one good snapshot; the message names the place.
        """
        name = named(str(path))
        texts = split_documents(read_bytes(path), name)
        place, text = next(texts)
        try:
            group = Group.from_json(text)
        except BadInput as error:
            raise error.within(place) from None
        if next(texts, None) is not None:
            raise BadInput(f"{name}: several groups, expected one; read_groups takes them all")
        return group

    @staticmethod
    def from_dict(document: Mapping[str, object]) -> Group:
        """Build the group of an ``assay-group/1`` or ``assay-streams/1`` document.

        Members and topics are sorted by name.

        Raises
        ------
        BadInput
            If a rule of the format is broken; the message names the place.
        """
        return Group.of_document(of_mapping(document))

    @staticmethod
    @taking
    def from_json(text: str) -> Group:
        """Build the group of an ``assay-group/1`` or ``assay-streams/1`` document in JSON.

        The same as `from_dict` of the parsed text, but faster.

        Raises
        ------
        BadInput
            If the text is not JSON, or a rule of the format is broken.
        """
        return Group.of_document(of_text(text))

    @staticmethod
    def of_document(document: Document | StreamsDocument) -> Group:
        """Build the group of a decoded document, or of one built from valid names and numbers.

        Raises
        ------
        BadInput
            If a rule is broken that types cannot express; the message names the place.
        """
        if isinstance(document, StreamsDocument):
            group = Group.of_document(document.consumer_group())
            return replace(group, streams=document, copies=document.copies())
        found = Snapshots()
        found.add(document)
        return Group.of_valid(next(columns_of_each(found)))

    @staticmethod
    def of_valid(columns: Mapping[str, Any]) -> Group:
        """Return a group of columns without checking them.

        For callers that have just checked every rule and frozen the columns, such as the reader
        of documents.
        """
        group = object.__new__(Group)
        vars(group).update(columns)
        return group

    def to_dict(self) -> JsonObject:
        """Return the ``assay-group/1`` document of this group."""
        return as_json(self.document())

    def snapshot(self) -> JsonObject:
        """Return the document of this group: ``assay-streams/1`` if it is of Kafka Streams."""
        return as_json(self.streams or self.document())

    def document(self) -> Document:
        """Return the ``assay-group/1`` document as a msgspec Struct."""
        return document_of(self, self.claims)

    @staticmethod
    def from_arrays(
        *,
        group: str,
        topics: Sequence[str],
        partitions: npt.ArrayLike,
        members: Sequence[str],
        subscription_indptr: npt.ArrayLike,
        subscription_topics: npt.ArrayLike,
        subscription_row: npt.ArrayLike | None = None,
        owner: npt.ArrayLike | None = None,
        lag: npt.ArrayLike | None = None,
        weight: npt.ArrayLike | None = None,
    ) -> Group:
        """Build a group from columns; members and topics keep their order.

        Parameters
        ----------
        group : id of the group
        topics, members : distinct non-empty names, (topics,) and (members,)
        partitions : (topics,) int, partition count of each topic
        subscription_indptr, subscription_topics : CSR, rows ascending and without repeats
        subscription_row : (members,) int, the row of the CSR that each member reads; None: member
            i reads row i. Rows that nobody reads are dropped, equal rows are merged
        owner : (all partitions,) int, index of the valid owner, -1 nobody; None: nobody anywhere
        lag : (all partitions,) int, records, -1 unknown
        weight : (all partitions,) int, bytes or rate, -1 unknown

        Raises
        ------
        BadInput
            If an array has the wrong length or content.
        """
        size = len(members)
        indptr, listed, row = of_members(
            subscription_indptr, subscription_topics, subscription_row, size
        )
        counts = column(partitions, "partitions", np.int64)
        if owner is None:
            owner = frozen(np.full(check_total(counts.tolist()), NOBODY, np.int32))
        return Group(
            name=group,
            topics=names(topics, "topics"),
            partitions=counts,
            members=names(members, "members"),
            subscription_indptr=indptr,
            subscription_topics=listed,
            subscription_row=row,
            subscription_known=frozen(np.ones(size, bool)),
            owner=integers(owner, "owner"),
            generation=frozen(np.full(size, NO_GENERATION, np.int64)),
            lag_records=None if lag is None else integers(lag, "lag"),
            weight=None if weight is None else integers(weight, "weight"),
        )

    @property
    def of_streams(self) -> bool:
        """Whether it is a Kafka Streams group: no consumer assignor assigns its partitions."""
        return self.streams is not None or any(
            line.startswith(CLASSIC_STREAMS) for line in self.assumed
        )

    @property
    def nouns(self) -> Nouns:
        """The nouns for its partitions, members, hosts and itself in texts for users."""
        return OF_CONSUMERS if self.streams is None else OF_STREAMS

    @property
    def n_partitions(self) -> int:
        """Number of all partitions."""
        return len(self.owner)

    @property
    def n_candidates(self) -> int:
        """Number of pairs of a partition and a member that reads it."""
        return int((self.readers * self.partitions).sum())

    @cached_property
    def first(self) -> Int64:
        """(topics + 1,) int64: index of each topic's first partition, then the total."""
        return frozen(starts(self.partitions))

    @cached_property
    def topic(self) -> Int32:
        """(all partitions,) int32: topic of each partition."""
        indices = np.arange(len(self.topics), dtype=np.int32)
        return frozen(np.repeat(indices, self.partitions))

    @cached_property
    def number(self) -> Int64:
        """(all partitions,) int64: number of each partition inside its topic."""
        return frozen(np.arange(self.n_partitions) - self.first[self.topic])

    @cached_property
    def subscriptions(self) -> Subscriptions:
        """The four columns of subscriptions, and what is derived from them."""
        return Subscriptions.of_valid(
            self.subscription_indptr,
            self.subscription_topics,
            self.subscription_row,
            self.subscription_known,
            len(self.topics),
        )

    @cached_property
    def called(self) -> tuple[str, ...]:
        """The members for people: their ids, with the client id if an id does not begin with it.

        KIP-848 gives members random ids: ``FVpH17MgT9Oni5cLnfE1Uw (orders-2)``.
        """
        clients = [one.client_id for one in self.details] or [None] * len(self.members)
        return tuple(map(with_client, self.members, clients))

    @property
    def is_kip_848(self) -> bool:
        """Whether the snapshot shows that the members use the protocol of KIP-848.

        They have an epoch or a target then, or an id of 128 random bits: any text that lists
        members has their ids, and a classic one's is its client id with a UUID.
        """
        return any(one.epoch is not None or one.target is not None for one in self.details) or any(
            RANDOM_ID.fullmatch(member) for member in self.members
        )

    @property
    def readers(self) -> Int64:
        """(topics,) int64: how many members read each topic."""
        return self.subscriptions.readers

    @property
    def reads(self) -> Int64:
        """(members,) int64: how many topics each member reads."""
        return self.subscriptions.reads

    @property
    def subscription_pairs(self) -> tuple[Int32, Int32]:
        """All (member, topic) pairs with a subscription, sorted: two int32 columns.

        Their length is the sum over members, even if many share a row.
        """
        return self.subscriptions.pairs

    def subscription(self, member: int) -> Int32:
        """Return the topics that a member reads, ascending: (its topics,) int32.

        Raises
        ------
        BadInput
            If there is no such member.
        """
        require_whole("member", member, below=(len(self.members), "members"))
        row = self.subscription_row[member]
        start, end = self.subscription_indptr[row : row + 2]
        return self.subscription_topics[start:end]

    def subscribers(self, topic: int) -> Int32:
        """Return the members that read a topic, ascending: (its readers,) int32.

        Raises
        ------
        BadInput
            If there is no such topic, or a subscription is unknown: any topic may have more
            readers.
        """
        require_whole("topic", topic, below=(len(self.topics), "topics"))
        self.require_subscriptions()
        ends, members = self.subscriptions.by_topic
        return members[ends[topic] : ends[topic + 1]]

    def subscribes(self, member: Ints, topic: Ints) -> Bools:
        """Return for each pair of indices whether the member reads the topic.

        It is true for a member whose subscription is unknown.
        """
        return self.subscriptions.include(member, topic)

    @cached_property
    def everybody_reads_all(self) -> bool:
        """True if every member is known to read every topic with partitions, by one common row.

        False says nothing if members read several rows.
        """
        return self.subscriptions.hold_all(self.partitions)

    @cached_property
    def capacity(self) -> Int64:
        """(members,) int64: records per second that each member can read, -1 where unknown."""
        known = [one.capacity for one in self.details] or [None] * len(self.members)
        return frozen(np.array([UNKNOWN if c is None else c for c in known], np.int64))

    @cached_property
    def _places(self) -> dict[PlaceKind, Places]:
        racks, unknown = self.racks, [None] * len(self.members)
        in_racks: Sequence[str | None] = unknown
        if racks is not None:
            in_racks = [None if at < 0 else racks.names[at] for at in racks.member.tolist()]
        hosts = [one.host for one in self.details] or unknown
        return {"host": Places.of(hosts), "rack": Places.of(in_racks)}

    def places(self, kind: PlaceKind) -> Places:
        """Return the hosts or the racks of members."""
        return self._places[kind]

    @cached_property
    def owned(self) -> Int64:
        """(members,) int64: how many partitions each member validly owns."""
        return count_owners(self.owner, len(self.members))

    @cached_property
    def is_disputed(self) -> bool:
        """Whether members claim anything that they do not validly own."""
        # Every valid owner claims its partition, so equal numbers mean equal sets.
        claims = self.raw_claims
        return claims is not None and len(claims.member) != np.count_nonzero(self.owner >= 0)

    @property
    def claims(self) -> Claims:
        """The raw claims, or the valid owners as claims if there are none."""
        return self.owned_claims if self.raw_claims is None else self.raw_claims

    @property
    def next_generation(self) -> int:
        """The generation after the members' newest, at most the greatest of 64 bits."""
        return min(int(self.generation.max(initial=NO_GENERATION)) + 1, GREATEST)

    @cached_property
    def owned_claims(self) -> Claims:
        """The valid owners, as claims."""
        held = np.flatnonzero(self.owner >= 0)
        held = held[np.argsort(self.owner[held], kind="stable")]
        return Claims.ascending(
            frozen(self.owner[held]), frozen(self.topic[held]), frozen(self.number[held])
        )

    def with_claims(
        self, member: npt.ArrayLike, partition: npt.ArrayLike, *, generation: int | None = None
    ) -> Group:
        """Return the group whose members claim these partitions, with the owners that follow.

        Members' targets are dropped, since they belong to the claims before.

        Parameters
        ----------
        member, partition : (pairs,) int, the second among all partitions; repeated pairs count
            once
        generation : of every member from now on; None: each keeps its own

        Raises
        ------
        BadInput
            If there is no such member or partition.
        """
        here, there = (len(self.members), "members"), (self.n_partitions, "partitions")
        who = column(member, "claims.member", np.int64, below=here)
        what = column(partition, "claims.partition", np.int64, length=len(who), below=there)
        claims = Claims.of(who, what, self.topic, self.number)
        born = self.generation
        if generation is not None:
            born = frozen(np.full_like(born, generation))
        details = tuple(replace(one, target=None) for one in self.details)
        return replace(self, owner=BY_CLAIMS, generation=born, raw_claims=claims, details=details)

    def with_target(self) -> Group:
        """Return the group in which every member holds its target assignment (KIP-848).

        A rebalance that is under way ends there, and from there the broker's assignor starts the
        next one. `assumed` says how many partitions still have to be handed over. The group is
        returned unchanged if the target of a member is unknown, or no partition is on the way.
        """
        targets = [one.target for one in self.details]
        if not targets or None in targets:
            return self
        start = dict(zip(self.topics, self.first.tolist(), strict=False))
        count = dict(zip(self.topics, self.partitions.tolist(), strict=True))
        wanted = {
            (m, start[topic] + number)
            for m, target in enumerate(targets)
            for topic, number in pairs(target or {})
            if number < count.get(topic, 0)
        }
        claims = self.claims
        there = claims.topic < len(self.topics)
        at = self.first[claims.topic[there]] + claims.partition[there]
        held = set(zip(claims.member[there].tolist(), at.tolist(), strict=True))
        on_the_way = len({partition for _, partition in wanted ^ held})
        if not on_the_way:
            return self
        member, partition = np.array(sorted(wanted), np.int64).reshape(-1, 2).T
        are = f"{counted(on_the_way, self.nouns.partition)} {'is' if on_the_way == 1 else 'are'}"
        line = f"{ON_THE_WAY}: {are} still to be handed over; judged as it will be then"
        reached = self.with_claims(member, partition)
        kept = (one for one in self.assumed if not one.startswith(HELD_NOW))
        return replace(reached, details=self.details, assumed=(*kept, line))

    def only(self, members: npt.ArrayLike) -> Group:
        """Return the group of some of its members, with what they read, claim and own.

        If claims were given, owners are derived from the claims of these members.

        Parameters
        ----------
        members : (members to keep,) int, ascending indices without repeats

        Raises
        ------
        BadInput
            If there is no such member, or they do not ascend.
        """
        kept = column(members, "members", np.int64, below=(len(self.members), "members"))
        if (kept[1:] <= kept[:-1]).any():
            raise BadInput("members: not ascending without repeats")
        place = np.full(len(self.members) + 1, NOBODY, np.int32)
        place[kept] = np.arange(len(kept))
        owner, claims = place[self.owner], self.raw_claims
        if claims is not None:
            member = place[claims.member]
            theirs = member >= 0
            claims = Claims(member[theirs], claims.topic[theirs], claims.partition[theirs])
            owner = BY_CLAIMS
        indptr, listed, row = in_use(
            self.subscription_indptr, self.subscription_topics, self.subscription_row[kept]
        )
        racks, copies = (
            None if one is None else replace(one, member=one.member[kept])
            for one in (self.racks, self.copies)
        )
        return replace(
            self,
            members=tuple(self.members[m] for m in kept.tolist()),
            subscription_indptr=indptr,
            subscription_topics=listed,
            subscription_row=row,
            subscription_known=self.subscription_known[kept],
            owner=owner,
            generation=self.generation[kept],
            racks=racks,
            copies=copies,
            raw_claims=claims,
            absent_subscriptions=tuple(
                (int(place[m]), topic) for m, topic in self.absent_subscriptions if place[m] >= 0
            ),
            details=tuple(self.details[m] for m in kept.tolist()) if self.details else (),
        )

    @cached_property
    def topics_in_demand(self) -> Int64:
        """Topics that some member is sure to read, ascending int64; all if nobody claims anything.

        A member of unknown subscription is sure to read the topics of which it claims a partition.
        """
        claims = self.claims
        if not len(claims.topic):
            return frozen(np.arange(len(self.topics), dtype=np.int64))
        shows = (claims.topic < len(self.topics)) & ~self.subscription_known[claims.member]
        read = np.union1d(claims.topic[shows], self.subscription_topics)
        return frozen(read.astype(np.int64))

    def with_equal_subscriptions(self) -> Group:
        """Return the group with every unknown subscription assumed to be all topics in demand.

        Known subscriptions stay. `assumed` gets a line on it.
        """
        unknown = ~self.subscription_known
        if not unknown.any():
            return self
        topics = self.topics_in_demand
        who = "1 member" if unknown.sum() == 1 else f"{unknown.sum()} members"
        what = "the 1 topic" if len(topics) == 1 else f"all {len(topics)} topics"
        where = "of the group" if len(topics) == len(self.topics) else "that somebody holds"
        line = f"subscription of {who} unknown, taken as {what} {where}"
        return self.with_reads([topics], np.flatnonzero(unknown), assumed=line)

    def with_reads(
        self, rows: Sequence[Int64], members: Int64, *, assumed: str | None = None
    ) -> Group:
        """Return the group with new, known subscriptions of some members.

        Parameters
        ----------
        rows : a topic list for each of the members, or one for all; ascending topics
        members : (changed,) the members that get new subscriptions
        assumed : a line to add to `assumed`
        """
        if not len(members):
            return self
        indptr, lengths = self.subscription_indptr, [len(row) for row in rows]
        row, known = self.subscription_row.copy(), self.subscription_known.copy()
        row[members] = len(indptr) - 1 + np.arange(len(members)) % len(rows)
        known[members] = True
        indptr, listed, row = in_use(
            np.concatenate((indptr, indptr[-1] + np.cumsum(lengths, dtype=np.int64))),
            np.concatenate((self.subscription_topics, *rows)).astype(np.int32),
            row,
        )
        return replace(
            self,
            subscription_indptr=indptr,
            subscription_topics=listed,
            subscription_row=row,
            subscription_known=known,
            assumed=self.assumed if assumed is None else (*self.assumed, assumed),
        )

    @taking
    def with_unknown_lag(self, lag_records: int) -> Group:
        """Return the group with `lag_records` (0 or more) wherever the lag is unknown."""
        if lag_records < 0:
            raise BadInput(f"lag: {lag_records}, expected 0 or more")
        known = self.lag_records
        lag = np.full(self.n_partitions, UNKNOWN, np.int64) if known is None else known
        missing = int((lag < 0).sum())
        what = "1 partition" if missing == 1 else f"{missing} partitions"
        line = f"lag of {what} unknown, taken as {lag_records}"
        assumed = (*self.assumed, line) if missing else self.assumed
        return replace(self, lag_records=np.where(lag < 0, lag_records, lag), assumed=assumed)

    @taking
    def with_reset(self, reset: str | None) -> Group:
        """Return the group with this `auto_offset_reset`, unless the source gave one.

        The lag of partitions without a commit is computed again, and the line on it in `assumed`
        is dropped.

        Parameters
        ----------
        reset : ``latest``, ``earliest``, ``none`` or ``by_duration:DURATION``; the last two leave
            lag without a commit unknown. None: the group is returned unchanged

        Raises
        ------
        BadInput
            If it is another text.
        """
        if reset is None or self.auto_offset_reset is not None:
            return self
        lag, assumed = self.lag_records, reset_noted(self.assumed, 0)
        if self.offsets is not None:
            lag = self.offsets.lag_beside(lag, start_under(reset), self.partitions)
        return replace(self, lag_records=lag, auto_offset_reset=reset, assumed=assumed)

    @taking
    def with_rate(self, records_a_second: int) -> Group:
        """Return the group in which every member without a `capacity` has this one.

        Parameters
        ----------
        records_a_second : 1 or more

        Raises
        ------
        BadInput
            If it is out of range.
        """
        if not 1 <= records_a_second <= GREATEST:
            raise BadInput(f"rate: {records_a_second}, expected 1 or more records a second")
        known = self.details or (MemberDetails(),) * len(self.members)
        return replace(
            self,
            details=tuple(
                one if one.capacity is not None else replace(one, capacity=records_a_second)
                for one in known
            ),
        )

    def with_hosts_by_client_id(self) -> Group:
        """Return the group with hosts taken from client ids.

        The host is the client id without ``-StreamThread-N`` or a number at its end; a member
        without a client id has no host. A streams group is returned unchanged: its hosts are the
        processes of its threads.
        """
        if self.streams is not None or not self.members:
            return self
        details = (
            replace(one, host=None if one.client_id is None else host_of_client(one.client_id))
            for one in self.details
        )
        line = "hosts taken from client ids, without the thread or number at their end"
        return replace(self, details=tuple(details), assumed=(*self.assumed, line))

    def require_subscriptions(self) -> None:
        """Raise BadInput if a subscription is unknown."""
        unknown = np.flatnonzero(~self.subscription_known)
        if len(unknown):
            raise BadInput(
                f"members.{self.members[unknown[0]]}.subscription: unknown"
                f"{f' (and {len(unknown) - 1} more)' if len(unknown) > 1 else ''}",
                remedy="subscriptions",
            )
