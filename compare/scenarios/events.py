"""Events: what happens to a group between two rebalances, as changes of its document.

An event never touches who owns what: that is the assignor's to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from compare.scenarios import changes
from groups import BadInput
from groups.arrays import GREATEST, check_total
from groups.documents import fields

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from compare.scenarios.changes import StageDocument
    from groups.documents.assay_group import JsonObject

Value = TypeVar("Value")
MOST_JOINED = 100_000
# What an event says of a member that joins.
JOINS = {
    "subscription", "rack", "instance_id", "client_id", "host", "assignors", "capacity",
}  # fmt: skip


@dataclass(frozen=True)
class Event:
    """One event of a scenario.

    Attributes
    ----------
    kind : key of :data:`EVENT_KINDS`
    value : as the scenario has it, its shape checked
    place : where it stands, for messages
    """

    kind: str
    value: object
    place: str

    @staticmethod
    def from_dict(document: object, place: str) -> Event:
        """Read an event: an object whose one key is its kind.

        Raises
        ------
        BadInput
            Where the kind is not known or its value has another shape.
        """
        found = fields.mapping(document, place)
        if len(found) != 1:
            fields.refuse(place, f"{len(found)} keys, expected one: {', '.join(EVENT_KINDS)}")
        kind, value = next(iter(found.items()))
        if kind not in EVENT_KINDS:
            fields.refuse(place, f"unknown key {kind!r}, expected one of {', '.join(EVENT_KINDS)}")
        at = f"{place}.{kind}"
        return Event(kind, EVENT_KINDS[kind].read(value, at), at)

    @property
    def times(self) -> int:
        """How many rebalances follow: 1, of a stable group as many as asked."""
        return self.value if self.kind == "stable" and isinstance(self.value, int) else 1

    def happen(self, group: StageDocument, rng: np.random.Generator) -> tuple[StageDocument, str]:
        """Return the document after the event, and one line that says what happened.

        Parameters
        ----------
        group : an ``assay-group/1`` document whose topics are objects; stays as it is
        rng : draws members and lags where the event leaves them open

        Raises
        ------
        BadInput
            Where a member or topic is there that should not be, or the other way round.
        """
        return EVENT_KINDS[self.kind].change(group, self.value, self.place, rng)


@dataclass(frozen=True)
class EventKind(Generic[Value]):
    """How events of one kind are read, and what they change."""

    read: Callable[[object, str], Value]
    change: Callable[[StageDocument, Value, str, np.random.Generator], tuple[StageDocument, str]]


def _read_join(value: object, place: str) -> int | dict[str, JsonObject]:
    if type(value) is int:
        if value > MOST_JOINED:
            fields.refuse(place, f"{value}, at most {MOST_JOINED} members join at once")
        return fields.integer(value, place, least=1)
    joined: dict[str, JsonObject] = {}
    for member, said in fields.mapping(value, place).items():
        at = f"{place}.{fields.name(member, place)}"
        found = fields.mapping(said, at, allowed=JOINS, required=("subscription",))
        fields.strings(found["subscription"], f"{at}.subscription")
        joined[member] = dict(found)
    return joined


def _read_leave(value: object, place: str) -> int | tuple[str, ...]:
    if type(value) is int:
        return fields.integer(value, place, least=1)
    return fields.strings(value, place)


def _read_counts(value: object, place: str) -> dict[str, int]:
    counts = {
        fields.name(topic, place): fields.integer(count, f"{place}.{topic}")
        for topic, count in fields.mapping(value, place).items()
    }
    try:
        check_total(counts.values())
    except BadInput as error:
        raise error.within(place) from None
    return counts


def _read_subscriptions(value: object, place: str) -> dict[str, tuple[str, ...]]:
    return {
        fields.name(member, place): fields.strings(topics, f"{place}.{member}")
        for member, topics in fields.mapping(value, place).items()
    }


def _read_drift(value: object, place: str) -> tuple[int, int]:
    found = fields.mapping(value, place, allowed={"least", "most"}, required=("least", "most"))
    least = fields.integer(found["least"], f"{place}.least", least=-GREATEST)
    most = fields.integer(found["most"], f"{place}.most", least=-GREATEST)
    if most < least:
        fields.refuse(place, f"most is {most}, below least, which is {least}")
    return least, most


EVENT_KINDS: dict[str, EventKind[Any]] = {
    "join": EventKind(_read_join, changes.join),
    "leave": EventKind(_read_leave, changes.leave),
    "add_partitions": EventKind(_read_counts, changes.add_partitions),
    "create": EventKind(_read_counts, changes.create),
    "delete": EventKind(fields.strings, changes.delete),
    "subscribe": EventKind(_read_subscriptions, changes.subscribe),
    "lag": EventKind(_read_drift, changes.drift),
    "stable": EventKind(lambda value, at: fields.integer(value, at, least=1), changes.stay),
}
