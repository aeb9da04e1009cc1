"""Sameness: groups, and whatever they are made of, compared to the type of every array."""

from dataclasses import fields

import numpy as np

from groups import Group, MemberDetails


def same(one: object, other: object) -> bool:
    """Whether two values are alike, arrays with their types and read-only."""
    if isinstance(one, np.ndarray):
        return (
            isinstance(other, np.ndarray)
            and one.dtype == other.dtype
            and one.tolist() == other.tolist()
            and not one.flags.writeable
        )
    if hasattr(one, "__dataclass_fields__"):
        return type(one) is type(other) and all(
            same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one)
        )
    if isinstance(one, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


def differing(one: Group, other: Group) -> list[str]:
    """The columns in which two groups differ; what one has not may be made of what it has."""
    nothing = (MemberDetails(),) * len(one.members)
    pairs = {f.name: (getattr(one, f.name), getattr(other, f.name)) for f in fields(Group)}
    pairs["raw_claims"] = tuple(claims is None for claims in pairs["raw_claims"])
    pairs["details"] = tuple(details or nothing for details in pairs["details"])
    pairs["document"] = (one.to_dict(), other.to_dict())
    return [name for name, pair in pairs.items() if not same(*pair)]
