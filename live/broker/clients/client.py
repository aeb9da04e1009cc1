"""Client: what is asked of a consumer, and what each kind of them can do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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

    @property
    def pattern(self) -> str | None:
        """Return the pattern that it subscribes to, where it is one."""
        return self.topics[0] if len(self.topics) == 1 and self.topics[0][:1] == "^" else None


class Client(Protocol):
    """A consumer of one client, used by one thread but for `assigned`."""

    def poll(self) -> None:
        """Read what there is, and take part in the group."""

    def assigned(self) -> Held | None:
        """Return the topic partitions that it holds, None before it is a member; thread-safe."""

    def commit(self, offsets: Offsets) -> None:
        """Commit offsets by topic and partition, and wait for the answer."""

    def close(self) -> None:
        """Leave the group."""
