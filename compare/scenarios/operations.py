"""Operations: what people do to a running group, as events of a scenario."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from uuid import UUID

from compare.scenarios.events import JOINS

if TYPE_CHECKING:
    import numpy as np

    from groups import Group
    from groups.documents.assay_group import JsonObject

# What a consumer adds to its client id when it joins.
_ADDED = re.compile(r"-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")


def operations(
    group: Group, rng: np.random.Generator, *, restarts: int = 0, joins: int = 0, leaves: int = 0
) -> list[JsonObject]:
    """Return events: rolling restarts of all members, then joins, then leaves.

    In a rolling restart one member after another leaves and joins again. It then holds nothing
    and, if its id is a client id with a UUID, it has another UUID.

    Parameters
    ----------
    rng : draws the UUIDs
    restarts : rolling restarts, as of a nightly rotation or a deployment
    joins, leaves : members; those that join read what members drawn by seed read
    """
    events: list[JsonObject] = []
    members = {
        member: {key: value for key, value in said.items() if key in JOINS}
        for member, said in group.to_dict()["members"].items()
    }
    for _ in range(restarts):
        started: dict[str, JsonObject] = {}
        for member, said in members.items():
            again = _ADDED.sub(f"-{UUID(bytes=rng.bytes(16), version=4)}", member)
            events += [{"leave": [member]}, {"join": {again: said}}]
            started[again] = said
        members = started
    events += [{"join": joins}] if joins else []
    events += [{"leave": leaves}] if leaves else []
    return events
