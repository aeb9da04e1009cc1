"""What a snapshot says of its members: subscriptions, what they own, and details."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import UNSET

from groups.columns.member_details import MemberDetails
from groups.documents.assay_group import told, without_repeats
from groups.documents.fields import refuse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from groups.documents.assay_group import Member, Partitions

NO_DETAILS = MemberDetails()
_NOTHING = (UNSET,) * 8


def details_of(member: Member, place: str) -> MemberDetails:
    """Return what a document says of a member that is no column of a group.

    Raises
    ------
    BadInput
        Where an assignor, or a partition of the target, is named twice.
    """
    texts = member.instance_id, member.client_id, member.host, member.subscription_regex
    others = member.assignors, member.capacity, member.epoch, member.target
    if (*texts, *others) == _NOTHING:
        return NO_DETAILS
    assignors, target = told(member.assignors), told(member.target)
    instance_id, client_id, host, regex = map(told, texts)
    return MemberDetails(
        instance_id=instance_id,
        client_id=client_id,
        host=host,
        assignors=None
        if assignors is None
        else tuple(without_repeats(assignors, f"{place}.assignors")),
        capacity=told(member.capacity),
        epoch=told(member.epoch),
        target=None
        if target is None
        else {t: tuple(_ascending(n, f"{place}.target.{t}")) for t, n in target.items()},
        subscription_regex=regex,
    )


def index_of(
    topics: Sequence[str],
    listed: Sequence[Sequence[str] | None],
    owned: Sequence[Partitions],
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return the index of each topic, then of those that only members name; and these, sorted."""
    mentioned: set[str] = set().union(*filter(None, listed), *owned)
    absent = tuple(sorted(mentioned.difference(topics)))
    return dict(zip((*topics, *absent), range(len(topics) + len(absent)), strict=True)), absent


def rows_of(
    listed: Sequence[Sequence[str] | None], index: Mapping[str, int], members: Sequence[str]
) -> tuple[list[tuple[int, ...]], list[int]]:
    """Return the distinct topic lists, ascending by the index of topics, and which each reads.

    Raises
    ------
    BadInput
        Where a list names a topic twice.
    """
    number: dict[tuple[int, ...], int] = {}
    row: list[int] = []
    before: object = None
    for member, topics in zip(members, listed, strict=True):
        # Mostly members read what the one before them reads.
        if topics != before or not row:
            before = topics
            found = without_repeats(topics or (), f"members.{member}.subscription")
            at = number.setdefault(tuple(sorted([index[topic] for topic in found])), len(number))
        row.append(at)
    return list(number), row


def require_single(numbers: Sequence[int], place: str) -> None:
    """Raise BadInput where a partition is named twice."""
    if len(set(numbers)) < len(numbers):
        twice = next(n for n, after in pairwise(sorted(numbers)) if n == after)
        refuse(place, f"partition {twice} appears twice")


def _ascending(numbers: Sequence[int], place: str) -> list[int]:
    require_single(numbers, place)
    return sorted(numbers)
