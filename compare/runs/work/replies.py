"""Replies: what a child returns to its worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Read:
    """What a child read: rows of ``groups`` and ``failures``, as bytes.

    Attributes
    ----------
    seconds : by stage
    is_lasting : whether the same content comes to the same whenever it is read
    """

    groups: bytes
    failures: bytes
    seconds: Mapping[str, float]
    is_lasting: bool = True


@dataclass(frozen=True)
class Answered:
    """What a child made of some rows.

    Attributes
    ----------
    optima, scores : rows of these tables, as bytes
    kept : what was found of groups by themselves, pickled, for who scores assignors on them
    seconds : by stage
    """

    optima: bytes
    scores: bytes
    kept: bytes
    seconds: Mapping[str, float]
