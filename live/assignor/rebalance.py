"""Rebalance: what the members claim, what is asked of the leader, and what it tells them.

Claim and Note travel as user data: a member's claim in JoinGroup, the leader's note in SyncGroup.
The clients hand on different parts of the rest: aiokafka knows no owned partitions, and tells its
assignors neither a generation nor a member id. So leader and members count generations of their
own, and a claim means the same to every client.
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
# As read by Kafka's brokers, the metadata of a whole group is at most about a megabyte.
MOST_BYTES = 2**24

Generation = Annotated[int, msgspec.Meta(ge=NEVER, le=LAST_GENERATION)]
PartitionNumber = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
D = TypeVar("D", "Claim", "Note")


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """What the leader says with an assignment.

    Attributes
    ----------
    generation : of the plan, more than that of any claim the leader saw
    member : whom the assignment is for
    unfinished : whether some partition waits until its old owner has given it up
    """

    generation: Generation
    member: str
    unfinished: bool = False


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """What a member says when it joins: what it was given last.

    Attributes
    ----------
    owned : topics, each with the numbers of its partitions
    generation, member, unfinished : as the note said that came with them
    holds : whether the member goes on reading them until it is given something else
        (cooperative); not where it gave all of them up to join (eager)
    """

    owned: dict[str, list[PartitionNumber]] = {}
    generation: Generation = NEVER
    member: str = ""
    unfinished: bool = False
    holds: bool = False

    def about(self, topics: Collection[str], *, holds: bool) -> Claim:
        """Return the claim on what of this is in some topics, as a member sends it."""
        kept = {topic: numbers for topic, numbers in self.owned.items() if topic in topics}
        return msgspec.structs.replace(self, owned=kept, holds=holds)


def claim_after(given: Iterable[tuple[str, Iterable[int]]], user_data: object) -> Claim:
    """Return what a member remembers of an assignment and the user data that came with it."""
    owned = {topic: list(numbers) for topic, numbers in given}
    note = unpacked(user_data, Note)
    if note is None:
        return Claim(owned=owned)
    return Claim(
        owned=owned,
        generation=note.generation,
        member=note.member,
        unfinished=note.unfinished,
    )


def packed(said: Claim | Note) -> bytes:
    """Return user data that says this."""
    return FORMAT + zlib.compress(msgspec.json.encode(said), 1)


def unpacked(user_data: object, kind: type[D]) -> D | None:
    """Return what user data says; None where it says nothing of that kind, whatever it is."""
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


# What each member gets: by its id, topics with the numbers of their partitions, ascending.
Plan = dict[str, dict[str, list[int]]]
# A topic whose size is not known has at most so many partitions for each one that is claimed.
MOST_FOR_EACH_CLAIMED = 16


@dataclass(frozen=True)
class Joined:
    """A member as it joined: the topics it subscribes to, and what it claims."""

    topics: frozenset[str]
    claim: Claim

    @staticmethod
    def of(topics: Iterable[str] | None, user_data: object) -> Joined:
        """Read what a member sent; what cannot be read claims nothing."""
        return Joined(frozenset(filter(None, topics or ())), unpacked(user_data, Claim) or Claim())


@dataclass(frozen=True)
class Rebalance:
    """Who joined, and which partitions there are.

    Attributes
    ----------
    members : by their ids, in ascending order
    numbers : of the partitions of each topic that somebody reads, ascending
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
        """Collect what is known, in an order that does not depend on the order it came in.

        A topic of which the client knows nothing (yet) has as many partitions as the claims show.

        Parameters
        ----------
        numbers_of : the partition numbers of a topic as the client knows them; None or none
            where it does not know the topic
        gone : topics of which claims do not count, as the client knew them before
        """
        joined = {member: members[member] for member in sorted(members)}
        topics = sorted({topic for one in joined.values() for topic in one.topics})
        numbers = {topic: sorted(numbers_of(topic) or ()) for topic in topics}
        unknown = {topic for topic, known in numbers.items() if not known} - {*gone}
        claimed = _claimed(joined, unknown)
        for topic in unknown:
            numbers[topic] = list(range(_size(claimed[topic])))
        return Rebalance(joined, {topic: known for topic, known in numbers.items() if known})

    @property
    def generation(self) -> int:
        """The newest generation that somebody claims from."""
        return max((one.claim.generation for one in self.members.values()), default=NEVER)

    @property
    def is_unfinished(self) -> bool:
        """Whether the last plan left partitions to this one."""
        newest = self.generation
        claims = (one.claim for one in self.members.values())
        return any(claim.unfinished and claim.generation == newest for claim in claims)

    def group(self) -> Group:
        """Return the group, in which partition n of a topic is the nth of its numbers."""
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
        """Return the plan that an assignment of this group is."""
        return {
            member: {
                topic: [self.numbers[topic][i] for i in held] for topic, held in given.items()
            }
            for member, given in assignment.to_dict().items()
        }

    def require_valid(self, plan: Plan) -> None:
        """Raise InvalidAssignment unless each partition is with one member, which reads it.

        It looks at nothing but what the members and the cluster said.
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
        """Return what of a plan can be given at once: what another member still holds waits.

        Who holds it sees that it is not in its assignment, gives it up and joins again; the next
        plan gives it to its new owner (KIP-429). A member holds what it claims from the newest
        generation, under the id that it had then: one that missed a generation or joined anew has
        lost what it had, would give nothing up, and nobody may wait for it.
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
        if not holder:
            return plan
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


def _claimed(members: Mapping[str, Joined], topics: set[str]) -> Mapping[str, set[int]]:
    """Return the partition numbers that readers of some topics claim of them."""
    found: defaultdict[str, set[int]] = defaultdict(set)
    for joined in members.values():
        for topic in joined.claim.owned.keys() & joined.topics & topics:
            found[topic].update(joined.claim.owned[topic])
    return found


def _size(claimed: set[int]) -> int:
    """Return how many partitions a topic has at least; none where that is not credible."""
    least = max(claimed, default=-1) + 1
    return least if least <= MOST_FOR_EACH_CLAIMED * len(claimed) else 0
