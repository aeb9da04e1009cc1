"""Rounds: groups are listed and described, their offsets read, and the groups described again.

A group is captured if both descriptions are equal: its assignment and its offsets then belong
together. Other groups get another round, while there is time.
"""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from groups.errors import Failure
from groups.importers import Imported
from groups.importers.seen import absent, connect, rebalancing, shared
from groups.wording import counted, nearest_of
from live.capture import membership, messages, streams
from live.capture.captures import Captured, is_name, moment
from live.capture.cluster import Unanswered
from live.capture.documents import document
from live.capture.membership import Described
from live.capture.messages import StreamsGroup
from live.capture.obstacles import PASSING, Obstacle, error_named, obstacle_of
from live.capture.offsets import Committed, Logs, committed_by, logs_of
from live.capture.topics import NO_LEADER, names_in, topics_of, with_nobody

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from groups.documents.assay_group import Document
    from groups.documents.assay_streams import StreamsDocument
    from live.capture.cluster import Cluster


def capture_matching(
    cluster: Cluster, source: str, patterns: Sequence[str], *, lag: bool, deadline: float
) -> Captured:
    """Return the groups whose names match patterns, and why others could not be captured.

    Parameters
    ----------
    source : the cluster's name in the result
    deadline : time of `time.monotonic` after which no round starts

    Raises
    ------
    Unanswered
        If no broker answers.
    """
    listed = list_groups(cluster)
    while listed.loading and time.monotonic() < deadline:
        time.sleep(PAUSE_SECONDS)
        listed = list_groups(cluster)
    chosen, unmatched, unlisted = choose(listed, patterns)
    found = {name: listed.groups[name] for name in chosen}
    silent = list(listed.silent.values())
    obstacles: list[tuple[str | None, Obstacle]] = [
        (name, one) for name, one in found.items() if isinstance(one, Obstacle)
    ]
    obstacles += zip(unlisted, why_unlisted(cluster, unlisted, listed), strict=True)
    asked = {name: one for name, one in found.items() if isinstance(one, Listed)}
    documents = []
    for name, one in sorted(captured(cluster, asked, lag=lag, deadline=deadline).items()):
        if isinstance(one, Obstacle):
            obstacles.append((name, one))
        else:
            documents.append(Imported(one, (source,)))
    obstacles.sort(key=lambda pair: pair[0] or "")
    # If only exact names are missing, their own lines say which brokers did not answer.
    if unmatched or found:
        obstacles += [(None, Obstacle(f"{why}: groups there are not listed")) for why in silent]
    if not silent:
        obstacles += [(None, _unmatched(pattern, listed)) for pattern in unmatched]
    failures = tuple(_failure(source, *pair) for pair in obstacles)
    return Captured(tuple(documents), failures, is_partial=bool(silent))


def _unmatched(pattern: str, listed: Listing) -> Obstacle:
    if not listed.groups:
        return Obstacle("no groups: the cluster has none, or none that may be seen")
    return Obstacle(f"no group matches {pattern!r}")


def _failure(source: str, group: str | None, obstacle: Obstacle) -> Failure:
    reason = "".join(c if c.isprintable() else "?" for c in obstacle.reason)
    return Failure(source, source, reason, group, not_to_be_had=obstacle.not_to_be_had)


PAUSE_SECONDS = 0.5


def captured(
    cluster: Cluster, listed: Mapping[str, Listed], *, lag: bool, deadline: float
) -> dict[str, Document | StreamsDocument | Obstacle]:
    """Return the document of each group, or why there is none.

    Parameters
    ----------
    deadline : time of `time.monotonic` after which no further round starts
    """
    found: dict[str, Document | StreamsDocument | Obstacle] = {}
    waiting = dict(listed)
    while waiting:
        last = time.monotonic() >= deadline
        of_round = _round(cluster, waiting, lag=lag, last=last)
        found |= of_round
        if last:
            break
        to_retry = [
            name for name, one in of_round.items() if isinstance(one, Obstacle) and one.passing
        ]
        if to_retry:
            time.sleep(max(0.0, min(PAUSE_SECONDS, deadline - time.monotonic())))
        waiting = _listed_again(cluster, to_retry, waiting, found)
    return found


def _listed_again(
    cluster: Cluster,
    names: Sequence[str],
    before: Mapping[str, Listed],
    found: dict[str, Document | StreamsDocument | Obstacle],
) -> dict[str, Listed]:
    """List groups again, as a coordinator may have moved; groups that are gone go to `found`."""
    if not names:
        return {}
    try:
        now = list_groups(cluster)
    except Unanswered:
        return {name: before[name] for name in names}
    waiting = {}
    for name in names:
        one = now.groups.get(name)
        if one is None and not now.silent:
            found[name] = Obstacle(absent(name), not_to_be_had=True)
        elif isinstance(one, Obstacle):
            found[name] = one
        else:
            waiting[name] = one or before[name]
    return waiting


def _round(
    cluster: Cluster, listed: Mapping[str, Listed], *, lag: bool, last: bool
) -> dict[str, Document | StreamsDocument | Obstacle]:
    answers = {name: _settled(one, last=last) for name, one in described(cluster, listed).items()}
    before = {name: one for name, one in answers.items() if not isinstance(one, Obstacle)}
    found: dict[str, Document | StreamsDocument | Obstacle] = {
        name: one for name, one in answers.items() if isinstance(one, Obstacle)
    }
    if not before:
        return found
    captured_at = moment()
    at = {name: listed[name] for name in before}
    committed = committed_by(cluster, {name: one.node for name, one in at.items()}) if lag else {}
    consumers = {name: one for name, one in before.items() if isinstance(one, Described)}
    of_tasks = {name: one for name, one in before.items() if not isinstance(one, Described)}
    names_of = {name: streams.topics_read(one) for name, one in of_tasks.items()}
    names = {
        topic
        for one in committed.values()
        if isinstance(one, Committed)
        for topic, _ in (*one.offsets, *one.unknown)
    }.union(*names_of.values())
    try:
        topics = topics_of(cluster, consumers.values(), names)
        standbys = streams.standbys(cluster, sorted(of_tasks)) if of_tasks else {}
    except Unanswered as error:
        return found | {
            name: Obstacle(f"group {name!r}: {error}", passing=True) for name in before
        }
    names_of |= {name: names_in(group, topics) for name, group in consumers.items()}
    names = names.union(*names_of.values())
    logs = logs_of(cluster, topics, names) if lag else Logs()
    after = described(cluster, at) if lag else before
    for name, group in before.items():
        offsets = committed.get(name)
        now = after[name]
        if isinstance(now, Obstacle):
            found[name] = now
        elif now != group:
            found[name] = Obstacle(
                f"group {name!r} changed while it was read: capture it again", passing=True
            )
        elif isinstance(offsets, Obstacle) and offsets.passing and not last:
            found[name] = offsets
        elif not last and isinstance(group, Described) and with_nobody(group, topics):
            found[name] = Obstacle(rebalancing(name), passing=True)
        elif not last and names_of[name] & logs.moved:
            reason = f"group {name!r}: leaders of its partitions are moving: capture it again"
            found[name] = Obstacle(reason, passing=True)
        elif isinstance(group, Described):
            found[name] = document(group, names_of[name], topics, offsets, logs, captured_at)
        else:
            of = standbys.get(name)
            found[name] = streams.document(group, topics, offsets, logs, of, captured_at)
    return found


def _settled(
    one: Described | StreamsGroup | Obstacle, *, last: bool
) -> Described | StreamsGroup | Obstacle:
    """Return a group, or an Obstacle if it is rebalancing and this is not the last round."""
    if isinstance(one, StreamsGroup):
        return streams.obstacle(one, last=last) or one
    if isinstance(one, Described) and one.moving and not last:
        return Obstacle(rebalancing(one.group), passing=True)
    return one


def described(
    cluster: Cluster, listed: Mapping[str, Listed]
) -> dict[str, Described | StreamsGroup | Obstacle]:
    """Ask coordinators to describe groups, many in one request."""
    of_kind: dict[str, dict[int, list[str]]] = {kind: defaultdict(list) for kind in KINDS}
    for name, one in sorted(listed.items()):
        of_kind[one.kind][one.node].append(name)
    return {
        **cluster.ask_for_groups(
            of_kind[CLASSIC],
            messages.classic_groups,
            messages.Groups[messages.ClassicGroup],
            membership.classic,
        ),
        **cluster.ask_for_groups(
            of_kind[CONSUMER],
            messages.consumer_groups,
            messages.Groups[messages.ConsumerGroup],
            membership.consumer,
        ),
        **cluster.ask_for_groups(
            of_kind[STREAMS],
            messages.streams_groups,
            messages.Groups[StreamsGroup],
            streams.tasks_or_nobody,
        ),
    }


CLASSIC = "classic"
CONSUMER = "consumer"
STREAMS = "streams"
KINDS = (CLASSIC, CONSUMER, STREAMS)
# Brokers before 3.7 give no type, and have only classic groups.
_UNTOLD = ("", "unknown")
_OFFSETS_TOPIC = "__consumer_offsets"


@dataclass(frozen=True)
class Listed:
    """A group as its coordinator lists it.

    Attributes
    ----------
    node : the coordinator
    kind : ``classic``, ``consumer`` of KIP-848, or ``streams`` of KIP-1071
    """

    node: int
    kind: str


@dataclass(frozen=True)
class Listing:
    """The groups of a cluster.

    Attributes
    ----------
    groups : coordinator and kind of each, or why it is no group of consumers
    silent : by broker, or -1 for no broker, why its groups are not listed
    loading : whether one of these brokers may list its groups in a moment
    """

    groups: Mapping[str, Listed | Obstacle] = field(default_factory=dict)
    silent: Mapping[int, str] = field(default_factory=dict)
    loading: bool = False


def list_groups(cluster: Cluster) -> Listing:
    """Ask every broker for the groups that it coordinates.

    FindCoordinator is not sent: on a cluster that never had a group, it creates the topic of
    committed offsets.

    Raises
    ------
    Unanswered
        If no broker answers.
    """
    # Brokers before 3.0 create this topic when a client asks for its metadata.
    is_new = cluster.tells_commits_of_several()
    asked_for = messages.topics([_OFFSETS_TOPIC] if is_new else [])
    known = cluster.ask_any(asked_for, messages.Metadata)
    asked = {broker.node_id: [messages.groups()] for broker in known.brokers}
    groups: dict[str, Listed | Obstacle] = {}
    silent = dict(_orphaned(known))
    loading = False
    for node, (answer,) in sorted(cluster.ask(asked, messages.ListGroups).items()):
        if isinstance(answer, Unanswered):
            silent[node] = str(answer)
            continue
        if answer.error_code:
            silent[node] = f"broker {node} answers with {error_named(answer.error_code)}"
            loading |= answer.error_code in PASSING
        for group in answer.groups:
            groups.setdefault(group.group_id, _listed(node, group))
    return Listing(groups, silent, loading)


def choose(listing: Listing, patterns: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Return the groups that patterns choose; a name with wildcard characters matches itself too.

    The second value are patterns that no group matches, and the third names without a wildcard
    that no broker lists.

    Examples
    --------
    >>> some = Listing({"a1": Listed(1, "classic"), "a2": Listed(1, "classic")})
    >>> choose(some, ["a?", "a1", "b*", "c"])
    (['a1', 'a2'], ['b*'], ['c'])
    """
    chosen: set[str] = set()
    unmatched: list[str] = []
    unlisted: list[str] = []
    for pattern in dict.fromkeys(patterns):
        found = {name for name in listing.groups if name == pattern or fnmatchcase(name, pattern)}
        chosen |= found
        if not found:
            (unlisted if is_name(pattern) else unmatched).append(pattern)
    return sorted(chosen), unmatched, unlisted


def why_unlisted(cluster: Cluster, names: Sequence[str], listing: Listing) -> list[Obstacle]:
    """Return why no broker lists groups: they may not be described, or do not exist.

    Any broker can be asked, as it checks the permission before it says who coordinates a group.
    """
    if not names:
        return []
    answer = cluster.ask_any(
        messages.classic_groups(names), messages.Groups[messages.ClassicGroup]
    )
    forbidden = {
        group.group_id: found
        for group in answer.groups
        if (found := obstacle_of(group.group_id, group.error_code)) is not None
        and not found.passing
        and not found.not_to_be_had
    }
    return [forbidden.get(name) or _missing(name, listing) for name in names]


def _orphaned(known: messages.Metadata) -> Iterator[tuple[int, str]]:
    """Yield why some groups have no coordinator now.

    The coordinator of a group is the leader of its partition of the topic of committed offsets.
    """
    for topic in known.topics:
        without = [one for one in topic.partitions if one.leader_id == NO_LEADER]
        if without:
            of = f"{len(without)} of {counted(len(topic.partitions), 'partition')}"
            yield NO_LEADER, f"{of} of {_OFFSETS_TOPIC} have no leader"


def _missing(name: str, listing: Listing) -> Obstacle:
    for why in listing.silent.values():
        return Obstacle(f"group {name!r} is not listed, and {why}")
    return Obstacle(f"{absent(name)}{nearest_of(name, listing.groups)}", not_to_be_had=True)


def _listed(node: int, group: messages.ListedGroup) -> Listed | Obstacle:
    name, kind = group.group_id, group.group_type.lower()
    if kind == "share" or group.protocol_type == "share":
        return Obstacle(shared(name), not_to_be_had=True)
    if group.protocol_type == "connect":
        return Obstacle(connect(name), not_to_be_had=True)
    if kind not in (*KINDS, *_UNTOLD):
        reason = f"group {name!r} is of a kind that is not known here: {group.group_type!r}"
        return Obstacle(reason, not_to_be_had=True)
    return Listed(node, CLASSIC if kind in _UNTOLD else kind)
