"""Short names: members' names without what a client library adds to make them unlike."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_UUID = re.compile(r"-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$", re.I)


def short_names(names: Sequence[str]) -> list[str]:
    """Return each name cut before the identifier at its end, where they stay different.

    Examples
    --------
    >>> short_names(["app-0-9e9480e3-fb86-495b-a540-9a7c10bdb384", "app-1"])
    ['app-0-…', 'app-1']
    """
    cut = [_UUID.sub("-…", name) for name in names]
    return cut if len(set(cut)) == len(names) else list(names)
