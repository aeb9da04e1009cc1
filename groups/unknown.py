"""Unknown subscriptions: what members may read whose subscriptions no source shows.

No view of the console tools prints subscriptions. A member reads at least the topics of which it
holds a partition, and is assumed to read at most the topics in demand: those that some member is
sure to read.
"""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from groups.arrays import NOBODY
from groups.columns.claims import BY_CLAIMS
from groups.errors import BadInput
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.group import Group


def reading_least(group: Group, extra: Sequence[tuple[int, int]] = ()) -> Group:
    """Return the group in which members of unknown subscription read only the topics they hold.

    Parameters
    ----------
    extra : further (member, topic) pairs that are read
    """
    unknown = np.flatnonzero(~group.subscription_known)
    width = len(group.topics)
    exists = group.claims.topic < width
    member = group.claims.member[exists].astype(np.int64)
    pairs = member * width + group.claims.topic[exists]
    pairs = np.concatenate((pairs, np.array([m * width + t for m, t in extra], np.int64)))
    pairs = np.unique(pairs)
    starts = np.searchsorted(pairs, np.append(unknown, len(group.members)) * np.int64(width))
    ends = np.searchsorted(pairs, (unknown + 1) * np.int64(width))
    rows = [pairs[start:end] % width for start, end in zip(starts[:-1], ends, strict=True)]
    return group.with_reads(rows, unknown)


def settled(group: Group) -> Group:
    """Return the group as it is judged: with targets reached and certain subscriptions filled in.

    Targets are those of `Group.with_target`. An unknown subscription is certain if the member
    holds a partition of every topic in demand: then it reads these. So does a thread of Kafka
    Streams, as all threads of an application read the same. `assumed` says so.
    """
    group = group.with_target()
    unknown, claims = np.flatnonzero(~group.subscription_known), group.claims
    if not len(unknown) or not len(claims.member):
        return group
    demanded = group.topics_in_demand
    if group.of_streams:
        who, what = counted(len(unknown), "member"), counted(len(demanded), "topic")
        line = f"subscription of {who}: {what}, since all threads of an application read the same"
        return group.with_reads([demanded], unknown, assumed=line)
    pairs = np.stack((claims.member, claims.topic))[:, claims.topic < len(group.topics)]
    held = np.unique(pairs, axis=1)[0]
    plain = unknown[np.bincount(held, minlength=len(group.members))[unknown] == len(demanded)]
    if not len(plain):
        return group
    who = counted(len(plain), "member")
    line = f"subscription of {who}: the topics held, since it holds a part of each"
    if len(plain) > 1:
        line = f"subscription of {who}: the topics held, since each holds a part of every one"
    return group.with_reads([demanded], plain, assumed=line)


def reading_as_told(groups: Sequence[Group], told: Sequence[str]) -> list[Group]:
    """Return the groups as they are judged, with subscriptions that the user gives.

    Parameters
    ----------
    told : ``PATTERN=t0,t1`` each: a glob on member ids and client ids, and the topics that
        matching members read; ``PATTERN=+t1`` adds topics to what is known, ``PATTERN=`` is no
        topic. Rules that match one member add up. They override the source, and `assumed` says so

    Raises
    ------
    BadInput
        If a rule is malformed, matches no member of any group, names a topic that a matching group
        lacks, or leaves out a topic of which a member of unknown subscription holds a partition.
    """
    rules = []
    for rule in told:
        pattern, _, listed = rule.rpartition("=")
        topics = [topic for topic in listed.removeprefix("+").split(",") if topic]
        if not pattern or (listed and not topics):
            raise BadInput(
                f"reads {rule}: expected PATTERN=TOPIC,TOPIC as in 'app-*=t0,t1', "
                "or 'app-*=' for no topic"
            )
        if not any(members_matching(group, pattern) for group in groups):
            raise BadInput(f"reads {rule}: no member's id or client id matches {pattern!r}")
        rules.append(Rule(pattern, topics, also=listed.startswith("+")))
    return [
        settled(_with_rules(group.with_target(), rules) if rules else group) for group in groups
    ]


class Rule(NamedTuple):
    """The topics that members matching a pattern read; `also`: in addition to what is known."""

    pattern: str
    topics: Sequence[str]
    also: bool


def _with_rules(group: Group, rules: Sequence[Rule]) -> Group:
    number = {topic: t for t, topic in enumerate(group.topics)}
    held: dict[int, set[int]] = {}
    for m, topic in zip(group.claims.member.tolist(), group.claims.topic.tolist(), strict=True):
        if topic < len(group.topics):
            held.setdefault(m, set()).add(topic)
    reads: dict[int, set[int]] = {}
    against = 0
    matching = [(rule, {*members_matching(group, rule.pattern)}) for rule in rules]
    for m in range(len(group.members)):
        mine = [rule for rule, members in matching if m in members]
        missing = next((t for rule in mine for t in rule.topics if t not in number), None)
        if missing is not None:
            raise BadInput(f"reads: group {group.name} has no topic {missing!r}")
        if not mine:
            continue
        known = bool(group.subscription_known[m])
        shown = set(group.subscription(m).tolist()) if known else held.get(m, set())
        given = {number[topic] for rule in mine for topic in rule.topics}
        topics = given | shown if all(rule.also for rule in mine) else given
        if not known and shown - topics:
            raise BadInput(
                f"reads: {group.members[m]} holds a partition of "
                f"{group.topics[min(shown - topics)]}, but is not said to read it"
            )
        if topics != shown or not known:
            reads[m] = topics
        against += known and topics != shown
    rows = [np.array(sorted(topics), np.int64) for topics in reads.values()]
    members = np.array(list(reads), np.int64)
    if not against:
        return group.with_reads(rows, members)
    owner = group.owner.copy()
    for m, topics in reads.items():
        owned = np.flatnonzero(owner == m)
        owner[owned[~np.isin(group.topic[owned], list(topics))]] = NOBODY
    changed = replace(group, owner=owner).with_reads(rows, members)
    who = "1 member" if against == 1 else f"{against} members"
    line = f"subscription of {who} as told, not as the source shows it"
    owner = changed.owner if changed.raw_claims is None else BY_CLAIMS
    return replace(changed, assumed=(*changed.assumed, line), owner=owner)


def members_matching(group: Group, pattern: str) -> list[int]:
    """Return the members whose id or client id a glob matches."""
    ids = [details.client_id or "" for details in group.details] or [""] * len(group.members)
    named = enumerate(zip(group.members, ids, strict=True))
    return [m for m, names in named if any(fnmatchcase(name, pattern) for name in names)]
