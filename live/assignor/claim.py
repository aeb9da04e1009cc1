"""Claim and Note: what members and leader tell each other beside what Kafka's protocol carries.

Both travel as user data: a member's claim in JoinGroup, the leader's note in SyncGroup. The
clients hand on different parts of the rest: aiokafka knows no owned partitions, and tells its
assignors neither a generation nor a member id. So leader and members count generations of their
own, and a claim means the same to every client.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Annotated, TypeVar

import msgspec

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

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
