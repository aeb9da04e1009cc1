"""Floor: which members and partitions show that no assignment has a lower peak."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from groups.documents import fields
from groups.errors import ProofError

if TYPE_CHECKING:
    from groups.group import Group

Bound = Literal["average", "crowd", "weighted"]
BOUNDS: tuple[Bound, ...] = get_args(Bound)
_KEYS = ("bound", "members", "at_least")
_WEIGHT = "proof.floor.weight"


@dataclass(frozen=True)
class Floor:
    """Why the busiest member carries no less (docs/explanation/proof.md).

    Attributes
    ----------
    bound : `average`: these members carry on average at least so much; `crowd`: one of them
        holds several of their heavy partitions, or a heavy one and more that it has to hold;
        `weighted`: what they carry, each as often as its weight says, is at least so much
    members : indices, ascending
    at_least : how much a partition weighs to be heavy
    weight : of each of the members, for `weighted` alone
    """

    bound: Bound
    members: tuple[int, ...]
    at_least: int = 0
    weight: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Require words and integers; whether they prove anything is for the checker."""
        if self.bound not in BOUNDS:
            raise ProofError(f"floor.bound: {self.bound!r}, expected one of {', '.join(BOUNDS)}")
        whole = type(self.members) is tuple and all(type(m) is int for m in self.members)
        if not whole or not self.members or list(self.members) != sorted(set(self.members)):
            raise ProofError(f"floor.members: {self.members!r}, expected ascending indices")
        if type(self.at_least) is not int:
            raise ProofError(f"floor.at_least: {self.at_least!r} is no integer")
        weighed = len(self.members) if self.bound == "weighted" else 0
        positive = type(self.weight) is tuple and all(
            type(w) is int and w > 0 for w in self.weight
        )
        if not positive or len(self.weight) != weighed:
            what = f"expected {weighed} positive integers for {self.bound}"
            raise ProofError(f"floor.weight: {self.weight!r}, {what}")

    def to_dict(self, group: Group) -> dict[str, object]:
        """Return the ``floor`` of the proof in an ``assay-solution/1`` document."""
        named = [group.members[m] for m in self.members]
        document: dict[str, object] = {
            "bound": self.bound,
            "members": named,
            "at_least": self.at_least,
        }
        if self.weight:
            document["weight"] = dict(zip(named, self.weight, strict=True))
        return document

    @staticmethod
    def from_dict(group: Group, document: object) -> Floor:
        """Read the ``floor`` of a proof.

        Raises
        ------
        BadInput
            Where a rule of the format is broken; the message names the place.
        """
        allowed = {*_KEYS, "weight"}
        found = fields.mapping(document, "proof.floor", allowed=allowed, required=_KEYS)
        bound = next((word for word in BOUNDS if word == found["bound"]), None)
        if bound is None:
            shown = fields.shown(found["bound"])
            fields.refuse("proof.floor.bound", f"{shown}, expected one of {', '.join(BOUNDS)}")
        index = {member: i for i, member in enumerate(group.members)}
        named = fields.strings(found["members"], "proof.floor.members")
        if not named or not index.keys() >= set(named):
            fields.refuse("proof.floor.members", "expected one or more members of the group")
        at_least = fields.integer(found["at_least"], "proof.floor.at_least")
        members = tuple(sorted({index[name] for name in named}))
        weight: tuple[int, ...] = ()
        if bound == "weighted" or "weight" in found:
            weight = _weights(group, found.get("weight"), members)
        return Floor(bound, members, at_least, weight)


def _weights(group: Group, value: object, members: tuple[int, ...]) -> tuple[int, ...]:
    """Return the weight of each member, from an object of members and integers."""
    names = tuple(group.members[m] for m in members)
    found = fields.mapping(value, _WEIGHT, allowed=set(names), required=names)
    return tuple(fields.integer(found[name], f"{_WEIGHT}.{name}", least=1) for name in names)
