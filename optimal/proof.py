"""Proof: why the bounds of a solution hold."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from groups.arrays import GREATEST, as_immutable
from groups.columns.places import PLACE_KINDS, Places
from groups.documents import fields
from groups.errors import ProofError
from groups.tiers import SQUARED_LOADS, TIERS, is_laminar, places_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from groups.arrays import Bools, Int32, Int64
    from groups.group import Group
    from groups.tiers import Objective


# The tiers that levels and prices can certify.
PRICED = ("balance", "stickiness", "moved_weight", "racks")
# The tiers that prices of members and places for every tier can certify.
ASKED = frozenset(
    {*PRICED, *SQUARED_LOADS, "host_balance", "rack_balance", "stateful_balance", "restores"}
)


class ProofKind(StrEnum):
    """What a bound rests on.

    A certificate can be checked without a solver; exhaustion means that every assignment that
    could be better was looked at; solver means that a solver claims it.
    """

    CERTIFICATE = "certificate"
    EXHAUSTION = "exhaustion"
    SOLVER = "solver"
    NONE = "none"


# What each kind means and what `assay check` does with it, in words for users.
MEANING = {
    ProofKind.CERTIFICATE: "integers that assay check confirms without a solver",
    ProofKind.EXHAUSTION: "every assignment that could be better was looked at; assay check "
    "counts a small group again",
    ProofKind.SOLVER: "a solver's word that nothing is better; assay check counts a small group "
    "again",
    ProofKind.NONE: "what is shown may not be the best",
}


@dataclass(frozen=True, eq=False)
class Proof:
    """What the bounds rest on.

    Attributes
    ----------
    kind : the kind of proof
    level, price : (members,) int64, the certificate (docs/explanation/proof.md), else None; a
        certificate that rests on a budget has no prices
    scale : how many units of price one unit of each tier that the prices are about is worth
    prices : if a tier adds up squares, the price in every tier that each member (`member`) and
        each place (`host`, `rack`) asks for a partition, and each member for a partition that
        keeps state (`state`): (members or places, tiers) int64
    floor : why no assignment has a lower peak, if the objective ends with a peak
    givers : indices of members that have to give partitions up, ascending: why a lower peak takes
        more moves than the budget allows, or why fewer moves are not enough
    """

    kind: ProofKind
    level: Int64 | None = None
    price: Int64 | None = None
    scale: tuple[int, ...] = ()
    floor: Floor | None = None
    givers: tuple[int, ...] = ()
    prices: Mapping[str, Int64] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Require integers; arrays are copied unless they are immutable."""
        if type(self.kind) is not ProofKind:
            raise ProofError(f"proof.kind: {self.kind!r} is no ProofKind")
        for name in ("level", "price"):
            column = getattr(self, name)
            if column is None:
                continue
            if type(column) is not np.ndarray or column.dtype != np.int64 or column.ndim != 1:
                raise ProofError(f"{name}: {fields.shown(column)}, expected one column of int64")
            object.__setattr__(self, name, as_immutable(column, np.int64))
        if type(self.scale) is not tuple or any(type(unit) is not int for unit in self.scale):
            raise ProofError(f"scale: {self.scale!r}, expected a tuple of integers")
        whole = type(self.givers) is tuple and all(type(m) is int for m in self.givers)
        if not whole or list(self.givers) != sorted(set(self.givers)):
            raise ProofError(f"givers: {self.givers!r}, expected ascending indices")
        if type(self.prices) is not dict:
            raise ProofError(f"prices: {fields.shown(self.prices)}, expected a dict")
        for name, table in self.prices.items():
            if type(table) is not np.ndarray or table.dtype != np.int64 or table.ndim != 2:
                raise ProofError(f"prices.{name}: expected a row of int64 for each")
        own = {name: as_immutable(table, np.int64) for name, table in self.prices.items()}
        object.__setattr__(self, "prices", own)
        if self.floor is not None:
            if type(self.floor) is not Floor:
                raise ProofError(f"floor: {self.floor!r} is no Floor")
            self.floor.__post_init__()

    def levels(self) -> Int64:
        """Return `level`, which is the whole certificate if it rests on a budget.

        Raises
        ------
        ProofError
            If there is none.
        """
        if self.level is None:
            raise ProofError("level is missing")
        return self.level

    def columns(self) -> tuple[Int64, Int64]:
        """Return `level` and `price`, the two integers per member of a certificate.

        Raises
        ------
        ProofError
            If one of them is missing.
        """
        if self.level is None or self.price is None:
            raise ProofError("level or price is missing")
        return self.level, self.price

    def to_dict(self, group: Group) -> dict[str, object]:
        """Return the ``proof`` of the ``assay-solution/1`` document."""
        document: dict[str, object] = {"kind": str(self.kind)}
        for key, column in (("level", self.level), ("price", self.price)):
            if column is not None:
                document[key] = dict(zip(group.members, column.tolist(), strict=True))
        if self.scale not in ((), (1,)):
            document["scale"] = list(self.scale)
        if self.floor is not None:
            document["floor"] = self.floor.to_dict(group)
        if self.prices:
            document["prices"] = {
                kind: dict(zip(_priced(group, kind), table.tolist(), strict=True))
                for kind, table in self.prices.items()
            }
        if self.givers:
            document["givers"] = [group.members[m] for m in self.givers]
        return document


def proof_of(group: Group, value: object, objective: Objective, *, priced: bool) -> Proof:
    """Read the ``proof`` of an ``assay-solution/1`` document.

    Parameters
    ----------
    priced : whether a certificate has to have prices

    Raises
    ------
    BadInput
        If a rule of the format is broken; the message names the place.
    """
    keys = {"kind", "level", "price", "scale", "floor", "givers"}
    if is_laminar(objective):
        keys = {"kind", "prices"}
    found = fields.mapping(value, "proof", allowed=keys, required=("kind",))
    kind = ProofKind(one_of(ProofKind, found["kind"], "proof.kind"))
    if kind is not ProofKind.CERTIFICATE:
        return Proof(kind)
    if is_laminar(objective):
        return Proof(kind, prices=_prices(group, found.get("prices"), objective))
    floor = Floor.from_dict(group, found["floor"]) if "floor" in found else None
    index = {member: i for i, member in enumerate(group.members)}
    named = fields.strings(found.get("givers", []), "proof.givers")
    if not index.keys() >= set(named):
        fields.refuse("proof.givers", "expected members of the group")
    givers = tuple(sorted(index[name] for name in named))
    if "balance" not in objective:
        return Proof(kind, floor=floor, givers=givers)
    scale = fields.listed(found.get("scale", []), "proof.scale")
    level, price = _per_member(group, found.get("level"), "proof.level"), None
    if priced or "price" in found:
        price = _per_member(group, found.get("price"), "proof.price")
    return Proof(
        kind,
        level=level,
        price=price,
        scale=tuple(fields.integer(v, f"proof.scale[{i}]") for i, v in enumerate(scale)),
        floor=floor,
        givers=givers,
    )


@dataclass(frozen=True, eq=False)
class Height:
    """All members, hosts or racks, which have prices of their own if a tier adds up squares.

    Attributes
    ----------
    kind : the key of `Proof.prices`; `state`: members, counting only partitions that keep state
    places : the members, hosts or racks; each member is a place of its own
    over : (places,) int64, index of the place of the next coarser height that contains each; above
        the last height there is one place, the whole group
    squared : (tiers,) bool, which tiers of the objective add up the squares of these loads
    """

    kind: str
    places: Places
    over: Int64
    squared: Bools

    def loads(self, group: Group, owner: Int32) -> Int64:
        """Return how many partitions of an assignment each place has, (places,) int64."""
        counts = owner >= 0
        if self.kind == "state" and group.copies is not None:
            counts &= group.copies.replicas >= 0
        return np.bincount(self.places.member[owner[counts]], minlength=len(self.over))

    def steps(self, load: Int64) -> Int64:
        """(places, tiers) int64: what the last partition of each load adds to the squares."""
        return np.outer(np.array(self.places.weight, np.int64) * (2 * load - 1), self.squared)


def heights_of(group: Group, objective: Objective) -> list[Height]:
    """Return the heights that tiers are about: state, members, hosts, racks, in this order."""
    members, kinds = len(group.members), places_of(objective)
    places = [Places(group.members, np.arange(members), (1,) * members)]
    places += map(group.places, kinds)
    coarser = [*(one.member for one in places[1:]), np.zeros(members, np.int64)]
    found = []
    for kind, one, above in zip((None, *kinds), places, coarser, strict=True):
        over = np.zeros(len(one.names), np.int64)
        over[one.member] = above
        squared = [TIERS[tier].is_convex and TIERS[tier].place == kind for tier in objective]
        found.append(Height(kind or "member", one, over, np.array(squared)))
    if "stateful_balance" in objective:
        of_state = np.array([tier == "stateful_balance" for tier in objective])
        found[0] = replace(found[0], squared=found[0].squared & ~of_state)
        found.insert(0, Height("state", places[0], np.arange(members), of_state))
    return found


def _priced(group: Group, kind: str) -> tuple[str, ...]:
    """Return the names of all hosts or racks, or of all members if `kind` is neither."""
    places = (group.places(one).names for one in PLACE_KINDS if one == kind)
    return next(places, group.members)


def _prices(group: Group, value: object, objective: Objective) -> dict[str, Int64]:
    """Read the prices of members and places, for each one integer per tier."""
    kinds = (*["state"] * ("stateful_balance" in objective), "member", *places_of(objective))
    tables: dict[str, Int64] = {}
    given = fields.mapping(value, "proof.prices", allowed={*kinds}, required=kinds)
    for kind in kinds:
        place, names = f"proof.prices.{kind}", _priced(group, kind)
        rows = fields.mapping(given[kind], place, allowed={*names}, required=names)
        table = np.zeros((len(names), len(objective)), np.int64)
        for at, name in enumerate(names):
            row = fields.listed(rows[name], f"{place}.{name}")
            if len(row) != len(objective):
                fields.refuse(f"{place}.{name}", f"expected {len(objective)} integers")
            table[at] = [fields.integer(v, f"{place}.{name}", least=-GREATEST) for v in row]
        tables[kind] = table
    return tables


def _per_member(group: Group, value: object, place: str) -> Int64:
    found = fields.mapping(value, place, allowed=set(group.members), required=group.members)
    least = -GREATEST
    return np.array(
        [fields.integer(found[m], f"{place}.{m}", least=least) for m in group.members], np.int64
    )


def one_of(words: type[StrEnum], value: object, place: str) -> str:
    """Return the value if it is one of the words; raise BadInput at its place otherwise."""
    known = [str(word) for word in words]
    if not isinstance(value, str) or value not in known:
        fields.refuse(place, f"{fields.shown(value)}, expected one of {', '.join(known)}")
    return str(value)


Bound = Literal["average", "crowd"]
BOUNDS: tuple[Bound, ...] = get_args(Bound)
_KEYS = ("bound", "members", "at_least")


@dataclass(frozen=True)
class Floor:
    """A lower bound on the load of the busiest member (docs/explanation/proof.md).

    Attributes
    ----------
    bound : `average`: the members carry so much on average; `crowd`: one of them holds several
        heavy partitions, or a heavy one and others that it has to hold
    members : indices, ascending
    at_least : the weight from which on a partition is heavy
    """

    bound: Bound
    members: tuple[int, ...]
    at_least: int = 0

    def __post_init__(self) -> None:
        """Require the right types; the checker decides whether they prove anything."""
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
            If a rule of the format is broken; the message names the place.
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
