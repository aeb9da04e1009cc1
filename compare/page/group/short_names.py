"""Short names: what members are called in a figure, without what only makes them unlike."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.group import Group

_UUID = re.compile(r"-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$", re.I)


def labels_of(group: Group) -> list[str]:
    """Return what each member is called in a figure: its client id where no other has it.

    Where one has the client id that another goes by, all are called by their short names.
    """
    short = short_names(group.members)
    known = [None if one is None else one.client_id for one in group.details]
    often = Counter(known)
    labels = [
        client if client and often[client] == 1 else name
        for client, name in zip(known or [None] * len(short), short, strict=True)
    ]
    return labels if len(set(labels)) == len(labels) else short


def short_names(names: Sequence[str]) -> list[str]:
    """Return each name cut before the identifier at its end, where they stay different.

    Examples
    --------
    >>> short_names(["app-0-9e9480e3-fb86-495b-a540-9a7c10bdb384", "app-1"])
    ['app-0-…', 'app-1']
    """
    cut = [_UUID.sub("-…", name) for name in names]
    return cut if len(set(cut)) == len(names) else list(names)
