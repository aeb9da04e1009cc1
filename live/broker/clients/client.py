"""Client: what is asked of a consumer, and what each kind of them can do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from live.broker.progress import Batch

    Held = set[tuple[str, int]]
    Offsets = Mapping[str, Mapping[int, int]]

SESSION_MS = 6000
HEARTBEAT_MS = 300
COMMIT_MS = 200
REFRESH_MS = 1000


@dataclass(frozen=True)
class Wanted:
    """What a consumer is started with; `Consumer.start` says what each is."""

    bootstrap: str
    group: str
    topics: Sequence[str]
    client_id: str
    instance_id: str | None
    assignors: Sequence[str]
    config: Mapping[str, object]
    commit: bool
    release: str | None = None

    @property
    def pattern(self) -> str | None:
        """Return the pattern that it subscribes to, where it is one."""
        return self.topics[0] if len(self.topics) == 1 and self.topics[0][:1] == "^" else None


def settings_of(wanted: Wanted) -> dict[str, object]:
    """Return the settings that Kafka's own consumer and librdkafka call the same."""
    static = {} if wanted.instance_id is None else {"group.instance.id": wanted.instance_id}
    return {
        "bootstrap.servers": wanted.bootstrap,
        "group.id": wanted.group,
        "client.id": wanted.client_id,
        "enable.auto.commit": wanted.commit,
        "auto.commit.interval.ms": COMMIT_MS,
        "auto.offset.reset": "earliest",
        **static,
    }


def classic(assignors: Sequence[str]) -> dict[str, object]:
    """Return the settings of a classic group, as both call them."""
    strategy = {"partition.assignment.strategy": ",".join(assignors)} if assignors else {}
    return {
        "session.timeout.ms": SESSION_MS,
        "heartbeat.interval.ms": HEARTBEAT_MS,
        **strategy,
    }


def kip_848(assignors: Sequence[str]) -> dict[str, object]:
    """Return the settings of a KIP-848 group, whose broker sets sessions and heartbeats."""
    remote = {"group.remote.assignor": assignors[0]} if assignors else {}
    return {"group.protocol": "consumer", **remote}


class Client(Protocol):
    """A consumer of one client, used by one thread but for `assigned`."""

    def poll(self) -> list[Batch]:
        """Read what there is, take part in the group, and return what was read."""

    def assigned(self) -> Held | None:
        """Return the topic partitions that it holds, None before it is a member; thread-safe."""

    def commit(self, offsets: Offsets) -> None:
        """Commit offsets by topic and partition, and wait for the answer."""

    def close(self) -> None:
        """Leave the group."""
