"""Rounds: groups are described, their offsets read, and described again.

A group of which both descriptions are equal is captured: what it holds and its offsets are of one
and the same assignment. Of any other there is one round more, while there is time.
"""

from __future__ import annotations

import time
from collections import defaultdict
from typing import TYPE_CHECKING, TypeVar

from groups.importers.seen import absent, rebalancing
from live.capture import listing, membership
from live.capture.asking import answers, requests
from live.capture.asking.cluster import Unanswered
from live.capture.captured import moment
from live.capture.documents import document, valid
from live.capture.listing import CLASSIC, CONSUMER, KINDS
from live.capture.obstacles import Obstacle
from live.capture.offsets import Committed, Logs, committed_by, logs_of
from live.capture.topics import names_in, topics_of, with_nobody

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kafka.protocol.api_message import ApiMessage

    from groups.documents.assay_group import Document
    from live.capture.asking.cluster import Cluster
    from live.capture.listing import Listed
    from live.capture.membership import Described

T = TypeVar("T")
# Groups of hundreds of members that read hundreds of topics each make long answers.
MOST_GROUPS = 25
PAUSE_SECONDS = 0.5


def captured(
    cluster: Cluster, listed: Mapping[str, Listed], *, lag: bool, deadline: float
) -> dict[str, Document | Obstacle]:
    """Return the document of each group, or why there is none.

    Parameters
    ----------
    deadline : on the clock of `time.monotonic`, when the last round starts at the latest
    """
    found: dict[str, Document | Obstacle] = {}
    waiting = dict(listed)
    while waiting:
        last = time.monotonic() >= deadline
        of_round = _round(cluster, waiting, lag=lag, last=last)
        found |= of_round
        if last:
            break
        again = [
            name for name, one in of_round.items() if isinstance(one, Obstacle) and one.passing
        ]
        if again:
            time.sleep(max(0.0, min(PAUSE_SECONDS, deadline - time.monotonic())))
        waiting = _listed_again(cluster, again, waiting, found)
    return found


def _listed_again(
    cluster: Cluster,
    names: Sequence[str],
    before: Mapping[str, Listed],
    found: dict[str, Document | Obstacle],
) -> dict[str, Listed]:
    """Return where groups are now: a coordinator may have moved, a group may be gone."""
    if not names:
        return {}
    try:
        now = listing.list_groups(cluster)
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
) -> dict[str, Document | Obstacle]:
    found: dict[str, Document | Obstacle] = {}
    before: dict[str, Described] = {}
    for name, one in described(cluster, listed).items():
        if isinstance(one, Obstacle):
            found[name] = one
        elif one.moving and not last:
            found[name] = Obstacle(rebalancing(name), passing=True)
        else:
            before[name] = one
    if not before:
        return found
    captured_at = moment()
    at = {name: listed[name] for name in before}
    committed = committed_by(cluster, {name: one.node for name, one in at.items()}) if lag else {}
    names = _topics_in(committed.values())
    try:
        topics = topics_of(cluster, before.values(), names)
    except Unanswered as error:
        return found | {
            name: Obstacle(f"group {name!r}: {error}", passing=True) for name in before
        }
    names_of = {name: names_in(group, topics) for name, group in before.items()}
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
        elif not last and with_nobody(group, topics):
            found[name] = Obstacle(rebalancing(name), passing=True)
        elif not last and names_of[name] & logs.moved:
            reason = f"group {name!r}: leaders of its partitions are moving: capture it again"
            found[name] = Obstacle(reason, passing=True)
        else:
            made = document(group, names_of[name], topics, offsets, logs, captured_at)
            found[name] = valid(name, made)
    return found


def described(cluster: Cluster, listed: Mapping[str, Listed]) -> dict[str, Described | Obstacle]:
    """Ask coordinators for groups, many in one request.

    A group that the answer leaves out has not been answered.
    """
    of_kind: dict[str, dict[int, list[str]]] = {kind: defaultdict(list) for kind in KINDS}
    for name, one in sorted(listed.items()):
        of_kind[one.kind][one.node].append(name)
    return {
        **_asked(
            cluster,
            of_kind[CLASSIC],
            requests.classic_groups,
            answers.DescribeGroups,
            lambda answer: {one.group_id: membership.classic(one) for one in answer.groups},
        ),
        **_asked(
            cluster,
            of_kind[CONSUMER],
            requests.consumer_groups,
            answers.ConsumerGroupDescribe,
            lambda answer: {one.group_id: membership.consumer(one) for one in answer.groups},
        ),
    }


def _asked(
    cluster: Cluster,
    groups_of: Mapping[int, Sequence[str]],
    question: Callable[[Sequence[str]], ApiMessage],
    kind: type[T],
    read: Callable[[T], Mapping[str, Described | Obstacle]],
) -> dict[str, Described | Obstacle]:
    found: dict[str, Described | Obstacle] = {}
    for node, some, answer in cluster.ask_in_parts(groups_of, MOST_GROUPS, question, kind):
        told = {} if isinstance(answer, Unanswered) else read(answer)
        why = answer if isinstance(answer, Unanswered) else f"broker {node} leaves it out"
        silent = {
            name: Obstacle(f"group {name!r}: {why}", passing=True)
            for name in some
            if name not in told
        }
        found |= {name: told.get(name) or silent[name] for name in some}
    return found


def _topics_in(committed: Iterable[Committed | Obstacle]) -> set[str]:
    known = [one for one in committed if isinstance(one, Committed)]
    return {topic for one in known for topic, _ in (*one.offsets, *one.unknown)}
