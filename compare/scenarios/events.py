"""Events: changes of a group between two rebalances, made on its document.

An event never changes who owns what: that is for the assignor.

Each kind of event is a function. It takes an ``assay-group/1`` document whose topics are objects,
the event's value, its place for messages, and a random generator for what the event leaves open.
It returns the changed document and one line on what happened; it does not modify the first one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from groups import BadInput, Group
from groups.arrays import GREATEST, check_total
from groups.documents import fields
from groups.documents.assay_group import Member
from groups.wording import agreed, counted, few

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np

    from groups.documents.assay_group import JsonObject

# A snapshot in which each topic is an object, even if only its number of partitions is known.
StageDocument = dict[str, Any]


def join(
    group: StageDocument,
    joined: int | Mapping[str, JsonObject],
    place: str,
    rng: np.random.Generator,
) -> tuple[StageDocument, str]:
    """Let a number of members join, or those described."""
    members = dict(group["members"])
    if isinstance(joined, int):
        joined = _newcomers(group, joined, rng)
    for member, said in joined.items():
        if member in members:
            fields.refuse(f"{place}.{member}", "is a member already")
        members[member] = said
    return {**group, "members": members}, f"{few([*joined])} {agreed(len(joined), 'join')}"


def _newcomers(
    group: StageDocument, count: int, rng: np.random.Generator
) -> dict[str, JsonObject]:
    """Return new members, each of which reads what a member drawn at random reads."""
    present, digits = sorted(group["members"]), len(str(count))
    names: list[str] = []
    number = 0
    while len(names) < count:
        number += 1
        name = f"new-{number:0{digits}}"
        if name not in group["members"]:
            names.append(name)
    if not present:
        return {name: {"subscription": sorted(group["topics"])} for name in names}
    like = rng.integers(0, len(present), count)
    rows = [group["members"][present[i]].get("subscription") for i in like]
    return {name: {"subscription": row} for name, row in zip(names, rows, strict=True)}


def leave(
    group: StageDocument, left: int | Sequence[str], place: str, rng: np.random.Generator
) -> tuple[StageDocument, str]:
    """Let a number of members leave, or those named."""
    present = sorted(group["members"])
    if isinstance(left, int):
        if left > len(present):
            fields.refuse(place, f"{counted(left, 'member')}, but only {len(present)} are there")
        left = [present[i] for i in sorted(rng.choice(len(present), left, replace=False).tolist())]
    for i, member in enumerate(left):
        if member not in group["members"]:
            fields.refuse(f"{place}[{i}]", f"{member!r} is not a member at that time")
    members = {m: said for m, said in group["members"].items() if m not in left}
    return {**group, "members": members}, f"{few(left)} {agreed(len(left), 'leave')}"


def add_partitions(
    group: StageDocument, counts: Mapping[str, int], place: str, _: np.random.Generator
) -> tuple[StageDocument, str]:
    """Give topics more partitions, up to the counts."""
    topics = dict(group["topics"])
    for topic, count in counts.items():
        _require_topic(topics, topic, f"{place}.{topic}")
        if count <= topics[topic]["partitions"]:
            was = topics[topic]["partitions"]
            fields.refuse(f"{place}.{topic}", f"{count}, but it has {was} already")
        topics[topic] = _grown(topics[topic], count)
    said = [f"{topic} to {counted(count, 'partition')}" for topic, count in counts.items()]
    return {**group, "topics": topics}, ", ".join(said)


def create(
    group: StageDocument, counts: Mapping[str, int], place: str, _: np.random.Generator
) -> tuple[StageDocument, str]:
    """Create topics with empty partitions; a topic that exists is deleted and created anew."""
    topics, said = dict(group["topics"]), []
    has_lag = any("lag" in topic for topic in topics.values())
    for topic, count in counts.items():
        said.append(f"{topic} {'re-' if topic in topics else ''}created with {count}")
        empty: JsonObject = {"partitions": 0, "lag": []} if has_lag else {"partitions": 0}
        topics[topic] = _grown(empty, count)
    return {**group, "topics": topics}, ", ".join(said)


def delete(
    group: StageDocument, gone: tuple[str, ...], place: str, _: np.random.Generator
) -> tuple[StageDocument, str]:
    """Delete topics; members stay subscribed to them."""
    for i, topic in enumerate(gone):
        _require_topic(group["topics"], topic, f"{place}[{i}]")
    topics = {topic: said for topic, said in group["topics"].items() if topic not in gone}
    return {**group, "topics": topics}, f"{', '.join(gone)} deleted"


def subscribe(
    group: StageDocument,
    changed: Mapping[str, tuple[str, ...]],
    place: str,
    _: np.random.Generator,
) -> tuple[StageDocument, str]:
    """Change what members subscribe to."""
    members = dict(group["members"])
    for member, topics in changed.items():
        if member not in members:
            fields.refuse(f"{place}.{member}", "is not a member at that time")
        members[member] = {**members[member], "subscription": list(topics)}
    if len(changed) == 1:
        member, topics = next(iter(changed.items()))
        return {**group, "members": members}, f"{member} reads {', '.join(topics) or 'nothing'}"
    return {**group, "members": members}, f"{len(changed)} members read other topics"


def drift(
    group: StageDocument, span: tuple[int, int], place: str, rng: np.random.Generator
) -> tuple[StageDocument, str]:
    """Add a number drawn from `span`, with both ends, to each known lag; none falls below 0."""
    if not any("lag" in topic for topic in group["topics"].values()):
        fields.refuse(place, "no topic of the group has a lag that could drift")
    topics = dict(group["topics"])
    for topic in sorted(topic for topic, said in topics.items() if "lag" in said):
        lag = topics[topic]["lag"]
        by = rng.integers(span[0], span[1], len(lag), endpoint=True).tolist()
        drifted = [
            None if now is None else max(now + change, 0)
            for now, change in zip(lag, by, strict=True)
        ]
        topics[topic] = {**topics[topic], "lag": drifted}
    return {**group, "topics": topics}, "lag drifts"


def _grown(topic: JsonObject, count: int) -> JsonObject:
    """Return a topic with new empty partitions, which repeat the old ones' racks in order."""
    was = topic["partitions"]
    found: JsonObject = {**topic, "partitions": count}
    if "lag" in topic:
        found["lag"] = [*topic["lag"], *[0] * (count - was)]
    if "weight" in topic:
        found["weight"] = [*topic["weight"], *[0] * (count - was)]
    if topic.get("racks"):
        found["racks"] = [topic["racks"][i % was] for i in range(count)]
    return found


def _require_topic(topics: Mapping[str, object], topic: str, place: str) -> None:
    if topic not in topics:
        fields.refuse(place, f"no topic {topic!r} at that time")


MOST_JOINED = 100_000
# The keys of a member in a join event: those of a snapshot that a member has when it joins.
JOINS = {*Member.__struct_fields__} - {
    "owned", "generation", "epoch", "target", "subscription_regex",
}  # fmt: skip


def happen(
    event: object, place: str, group: StageDocument, rng: np.random.Generator
) -> tuple[StageDocument, str, int]:
    """Return the document after an event, one line on what happened, and the rebalances after it.

    Parameters
    ----------
    event : an object whose one key is its kind
    place : its place in the scenario, for messages
    group : an ``assay-group/1`` document whose topics are objects; it is not modified
    rng : draws members and lags where the event leaves them open

    Raises
    ------
    BadInput
        If the kind is unknown, its value has another shape, or the event does not fit the group.
    """
    found = fields.mapping(event, place)
    if len(found) != 1:
        fields.refuse(place, f"{len(found)} keys, expected one: {', '.join(EVENT_KINDS)}")
    ((kind, given),) = found.items()
    if kind not in EVENT_KINDS:
        fields.refuse(place, f"unknown key {kind!r}, expected one of {', '.join(EVENT_KINDS)}")
    at = f"{place}.{kind}"
    read, change = EVENT_KINDS[kind]
    value = read(given, at)
    changed, said = change(group, value, at, rng)
    try:
        Group.from_dict(changed)
    except BadInput as error:
        raise error.within(at) from None
    return changed, said, value if kind == "stable" else 1


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


# How the value of each kind of event is read, and what it changes.
EVENT_KINDS: dict[str, tuple[Callable[[object, str], Any], Callable[..., Any]]] = {
    "join": (_read_join, join),
    "leave": (_read_leave, leave),
    "add_partitions": (_read_counts, add_partitions),
    "create": (_read_counts, create),
    "delete": (fields.strings, delete),
    "subscribe": (_read_subscriptions, subscribe),
    "lag": (_read_drift, drift),
    # Nothing changes in so many rebalances.
    "stable": (
        lambda value, at: fields.integer(value, at, least=1),
        lambda group, *_: (group, "stable"),
    ),
}
