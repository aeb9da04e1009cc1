"""Rest: what a row says of a group beside its columns, as the parts of a snapshot that say it."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from groups.arrays import UNKNOWN
from groups.columns.claims import BY_CLAIMS
from groups.columns.member_details import MemberDetails
from groups.documents import fields
from groups.documents.assay_group import FORMAT, of_mapping, told
from groups.documents.json_files import parse_json
from groups.documents.members import claims_of, details_of, index_of, rows_of
from groups.documents.topics import offsets_of, racks_of, topics_of
from groups.documents.written import member_part, owned_by, topic_part
from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from groups.arrays import Ints
    from groups.columns.claims import Claims
    from groups.documents.assay_group import Document
    from groups.documents.snapshot import Snapshot
    from groups.group import Group

_NO_DETAILS = MemberDetails()
_OF_A_TOPIC = {"offsets", "racks"}
_OF_A_MEMBER = {"owned", "rack", "subscription", *vars(_NO_DETAILS)}


def rest_of(group: Group) -> str | None:
    """Return what the columns of a row do not hold of a group, as JSON; None for nothing.

    ``topics`` has the `offsets` and `racks` of topics that have some. ``members`` has the `rack`
    and the details of members that have some; as `subscription` what they read that does not
    exist; as `owned`, where it is not just what they are the valid owners of, what all claim.
    """
    said = _claims_beside(group)
    plain = group.racks is None and group.offsets is None and not group.absent_topics
    if plain and said is None and all(one == _NO_DETAILS for one in group.details):
        return None
    columns = cast("Snapshot", vars(group))
    owned = None if said is None else owned_by(columns, said)
    absent: dict[int, list[str]] = {}
    for member, topic in group.absent_subscriptions:
        absent.setdefault(member, []).append(group.absent_topics[topic])
    topics: dict[str, Any] = {}
    if group.offsets is not None or group.racks is not None:
        for at, (name, here) in enumerate(
            zip(group.topics, pairwise(group.first.tolist()), strict=True)
        ):
            described: Any = topic_part(columns, at, slice(*here))
            if not isinstance(described, int) and described.keys() & _OF_A_TOPIC:
                topics[name] = {key: described[key] for key in described.keys() & _OF_A_TOPIC}
    members: dict[str, Any] = {}
    for at, name in enumerate(group.members):
        found: dict[str, Any] = {
            key: value for key, value in member_part(columns, at).items() if key != "generation"
        }
        if at in absent:
            found["subscription"] = sorted(absent[at])
        if owned is not None and owned[at]:
            found["owned"] = owned[at]
        if found:
            members[name] = found
    return written(topics, members)


def written(topics: Mapping[str, Any], members: Mapping[str, Any]) -> str | None:
    """Return the JSON that a row has of these parts of a snapshot; None for nothing."""
    parts = {key: part for key, part in (("members", members), ("topics", topics)) if part}
    if not parts:
        return None
    return json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def with_rest(group: Group, text: str) -> Group:
    """Return the group of a row's columns with what its rest says.

    Raises
    ------
    BadInput
        Where a rule of the format is broken, or the rest contradicts the columns.
    """
    try:
        found = fields.mapping(parse_json(text), "", allowed={"topics", "members"})
    except BadInput as error:
        raise error.within("rest") from None
    document = _document(group, found)
    said = [document.members[name] for name in group.members]
    listed = [told(member.subscription) for member in said]
    owned = [told(member.owned) or {} for member in said]
    try:
        topics = topics_of(document.topics, group.topics)
        index, absent = index_of(group.topics, listed, owned)
        claims = claims_of(owned, index, group.members) if any(owned) else None
        details = tuple(
            details_of(member, f"members.{name}")
            for name, member in zip(group.members, said, strict=True)
        )
        rows, row = rows_of(listed, index, group.members)
    except BadInput as error:
        raise BadInput(f"rest.{error}") from None
    offsets = offsets_of(topics)
    lag = group.lag_records
    if offsets is not None:
        lag = offsets.lag_beside(lag, group.auto_offset_reset, group.partitions)
    made = replace(
        group,
        owner=group.owner if claims is None else BY_CLAIMS,
        lag_records=lag,
        racks=racks_of(topics, [told(member.rack) for member in said]),
        offsets=offsets,
        raw_claims=claims,
        absent_topics=absent,
        absent_subscriptions=tuple(
            (member, topic - len(group.topics))
            for member, at in enumerate(row)
            for topic in rows[at]
        ),
        details=details,
    )
    _require_equal(made.owner, group.owner, "owner", "the claims")
    if offsets is not None and lag is not None:
        given = np.full(len(lag), UNKNOWN) if group.lag_records is None else group.lag_records
        _require_equal(lag, given, "lag", "the offsets")
    return made


def _document(group: Group, found: Mapping[str, Any]) -> Document:
    """Return what a rest says of the topics and members of a group, as a document."""
    given = _named(found, "topics", group.topics, "topic", _OF_A_TOPIC)
    members = _named(found, "members", group.members, "member", _OF_A_MEMBER)
    existing = set(group.topics)
    counts = zip(group.topics, group.partitions.tolist(), strict=True)
    try:
        document = of_mapping(
            {
                "format": FORMAT,
                "group": group.name,
                "topics": {
                    name: {"partitions": count, **given[name]} if name in given else count
                    for name, count in counts
                },
                "members": {name: members.get(name, {}) for name in group.members},
            }
        )
    except BadInput as error:
        raise BadInput(f"rest.{error}") from None
    for name, member in document.members.items():
        there = existing.intersection(told(member.subscription) or ())
        if there:
            place = f"rest.members.{name}.subscription"
            fields.refuse(place, f"{min(there)} exists, expected what does not")
    return document


def _named(
    found: Mapping[str, Any], key: str, names: tuple[str, ...], noun: str, allowed: set[str]
) -> Mapping[str, Any]:
    given = fields.mapping(found.get(key, {}), f"rest.{key}")
    unknown = given.keys() - set(names)
    if unknown:
        fields.refuse(f"rest.{key}", f"{min(unknown)!r}, but there is no such {noun}")
    for name, one in given.items():
        fields.mapping(one, f"rest.{key}.{name}", allowed=allowed)
    return given


def _require_equal(made: Ints, given: Ints, place: str, of: str) -> None:
    if not np.array_equal(made, given):
        at = int(np.argmax(made != given))
        fields.refuse(f"{place}[{at}]", f"{given[at]}, but {of} in rest make it {made[at]}")


def _claims_beside(group: Group) -> Claims | None:
    """Return the raw claims where they are not just what the members are valid owners of."""
    said = group.raw_claims
    if said is None:
        return None
    held = group.owned_claims
    same = all(np.array_equal(getattr(said, name), getattr(held, name)) for name in vars(held))
    return None if same else said
