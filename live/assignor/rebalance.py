"""Rebalance: the members' claims, the leader's task, and its notes to the members.

Claims and notes travel as user data: a member's claim in JoinGroup, the leader's note in
SyncGroup. They are needed because clients give assignors different data: aiokafka has no owned
partitions, and gives neither a generation nor a member id. So leader and members count generations
of their own, and a claim means the same in every client.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeVar

import msgspec

from groups.errors import InvalidAssignment

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from groups import Assignment, Group


NEVER = -1
LAST_GENERATION = 2**53
FORMAT = b"\x01"
# More than enough: brokers limit the metadata of a whole group to about a megabyte.
MOST_BYTES = 2**24

Generation = Annotated[int, msgspec.Meta(ge=NEVER, le=LAST_GENERATION)]
PartitionNumber = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
D = TypeVar("D", "Claim", "Note")


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """What the leader sends with an assignment.

    Attributes
    ----------
    generation : generation of the plan, greater than that of any claim
    member : id of the member that the assignment is for
    unfinished : whether some partition still waits for its old owner to give it up
    """

    generation: Generation
    member: str
    unfinished: bool = False


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """What a member sends when it joins: its last assignment.

    Attributes
    ----------
    owned : partition numbers by topic
    generation, member, unfinished : from the note that came with the assignment
    holds : whether the member still reads these partitions (cooperative), or gave them up to join
        (eager)
    """

    owned: dict[str, list[PartitionNumber]] = {}
    generation: Generation = NEVER
    member: str = ""
    unfinished: bool = False
    holds: bool = False

    def about(self, topics: Collection[str], *, holds: bool) -> Claim:
        """Return the claim limited to some topics."""
        kept = {topic: numbers for topic, numbers in self.owned.items() if topic in topics}
        return msgspec.structs.replace(self, owned=kept, holds=holds)


def claim_after(given: Iterable[tuple[str, Iterable[int]]], user_data: object) -> Claim:
    """Return the claim that follows from an assignment and the user data that came with it."""
    owned = {topic: list(numbers) for topic, numbers in given}
    note = unpacked(user_data, Note)
    return Claim(owned=owned, **({} if note is None else msgspec.structs.asdict(note)))


def packed(said: Claim | Note) -> bytes:
    """Return a claim or a note as user data."""
    return FORMAT + zlib.compress(msgspec.json.encode(said), 1)


def unpacked(user_data: object, kind: type[D]) -> D | None:
    """Return the claim or note in user data; None if there is none of that kind."""
    if not isinstance(user_data, bytes | bytearray | memoryview):
        return None
    sent = bytes(user_data)
    if not sent.startswith(FORMAT):
        return None
    try:
        opened = zlib.decompressobj().decompress(sent[len(FORMAT) :], MOST_BYTES)
        return msgspec.json.decode(opened, type=kind)
    except (zlib.error, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


# By member id and topic, partition numbers in ascending order.
Plan = dict[str, dict[str, list[int]]]
# A size inferred from claims is credible up to so many partitions for each claimed one.
MOST_FOR_EACH_CLAIMED = 16


@dataclass(frozen=True)
class Joined:
    """A member that joins: the topics that it subscribes to, and its claim."""

    topics: frozenset[str]
    claim: Claim

    @staticmethod
    def of(topics: Iterable[str] | None, user_data: object) -> Joined:
        """Return what a member sent; user data that cannot be read is an empty claim."""
        return Joined(frozenset(filter(None, topics or ())), unpacked(user_data, Claim) or Claim())


@dataclass(frozen=True)
class Rebalance:
    """The members that joined, and the partitions of their topics.

    Attributes
    ----------
    members : by id, in ascending order
    numbers : partition numbers of each topic that somebody reads, ascending
    """

    members: Mapping[str, Joined]
    numbers: Mapping[str, Sequence[int]]

    @staticmethod
    def of(
        members: Mapping[str, Joined],
        numbers_of: Callable[[str], Collection[int] | None],
        *,
        gone: Collection[str] = (),
    ) -> Rebalance:
        """Return the rebalance, sorted so that it does not depend on the order of arrival.

        If the client has no metadata of a topic (yet), the claims show how many partitions it has.

        Parameters
        ----------
        numbers_of : returns the partition numbers of a topic; None or empty if the client has no
            metadata of it
        gone : topics whose claims do not count, as the client had their metadata before, so that
            they must have been deleted
        """
        joined = {member: members[member] for member in sorted(members)}
        topics = sorted({topic for one in joined.values() for topic in one.topics})
        numbers = {topic: sorted(numbers_of(topic) or ()) for topic in topics}
        for topic in {topic for topic, known in numbers.items() if not known} - {*gone}:
            readers = (one for one in joined.values() if topic in one.topics)
            claimed = {n for one in readers for n in one.claim.owned.get(topic, ())}
            least = max(claimed, default=-1) + 1
            if least <= MOST_FOR_EACH_CLAIMED * len(claimed):
                numbers[topic] = list(range(least))
        return Rebalance(joined, {topic: known for topic, known in numbers.items() if known})

    @property
    def generation(self) -> int:
        """The newest generation of all claims."""
        return max((one.claim.generation for one in self.members.values()), default=NEVER)

    @property
    def is_unfinished(self) -> bool:
        """Whether the last plan left partitions for this one to assign."""
        newest = self.generation
        claims = (one.claim for one in self.members.values())
        return any(claim.unfinished and claim.generation == newest for claim in claims)

    def group(self) -> Group:
        """Return the group; partition n of a topic is the nth of its partition numbers."""
        from groups import Group

        places = {t: {n: i for i, n in enumerate(known)} for t, known in self.numbers.items()}
        members = {}
        for member, joined in self.members.items():
            owned = {
                topic: sorted({places[topic][n] for n in numbers if n in places[topic]})
                for topic, numbers in joined.claim.owned.items()
                if topic in places
            }
            members[member] = {
                "subscription": sorted(joined.topics & places.keys()),
                "owned": owned,
                "generation": joined.claim.generation,
            }
        return Group.from_dict(
            {
                "format": "assay-group/1",
                "group": "rebalancing",
                "topics": {topic: len(known) for topic, known in self.numbers.items()},
                "members": members,
            }
        )

    def plan_of(self, assignment: Assignment) -> Plan:
        """Return an assignment of this group as a plan."""
        return {
            member: {
                topic: [self.numbers[topic][i] for i in held] for topic, held in given.items()
            }
            for member, given in assignment.to_dict().items()
        }

    def require_valid(self, plan: Plan) -> None:
        """Raise InvalidAssignment unless each partition is with one member, which reads it.

        It uses only the members' subscriptions and the cluster's metadata, no solver.
        """
        given: defaultdict[str, list[int]] = defaultdict(list)
        for member, topics in plan.items():
            if member not in self.members:
                raise InvalidAssignment(f"{member!r} is not a member of the group")
            for topic, numbers in topics.items():
                if topic not in self.members[member].topics:
                    raise InvalidAssignment(f"{member!r} does not read {topic!r}")
                given[topic] += numbers
        for topic in given.keys() | self.numbers.keys():
            if sorted(given[topic]) != list(self.numbers.get(topic, ())):
                raise InvalidAssignment(f"{topic!r}: not every partition is with one member")
        if plan.keys() != self.members.keys():
            raise InvalidAssignment("a member is missing")

    def allowed_now(self, plan: Plan) -> Plan:
        """Return the plan without the partitions that another member still holds.

        Their holder sees that they are not in its assignment, gives them up and joins again; the
        next plan gives them to their new owner (KIP-429). A member holds what it claims of the
        newest generation under its present id. A member that missed a generation or has a new id
        has lost its partitions: it would give nothing up, so nobody may wait for it.
        """
        holder: dict[tuple[str, int], str] = {}
        shared: set[tuple[str, int]] = set()
        newest = self.generation
        for member, joined in self.members.items():
            claim = joined.claim
            if not claim.holds or claim.generation != newest or claim.member != member:
                continue
            for topic in claim.owned.keys() & joined.topics:
                for number in claim.owned[topic]:
                    if holder.setdefault((topic, number), member) != member:
                        shared.add((topic, number))
        return {
            member: {
                topic: [
                    n
                    for n in numbers
                    if holder.get((topic, n), member) == member and (topic, n) not in shared
                ]
                for topic, numbers in topics.items()
            }
            for member, topics in plan.items()
        }
