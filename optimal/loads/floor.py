"""Floor: which members and partitions show that no assignment has a lower peak."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from groups.documents import fields
from groups.errors import ProofError

if TYPE_CHECKING:
    from groups.group import Group

Bound = Literal["average", "crowd"]
BOUNDS: tuple[Bound, ...] = get_args(Bound)
_KEYS = ("bound", "members", "at_least")


@dataclass(frozen=True)
class Floor:
    """Why the busiest member carries no less (docs/explanation/proof.md).

    Attributes
    ----------
    bound : `average`: these members carry on average at least so much; `crowd`: one of them
        holds several of their heavy partitions, or a heavy one and more that it has to hold
    members : indices, ascending
    at_least : how much a partition weighs to be heavy
    """

    bound: Bound
    members: tuple[int, ...]
    at_least: int = 0

    def __post_init__(self) -> None:
        """Require words and integers; whether they prove anything is for the checker."""
        if self.bound not in BOUNDS:
            raise ProofError(f"floor.bound: {self.bound!r}, expected one of {', '.join(BOUNDS)}")
        whole = type(self.members) is tuple and all(type(m) is int for m in self.members)
        if not whole or not self.members or list(self.members) != sorted(set(self.members)):
            raise ProofError(f"floor.members: {self.members!r}, expected ascending indices")
        if type(self.at_least) is not int:
            raise ProofError(f"floor.at_least: {self.at_least!r} is no integer")

    def to_dict(self, group: Group) -> dict[str, object]:
        """Return the ``floor`` of the proof in an ``assay-solution/1`` document."""
        named = [group.members[m] for m in self.members]
        return {"bound": self.bound, "members": named, "at_least": self.at_least}

    @staticmethod
    def from_dict(group: Group, document: object) -> Floor:
        """Read the ``floor`` of a proof.

        Raises
        ------
        BadInput
            Where a rule of the format is broken; the message names the place.
        """
        found = fields.mapping(document, "proof.floor", allowed=set(_KEYS), required=_KEYS)
        bound = next((word for word in BOUNDS if word == found["bound"]), None)
        if bound is None:
            shown = fields.shown(found["bound"])
            fields.refuse("proof.floor.bound", f"{shown}, expected one of {', '.join(BOUNDS)}")
        index = {member: i for i, member in enumerate(group.members)}
        named = fields.strings(found["members"], "proof.floor.members")
        if not named or not index.keys() >= set(named):
            fields.refuse("proof.floor.members", "expected one or more members of the group")
        at_least = fields.integer(found["at_least"], "proof.floor.at_least")
        return Floor(bound, tuple(sorted({index[name] for name in named})), at_least)
