"""MemberDetails: what a snapshot says of a member beside what every group has columns for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class MemberDetails:
    """What a snapshot says of a member besides its subscription, claims and rack."""

    instance_id: str | None = None
    client_id: str | None = None
    host: str | None = None
    assignors: tuple[str, ...] | None = None
    capacity: int | None = None
    epoch: int | None = None
    target: Mapping[str, tuple[int, ...]] | None = None
    subscription_regex: str | None = None
