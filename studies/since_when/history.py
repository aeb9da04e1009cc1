"""History: the rows of a finding's releases, with what is told of it in public."""

from __future__ import annotations

import json
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from studies.since_when.verdicts import AFFECTED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TOLD = Path(__file__).with_name("told.json")


def history(
    finding: str,
    releases: Sequence[Mapping[str, object]],
    told: Mapping[str, Sequence[Mapping[str, object]]] | None = None,
) -> dict[str, object]:
    """Return the history of a finding.

    Parameters
    ----------
    finding : its id
    releases : version, date, status and reason of each, oldest first
    told : changes and reports, from ``told.json`` if left out: a change counts where the first
        affected release, or the first that is not any more, is the one that it names
    """
    told = json.loads(TOLD.read_text("utf-8")) if told is None else told
    affected = [row["version"] for row in releases if row["status"] == AFFECTED]
    first, last = (affected[0], affected[-1]) if affected else (None, None)
    changes = [
        one["text"] for one in told["changes"] if _is_of(one, finding) and one["first"] == first
    ]
    return {
        "releases": [*releases],
        "first": first,
        "last": last,
        "change": " ".join(map(str, changes)) or None,
        "reports": [
            {key: value for key, value in one.items() if key != "of"}
            for one in told["reports"]
            if _is_of(one, finding)
        ],
    }


def _is_of(one: Mapping[str, object], finding: str) -> bool:
    patterns = one["of"]
    return isinstance(patterns, list) and any(fnmatch(finding, pattern) for pattern in patterns)
