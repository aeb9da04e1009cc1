"""Merge: combines the views of one group into a snapshot, or names where they contradict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from groups.documents.assay_group import FORMAT, Document, Log, Member, Topic
from groups.documents.assay_streams import (
    StreamsDocument,
    StreamsMember,
    Subtopology,
    Tasks,
    with_processes,
)
from groups.importers.lines import NotToBeHad, TwoMoments, brief, refuse
from groups.importers.seen import (
    TopicSize,
    View,
    holders_of,
    may_be_rebalancing,
    no_members,
    shared_or_streams,
)
from groups.wording import (
    BEYOND_THE_END,
    CLAIMED_BY_SEVERAL,
    FAR_BEYOND,
    HELD_BY_SOME_NOW,
    HIGHEST_SEEN,
    HOLDERS_ALONE,
    NO_MEMBER_SHOWN,
    ONE_CLAIMED_BY_SEVERAL,
    counted,
    few,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Key = tuple[str, int]
# The members that hold a partition, ascending; a partition may have none, or several.
Owners = dict[Key, tuple[str, ...]]
FAR = 10


def highest_of(views: Iterable[View]) -> dict[str, int]:
    """Return the highest partition number of each topic in the views of all groups."""
    highest: dict[str, int] = {}
    for view in views:
        shown = [(one.topic, one.number) for one in view.partitions]
        for member in view.members:
            for held in member.every_held:
                shown += ((topic, max(numbers)) for topic, numbers in held.items() if numbers)
        for topic, number in shown:
            highest[topic] = max(highest.get(topic, 0), number)
    return highest


def merge(
    views: Sequence[View],
    sizes: Mapping[str, TopicSize],
    highest: Mapping[str, int],
    *,
    most_unseen: int,
) -> tuple[Document | StreamsDocument, int]:
    """Return the document of one group's views, and the number of its unseen partitions.

    Unseen partitions are below a topic's partition count, but in no view; more than `most_unseen`
    are refused, because a number in a damaged text may be anything. A topic's partition count is
    that of a source that knows it, otherwise the highest number that any group shows, plus 1.

    All views must agree on holders and offsets, since they must be of one moment.

    Raises
    ------
    Misread
        If two views contradict each other, or together do not show a group.
    """
    streams = any(view.streams for view in views)
    _require_one_kind(views, streams=streams)
    members, owners, offsets = _agreed(views)
    notes = [note for view in views for note in view.assumed]
    if _may_be_rebalancing(views, members):
        raise NotToBeHad(views[0].place, may_be_rebalancing(views[0].group))
    if not any(view.every_member or view.member_count is not None for view in views):
        notes.append(HOLDERS_ALONE if members else NO_MEMBER_SHOWN)
    shared = [(key, len(held_by)) for key, held_by in sorted(owners.items()) if len(held_by) > 1]
    notes += _note(
        [f"{topic}-{number}" for (topic, number), _ in shared],
        [f"{t}-{n}: {ONE_CLAIMED_BY_SEVERAL.format(count)}" for (t, n), count in shared],
        CLAIMED_BY_SEVERAL,
    )
    for (topic, number), held_by in sorted(owners.items()):
        for member in held_by:
            members[member]["owned"].setdefault(topic, []).append(number)
    beyond = [
        f"{topic}-{number}"
        for (topic, number), (_, end, committed) in sorted(offsets.items())
        if end is not None and committed is not None and committed > end
    ]
    if beyond:
        notes.append(f"{BEYOND_THE_END}: {few(beyond)}")
    sizes = {} if streams else sizes
    topics, unseen = _topics(views, owners, offsets, sizes, highest, most_unseen, notes)
    if streams:
        return _of_streams(views[0].group, members, topics, notes), unseen
    moving = sum(one.get("target", one["owned"]) != one["owned"] for one in members.values())
    if moving:
        notes.append(HELD_BY_SOME_NOW.format(moving, len(members)))
    document = Document(
        format=FORMAT,
        group=views[0].group,
        assumed=list(dict.fromkeys(notes)) or UNSET,
        topics=topics,
        members={name: Member(**known) for name, known in sorted(members.items())},
    )
    return with_processes(document), unseen


def _require_one_kind(views: Sequence[View], *, streams: bool) -> None:
    """Refuse a group whose kind is unknown or differs between views.

    Raises
    ------
    Misread
        If it is so, or no view of a Kafka Streams group lists its members.
    """
    place, group = views[0].place, views[0].group
    others = [view for view in views if view.streams is False]
    if streams and others:
        kinds = "a Kafka Streams group, and a consumer group in another view"
        refuse(place, f"group {group!r} is {kinds}")
    if not (streams or others):
        raise NotToBeHad(place, shared_or_streams(group))
    if streams and not any(view.every_member or view.member_count is not None for view in views):
        refuse(place, no_members(group))


def _may_be_rebalancing(views: Sequence[View], members: Mapping[str, dict[str, Any]]) -> bool:
    """Return whether no view says the state of a group, and it has no commit at all.

    If all members have targets, the group is judged by these, whatever its state.
    """
    committed = [one.committed for view in views for one in view.partitions]
    known = any(view.state_known for view in views)
    without_target = [name for name, known in members.items() if "target" not in known]
    return bool(committed and without_target) and not known and {*committed} == {None}


def _of_streams(
    group: str,
    members: Mapping[str, dict[str, Any]],
    subtopologies: Mapping[str, int | Topic],
    notes: list[str],
) -> StreamsDocument:
    """Return the ``assay-streams/1`` document of a group's members and subtopologies.

    A subtopology with standbys or warm-ups keeps state; whether others do is unknown.
    """
    copied = {
        name
        for known in members.values()
        for key in ("standby", "warmup", "target_standby", "target_warmup")
        for name in known.get(key, ())
    }
    made = {}
    for name, known in sorted(members.items()):
        del known["subscription"]
        tasks = Tasks(known.pop("owned"), known.pop("standby"), known.pop("warmup"))
        roles = [known.pop(f"target{role}", None) for role in ("", "_standby", "_warmup")]
        target = UNSET if roles[0] is None else Tasks(*roles)
        made[name] = StreamsMember(tasks=tasks, target=target, **known)
    return StreamsDocument(
        format="assay-streams/1",
        group=group,
        assumed=list(dict.fromkeys(notes)) or UNSET,
        subtopologies={
            name: Subtopology(count, stateful=True if name in copied else None)
            for name, count in subtopologies.items()
            if isinstance(count, int)
        },
        members=made,
    )


def captures_of(views: Sequence[View]) -> list[list[View]]:
    """Return the views of one group by capture: those of each text, if they contradict others.

    Texts that have the same tables and contradict each other were captured at several moments. A
    text with other tables belongs to one of the others, and nothing says to which.
    """
    texts: dict[str, list[View]] = {}
    for view in views:
        texts.setdefault(view.source, []).append(view)
    if len({frozenset(map(_table, of_text)) for of_text in texts.values()}) == 1 < len(texts):
        try:
            _agreed(views)
        except TwoMoments:
            return [*texts.values()]
    return [[*views]]


def _table(view: View) -> tuple[bool, bool, bool]:
    """Return which of the tools' tables a view is."""
    held = any(member.held is not None for member in view.members)
    return view.every_member, bool(view.partitions), held


def _of_two_moments(here: View, there: View, reason: str, place: str | None = None) -> TwoMoments:
    """Return the error that two views are not of one moment, with what to do.

    Two tables of one kind were captured at two moments; tables of two kinds belong together.
    """
    what = "capture both at the same time"
    if here is not there and _table(here) == _table(there):
        what = "put each into a folder of its own, or compare them with assay diff"
    other = there.place if there.source == here.source else there.source
    moments = f"group {here.group!r} is shown at two moments, or in two clusters"
    return TwoMoments(place or here.place, f"{reason} in {other}: {moments}; {what}")


def _agreed(
    views: Sequence[View],
) -> tuple[dict[str, dict[str, Any]], Owners, dict[Key, tuple[int | None, ...]]]:
    """Return the members, owners and offsets on which all views agree."""
    members, owners = _members(views), _owners_of(views)
    _check_members(views, members, owners)
    return members, owners, _offsets(views)


def _members(views: Sequence[View]) -> dict[str, dict[str, Any]]:
    """Return what all views say about each member, by the keys of a document."""
    members: dict[str, dict[str, Any]] = {}
    shown_by: dict[tuple[str, str], View] = {}
    for view in views:
        for seen in view.members:
            if not seen.member:
                refuse(seen.place, "a member without a name")
            known = members.setdefault(seen.member, {"subscription": None, "owned": {}})
            fields = dict(seen.details)
            if seen.subscription is not None:
                fields["subscription"] = sorted(seen.subscription)
            for key, value in fields.items():
                if known.get(key) not in (None, value):
                    differ = f"{key} {brief(str(value))}, but {brief(str(known[key]))}"
                    raise _of_two_moments(
                        view,
                        shown_by[seen.member, key],
                        f"member {brief(seen.member)}: {differ}",
                        seen.place,
                    )
                known[key] = value
                shown_by[seen.member, key] = view
    assignors = [view.assignor for view in views if view.assignor is not None]
    for known in members.values() if assignors else ():
        known.setdefault("assignors", assignors[-1:])
    return members


def _owners_of(views: Sequence[View]) -> Owners:
    """Return the holders of each partition that a view shows.

    Views that list what every member holds must be equal. The rows of an offsets view may be
    incomplete, for instance after ``grep``, but must not contradict them.

    Raises
    ------
    Misread
        If two views contradict each other: they are of two moments, or one was changed.
    """
    owners: Owners = {}
    shown_by: dict[Key, View] = {}
    listing = next((view for view in views if _lists_holders(view)), None)

    def agree(view: View, found: Owners, keys: Iterable[Key]) -> None:
        for key in sorted(keys):
            ours, theirs = found.get(key, ()), owners.get(key, ())
            if ours != theirs:
                reason = f"{key[0]}-{key[1]} is with {_quoted(ours)}, but with {_quoted(theirs)}"
                raise _of_two_moments(view, listing or shown_by[key], reason)

    if listing is not None:
        owners = _holders_listed(listing)
        for view in filter(_lists_holders, views):
            listed = _holders_listed(view)
            agree(view, listed, owners | listed)
    for view in views:
        rows = _holders_in_rows(view)
        agree(view, rows, rows if listing is not None else rows.keys() & owners)
        owners = rows | owners
        shown_by = dict.fromkeys(rows, view) | shown_by
    return owners


def _lists_holders(view: View) -> bool:
    return view.every_member and any(member.held is not None for member in view.members)


def _holders_listed(view: View) -> Owners:
    return {key: tuple(sorted(members)) for key, members in holders_of(view.members).items()}


def _holders_in_rows(view: View) -> Owners:
    held: dict[Key, list[str]] = {}
    for seen in view.partitions:
        members = held.setdefault((seen.topic, seen.number), [])
        repeated = members and (seen.owner is None or seen.owner in members)
        if repeated:
            refuse(seen.place, f"{brief(seen.topic)} partition {seen.number} a second time")
        if seen.owner is not None:
            members.append(seen.owner)
    return {key: tuple(sorted(members)) for key, members in held.items()}


def _quoted(members: tuple[str, ...]) -> str:
    return " and ".join(brief(member) for member in members) or "nobody"


def _check_members(views: Sequence[View], members: Mapping[str, object], owners: Owners) -> None:
    count = {member: 0 for member in members}
    for held_by in owners.values():
        for member in held_by:
            count[member] += 1
    for view in views:
        listed = {seen.member for seen in view.members}
        missing = sorted(members.keys() - listed) if view.every_member else []
        if missing:
            there = next(v for v in views if any(m.member == missing[0] for m in v.members))
            reason = f"member {brief(missing[0])} is not here, but"
            raise _of_two_moments(view, there, reason)
        for seen in view.members:
            if seen.count not in (None, count[seen.member]):
                refuse(
                    seen.place,
                    f"member {brief(seen.member)} holds {_partitions(seen.count)}, of which "
                    f"{count[seen.member]} are shown: add --describe, or --members --verbose",
                )
    for view in views:
        if view.member_count not in (None, len(members)):
            refuse(
                view.place,
                f"{counted(view.member_count, 'member')}, of which {len(members)} are shown: "
                "add --describe --members --verbose, or use rpk with --format json",
            )


def _offsets(views: Sequence[View]) -> dict[Key, tuple[int | None, ...]]:
    """Return the beginning, the end and the commit of each partition that a view shows.

    Raises
    ------
    Misread
        If two views differ in an end or a commit.
    """
    offsets: dict[Key, tuple[int | None, ...]] = {}
    origin: dict[Key, View] = {}

    def at(end: int | None, committed: int | None) -> str:
        return " of ".join("-" if one is None else str(one) for one in (committed, end))

    for view in views:
        for seen in view.partitions:
            key, ends = (seen.topic, seen.number), (seen.end, seen.committed)
            beginning, *known = offsets.get(key, (None, *ends))
            if ends != (*known,) and origin[key] is not view:
                which = f"{seen.topic}-{seen.number} is at {at(*ends)}"
                reason = f"{which}, but at {at(*known)}"
                raise _of_two_moments(view, origin[key], reason, seen.place)
            beginning = beginning if seen.beginning is None else seen.beginning
            offsets[key], origin[key] = (beginning, *ends), view
    return offsets


def _topics(
    views: Sequence[View],
    owners: Owners,
    offsets: Mapping[Key, tuple[int | None, ...]],
    sizes: Mapping[str, TopicSize],
    highest: Mapping[str, int],
    most_unseen: int,
    notes: list[str],
) -> tuple[dict[str, int | Topic], int]:
    shown = _partitions_shown(views, (*owners, *offsets), sizes)
    topics: dict[str, int | Topic] = {}
    unseen = 0
    far: dict[str, tuple[int, int]] = {}
    guessed = sorted(shown.keys() - sizes.keys())
    streams = any(view.streams for view in views)
    if len(guessed) > 1:
        what = f"partition counts of {{}} topics: {HIGHEST_SEEN} + 1"
        what = "task counts of {} subtopologies: the highest task seen + 1" if streams else what
        notes.append(what.format(len(guessed)))
    for topic, numbers in sorted(shown.items()):
        count = max(highest.get(topic, -1), *numbers, -1) + 1
        size = sizes.get(topic)
        if size is not None:
            if size.partitions < count:
                reason = f"{_partitions(size.partitions)}, but {topic}-{count - 1} is shown"
                refuse(size.place, reason)
            count = size.partitions
        elif len(guessed) == 1:
            known = f"{_partitions(count)}, {HIGHEST_SEEN} + 1"
            known = f"{counted(count, 'task')}, the highest task seen + 1" if streams else known
            notes.append(f"{topic}: {known}")
        rest = sorted(numbers)[:-1]
        if size is None and rest and count > FAR * (rest[-1] + 1) + FAR:
            far[topic] = (count - 1, rest[-1])
        unseen += count - len(numbers)
        if unseen > most_unseen:
            refuse(
                views[0].place,
                f"topic {brief(topic)}: {_partitions(count)}, of which {len(numbers)} are shown",
            )
        topics[topic] = _topic(topic, count, offsets)
    notes += _note(
        [f"{topic}-{number}" for topic, (number, _) in far.items()],
        [f"{t}: partition {n} is {FAR_BEYOND}, up to {m}" for t, (n, m) in far.items()],
        f"{FAR_BEYOND} of their topics",
    )
    return topics, unseen


def _partitions_shown(
    views: Sequence[View], keys: Iterable[Key], sizes: Mapping[str, TopicSize]
) -> dict[str, set[int]]:
    """Return the partition numbers of each topic in the views; a topic only read may have none."""
    shown: dict[str, set[int]] = {}
    for topic, number in keys:
        shown.setdefault(topic, set()).add(number)
    for member in (member for view in views for member in view.members):
        to_read = set(member.subscription or ()) & sizes.keys()
        for topic in to_read.union(*member.every_held):
            shown.setdefault(topic, set())
    return shown


def _note(named: Sequence[str], alone: Sequence[str], together: str) -> list[str]:
    """Return notes on partitions: `alone` for a single one, otherwise one line for all of them."""
    if len(named) < 2:
        return [*alone]
    return [f"{len(named)} partitions are {together}: {few(named)}"]


def _topic(topic: str, count: int, offsets: Mapping[Key, tuple[int | None, ...]]) -> int | Topic:
    if not any((topic, number) in offsets for number in range(count)):
        return count
    unknown = (None, None, None)
    logs = [Log(*offsets.get((topic, number), unknown)) for number in range(count)]
    return Topic(count, offsets=logs)


def _partitions(count: int) -> str:
    return counted(count, "partition")
