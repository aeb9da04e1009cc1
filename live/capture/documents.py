"""Documents: a captured group as ``assay-group/1``."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, cast

from groups.documents.assay_group import FORMAT, Document, JsonObject, of_mapping
from groups.documents.assay_streams import with_processes
from groups.documents.snapshots import Snapshots
from groups.errors import BadInput
from groups.wording import (
    BEFORE_THE_BEGINNING,
    BEYOND_THE_END,
    ENDS_UNKNOWN,
    HELD_BY_SOME_NOW,
    counted,
    few,
)
from live.capture.obstacles import Obstacle, topic_obstacle
from live.capture.offsets import Committed
from live.capture.topics import read_by, with_nobody

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

    from live.capture.membership import Described, Held, Member
    from live.capture.offsets import Key, Logs
    from live.capture.topics import Topics


def document(
    group: Described,
    names: AbstractSet[str],
    topics: Topics,
    committed: Committed | Obstacle | None,
    logs: Logs,
    captured_at: str,
) -> Document | Obstacle:
    """Return the checked document of a group, or why there is none: clients may send anything.

    No member gets a generation: the present assignment is of one generation, which brokers do not
    tell, and the generation in a member's metadata belongs to an earlier claim.

    Parameters
    ----------
    names : topics that its members read, hold or have as target, existing or not
    topics : metadata of these topics, and of those that the group has committed offsets of
    committed : None if offsets were not asked for; an Obstacle if they are not known
    """
    assumed: list[str] = []
    members = {member.name: _member(member, topics) for member in group.members}
    for name in sorted(names & topics.withheld.keys()):
        return topic_obstacle(group.group, name, topics.withheld[name])
    assumed += _unsure(group, members, topics)
    known = committed if isinstance(committed, Committed) else None
    if known is not None:
        names = names | {name for name, _ in (*known.offsets, *known.unknown)}
    existing = sorted(names & topics.partitions.keys())
    if isinstance(committed, Obstacle):
        assumed.append(f"lag: not known, {committed.reason}")
    elif known is not None:
        assumed += _doubts(existing, topics, known, logs)
    noted: JsonObject = {"assumed": assumed} if assumed else {}
    found: JsonObject = {
        "format": FORMAT,
        "group": group.group,
        "captured_at": captured_at,
        **noted,
        "topics": {name: _topic(name, topics, known, logs) for name in existing},
        "members": members,
    }
    try:
        document = with_processes(of_mapping(found))
        Snapshots().add(document)
    except BadInput as error:
        return Obstacle(f"group {group.group!r}: what the broker tells makes no group: {error}")
    return document


def _member(member: Member, topics: Topics) -> JsonObject:
    known: dict[str, object] = {
        "rack": member.rack,
        "instance_id": member.instance_id,
        "client_id": member.client_id or None,
        "host": member.host or None,
        "assignors": None if member.assignor is None else [member.assignor],
        "epoch": None if member.is_away else member.epoch,
        "target": None if member.target is None else _numbers(member.target),
        "subscription_regex": member.regex,
    }
    return {
        "subscription": read_by(member, topics),
        "owned": _numbers(member.held),
        **{key: value for key, value in known.items() if value is not None},
    }


def _numbers(held: Held) -> dict[str, list[int]]:
    return {name: list(numbers) for name, numbers in held.items()}


def _unsure(group: Described, members: dict[str, JsonObject], topics: Topics) -> Iterable[str]:
    unread = [one.name for one in group.members if one.subscription is None]
    if unread:
        count = counted(len(unread), "member")
        yield f"subscription: the metadata of {count} cannot be read: {few(unread)}"
    patterns = defaultdict(list)
    for one in group.members:
        if one.regex is not None:
            patterns[one.regex, members[one.name]["subscription"] is None].append(one.name)
    for (pattern, unknown), names in sorted(patterns.items()):
        what = (
            "is not known" if unknown else "was matched here, against the topics that may be seen"
        )
        yield f"subscription: pattern {pattern!r} of {few(names)} {what}"
    away = [one.name for one in group.members if one.is_away]
    if away:
        yield (
            f"owned: {counted(len(away), 'static member')} away for a moment, with the partitions "
            f"kept for the return: {few(away)}"
        )
    if group.moving:
        yield HELD_BY_SOME_NOW.format(group.moving, len(group.members))
    left = with_nobody(group, topics)
    if left:
        named = few([f"{topic}-{number}" for topic, number in left])
        yield (
            f"owned: {counted(len(left), 'partition')} that members read with nobody for now, "
            f"as between two rebalances: {named}"
        )


def _topic(name: str, topics: Topics, committed: Committed | None, logs: Logs) -> int | JsonObject:
    partitions = topics.partitions[name]
    found: JsonObject = {"partitions": len(partitions)}
    racks = topics.replica_racks(name)
    if racks is not None:
        found["racks"] = racks
    if committed is not None:
        keys = [(name, one.partition_index) for one in partitions]
        if committed.unknown.keys() & set(keys):
            found["lag"] = [_behind(key, committed, logs) for key in keys]
        else:
            found["offsets"] = [_offsets(key, committed, logs) for key in keys]
    return found if len(found) > 1 else len(partitions)


def _offsets(key: Key, committed: Committed, logs: Logs) -> JsonObject:
    return {
        "beginning": logs.beginning.get(key),
        "end": logs.end.get(key),
        "committed": committed.offsets.get(key),
    }


def _behind(key: Key, committed: Committed, logs: Logs) -> int | None:
    """Return the lag of a partition, used where another commit of the topic is unknown.

    `offsets` cannot say that, as null means no commit there.
    """
    at, end = committed.offsets.get(key), logs.end.get(key)
    return None if at is None or end is None else max(end - at, 0)


def _doubts(
    names: Iterable[str], topics: Topics, committed: Committed, logs: Logs
) -> Iterable[str]:
    """Yield lines on offsets that are unknown, or do not fit the log."""
    keys = [(name, one.partition_index) for name in names for one in topics.partitions[name]]
    why: dict[str, list[Key]] = defaultdict(list)
    for key in keys:
        for reason in {logs.unknown.get(key), committed.unknown.get(key)} - {None}:
            why[cast("str", reason)].append(key)
    for reason, unknown in sorted(why.items()):
        yield f"{ENDS_UNKNOWN} ({reason}): {_named(unknown)}"
    gone = [
        k
        for k in keys
        if committed.offsets.get(k, 0) < logs.beginning.get(k, 0) and k in committed.offsets
    ]
    if gone:
        yield f"{BEFORE_THE_BEGINNING}: {_named(gone)}"
    ahead = [k for k in keys if k in logs.end and committed.offsets.get(k, 0) > logs.end[k]]
    if ahead:
        yield f"{BEYOND_THE_END}: {_named(ahead)}"


def _named(keys: list[Key]) -> str:
    return few([f"{topic}-{number}" for topic, number in keys])
