"""What a snapshot says of its members: subscriptions, what they own, racks and details."""

from __future__ import annotations

from itertools import chain, pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from groups.arrays import NO_GENERATION
from groups.columns.claims import Claims
from groups.columns.member_details import MemberDetails
from groups.documents import fields

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

T = TypeVar("T")
Held = dict[str, tuple[int, ...]]
_COLUMNS = {"subscription", "owned", "generation", "rack"}
_NO_DETAILS = MemberDetails()
_KEYS = _COLUMNS | set(vars(_NO_DETAILS))


class Member(NamedTuple):
    """What a snapshot says of a member; `subscription` is None where it is unknown."""

    subscription: tuple[str, ...] | None
    owned: Held
    generation: int
    rack: str | None
    details: MemberDetails


def read_member(value: object, place: str) -> Member:
    """Read a member.

    Raises
    ------
    BadInput
        Where a rule of the format is broken; the message names the place.
    """
    found = fields.mapping(value, place, allowed=_KEYS)

    def given(key: str, read: Callable[[object, str], T]) -> T | None:
        return None if found.get(key) is None else read(found[key], f"{place}.{key}")

    generation = given("generation", _born)
    return Member(
        subscription=given("subscription", fields.strings),
        owned=_owned(found.get("owned", {}), f"{place}.owned"),
        generation=NO_GENERATION if generation is None else generation,
        rack=given("rack", fields.name),
        details=_NO_DETAILS
        if found.keys() <= _COLUMNS
        else MemberDetails(
            instance_id=given("instance_id", fields.name),
            client_id=given("client_id", fields.name),
            host=given("host", fields.name),
            assignors=given("assignors", fields.strings),
            capacity=given("capacity", lambda v, at: fields.integer(v, at, least=1)),
            epoch=given("epoch", _born),
            target=given("target", _owned),
            subscription_regex=given("subscription_regex", fields.name),
        ),
    )


def _born(value: object, place: str) -> int:
    return fields.integer(value, place, least=NO_GENERATION)


def _owned(value: object, place: str) -> Held:
    owned = {}
    for topic, listed in fields.mapping(value, place).items():
        at = f"{place}.{fields.name(topic, place)}"
        numbers = sorted(fields.integers(listed, at))
        if len(set(numbers)) < len(numbers):
            twice = next(number for number, after in pairwise(numbers) if number == after)
            fields.refuse(at, f"partition {twice} appears twice")
        owned[topic] = tuple(numbers)
    return owned


def claims_of(owned: Sequence[Held], index: Mapping[str, int]) -> Claims:
    """Return the claims of the members, by the index of each topic, absent ones included."""
    said = [
        (member, topic, numbers)
        for member, held in enumerate(owned)
        for topic, numbers in sorted((index[t], numbers) for t, numbers in held.items())
    ]
    lengths = np.array([len(numbers) for _, _, numbers in said], np.int64)
    member, topic = (
        np.repeat(np.array(column, np.int32), lengths)
        for column in ([member for member, _, _ in said], [topic for _, topic, _ in said])
    )
    numbers = chain.from_iterable(numbers for _, _, numbers in said)
    return Claims(member, topic, np.fromiter(numbers, np.int64, int(lengths.sum())))
