"""Look: what is to be seen of a group and its consumers at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from broker import Progress

ANSWER_SECONDS = 10.0
# As the console tool writes them.
STATES = {
    "PREPARING_REBALANCING": "PreparingRebalance",
    "COMPLETING_REBALANCING": "CompletingRebalance",
    "STABLE": "Stable",
    "EMPTY": "Empty",
    "ASSIGNING": "Assigning",
    "RECONCILING": "Reconciling",
    # librdkafka has no words for those of a KIP-848 group.
    "UNKNOWN": "Assigning or Reconciling",
}


@dataclass(frozen=True)
class Look:
    """What was seen at one moment.

    Attributes
    ----------
    at : seconds after the last member was started
    state : of the group, as the broker says
    members : of the group, by client id
    behind : records that are written and not read, of all partitions
    progress : of each consumer
    """

    at: float
    state: str
    members: frozenset[str]
    behind: int
    progress: Mapping[str, Progress]


class Watcher:
    """What the broker says of one group, asked over one connection.

    Parameters
    ----------
    bootstrap : address of the broker
    group : which group
    """

    def __init__(self, bootstrap: str, group: str) -> None:
        from confluent_kafka.admin import AdminClient

        self._admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
        self._group = group

    def says(self) -> tuple[str, frozenset[str]]:
        """Return the state of the group, and the client ids of its members."""
        asked = self._admin.describe_consumer_groups([self._group])
        told = asked[self._group].result(ANSWER_SECONDS)
        members = frozenset(str(each.client_id) for each in told.members)
        return STATES.get(told.state.name, told.state.name), members
