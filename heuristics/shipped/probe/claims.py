"""Claims: how the members of each client tell a sticky assignor what they held."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from groups import Refused
from heuristics.shipped.probe.wire import types

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from heuristics.shipped.joining import Joining

# What a sticky assignor finds in the user data of a member that holds something:
# - assignment: Java's StickyAssignorUserData, which is the previous assignment and its generation;
# - unnumbered: the same, always with generation -1;
# - versioned: the same after the two bytes of its version;
# - generation: the generation alone;
# - none: nothing.
UserData = Literal["assignment", "unnumbered", "versioned", "generation", "none"]

WRITTEN: dict[str, dict[str, UserData]] = {
    "apache-kafka-java": {"sticky": "assignment", "cooperative-sticky": "generation"},
    "librdkafka": {"cooperative-sticky": "assignment"},
    "kgo": {"sticky": "assignment", "cooperative-sticky": "assignment"},
    "sarama": {"sticky": "assignment", "cooperative-sticky": "generation"},
    "kafka-python": {"sticky": "versioned", "cooperative-sticky": "none"},
    "kafka-python before 3": {"sticky": "assignment"},
    "aiokafka": {"sticky": "unnumbered"},
}


@dataclass(frozen=True)
class Software:
    """What a client says that it is.

    Attributes
    ----------
    client_id : what it calls itself
    name, version : of its ApiVersions request, "" where it names none there
    """

    client_id: str = ""
    name: str = ""
    version: str = ""

    def is_other_than(self, software: Software) -> bool:
        """Return whether it is known to be another client; one that was started again is not."""
        named = bool(self.name and software.name)
        if named and (self.name, self.version) != (software.name, software.version):
            return True
        return self.client_id != software.client_id

    @property
    def client(self) -> str:
        """Which client of `WRITTEN` it is; "" where that is not known.

        A client that does not name its software is known by the client id that it has where its
        user chose none.
        """
        if self.name.startswith(("librdkafka", "confluent-kafka")) or "rdkafka" in self.version:
            return "librdkafka"
        name, version = self.name, self.version
        if not name:
            name, _, version = self.client_id.rpartition("-")
            if self.client_id in ("kgo", "sarama", "rdkafka"):
                return self.client_id.replace("rdkafka", "librdkafka")
            if name not in ("aiokafka", "kafka-python"):
                return ""
        if name == "kafka-python":
            major = version.partition(".")[0]
            old = "kafka-python before 3" if major in ("1", "2") else ""
            return "kafka-python" if major.isdigit() and not old else old
        return name if name in WRITTEN else ""


def user_data_of(software: Software, assignor: str, members: Sequence[Joining]) -> UserData:
    """Return what the members of a client's group tell its assignor in their user data.

    Raises
    ------
    Refused
        Where that is not known, and a member holds something.
    """
    if "sticky" not in assignor:
        return "none"
    known = WRITTEN.get(software.client, {}).get(assignor)
    if known is not None:
        return known
    if any(said.owned or said.generation >= 0 for said in members):
        called = f"{software.name} {software.version}".strip() or software.client_id or "it"
        raise Refused(
            f"the probe does not know how members of {called} tell {assignor} what they held"
        )
    return "none"


def user_data(
    owned: Collection[tuple[str, list[int]]], generation: int, kind: UserData
) -> bytes | None:
    """Return the user data of a member; None where it comes anew or tells nothing there.

    Parameters
    ----------
    owned : topics on the wire, with the partition numbers that it held
    generation : of that, -1 where it has none
    """
    if kind == "none" or (not owned and generation < 0):
        return None
    if kind == "generation":
        return struct.pack(">i", generation)
    previous = [
        types().StickyAssignorUserData.TopicPartition(topic=topic, partitions=numbers)
        for topic, numbers in owned
    ]
    data = types().StickyAssignorUserData(
        version=1,
        previous_assignment=previous,
        generation=-1 if kind == "unnumbered" else generation,
    )
    return bytes(data.encode(header=kind == "versioned"))
