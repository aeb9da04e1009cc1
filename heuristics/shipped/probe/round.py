"""Round: a group that is put before a client, and what becomes of it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypedDict

from groups import Failed
from heuristics.shipped.joining import joining
from heuristics.shipped.probe import subscription
from heuristics.shipped.probe.wire import types

if TYPE_CHECKING:
    from groups import Group
    from heuristics.shipped.probe.subscription import Held, UserData


class Manner(TypedDict, total=False):
    """How a group is put before a client: the attributes of a Round that can be chosen.

    Attributes
    ----------
    leader, prefix, cooperative, user_data : as of :class:`Round`
    """

    leader: int
    prefix: str
    cooperative: bool | None
    user_data: UserData | None


@dataclass(eq=False)
class Round:
    """A group that is put before the client, and what became of it.

    Attributes
    ----------
    group : the group
    protocol : the assignor's name on the wire; None for the one the client prefers
    leader : index of the member that the client stands for
    prefix : put before each topic name on the wire, for clients that keep metadata by name
    cooperative, user_data : as in :func:`~heuristics.shipped.probe.subscription.encode`; None for
        what the chosen assignor's name and the client's own subscription suggest
    chosen, client_id : the assignor's name and what the client called itself, once it joined
    held : the plan; None until it is there, and where there is none
    error : why there is none
    seconds : from the JoinGroup response, sent, to the SyncGroup request, received, less what
        the coordinator itself took to answer requests for metadata in between
    over : set when the plan is there, or will not come
    """

    group: Group
    protocol: str | None = None
    leader: int = 0
    prefix: str = ""
    cooperative: bool | None = None
    user_data: UserData | None = None
    chosen: str = ""
    client_id: str = ""
    held: list[Held] | None = None
    error: Failed | None = None
    seconds: float = 0.0
    over: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        """Name the topics as they are on the wire."""
        self.topics = {self.prefix + name: i for i, name in enumerate(self.group.topics)}
        self.index = {name: i for i, name in enumerate(self.group.members)}

    @property
    def me(self) -> str:
        """The member that the client stands for."""
        return self.group.members[self.leader]

    def is_cooperative(self) -> bool:
        """Say whether owned partitions travel: as asked, or as the assignor's name says."""
        return "cooperative" in self.chosen if self.cooperative is None else self.cooperative

    def members(self, own: bytes) -> list[object]:
        """Return the members, as the JoinGroup response lists them.

        Parameters
        ----------
        own : the client's own subscription, from which its kind of user data can be told
        """
        cooperative, user_data = self.is_cooperative(), self.user_data
        if user_data is None:
            user_data = subscription.user_data_like(own) if "sticky" in self.chosen else "none"
        return [
            types().JoinGroupResponse.JoinGroupResponseMember(
                member_id=said.member_id,
                group_instance_id=said.instance_id,
                metadata=subscription.encode(
                    said, cooperative=cooperative, user_data=user_data, prefix=self.prefix
                ),
            )
            for said in joining(self.group)
        ]

    def result(self) -> tuple[list[Held], float]:
        """Return the plan as (member index, topic, partition number), and the seconds it took.

        Raises
        ------
        Failed
            Where the client made none.
        """
        if self.error is not None:
            raise self.error
        if self.held is None:
            raise Failed("no plan yet")
        return self.held, self.seconds
