"""Groups whose names match: listed, captured, and a Failure for whatever was not."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from groups.errors import Failure
from groups.importers import Imported
from live.capture import listing, rounds
from live.capture.captured import Captured
from live.capture.listing import Listed
from live.capture.obstacles import Obstacle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from live.capture.asking.cluster import Cluster
    from live.capture.listing import Listing


def capture_matching(
    cluster: Cluster, source: str, patterns: Sequence[str], *, lag: bool, deadline: float
) -> Captured:
    """Return the groups whose names match patterns, and why others could not be captured.

    Parameters
    ----------
    source : what to call the cluster
    deadline : on the clock of `time.monotonic`, when groups are asked again at the latest

    Raises
    ------
    Unanswered
        Where no broker answers.
    """
    listed = _once_loaded(cluster, deadline)
    choice = listing.choose(listed, patterns)
    found = {name: listed.groups[name] for name in choice.groups}
    silent = list(listed.silent.values())
    obstacles: list[tuple[str | None, Obstacle]] = [
        (name, one) for name, one in found.items() if isinstance(one, Obstacle)
    ]
    missing = listing.why_unlisted(cluster, choice.unlisted, listed)
    obstacles += zip(choice.unlisted, missing, strict=True)
    asked = {name: one for name, one in found.items() if isinstance(one, Listed)}
    documents = []
    for name, one in sorted(rounds.captured(cluster, asked, lag=lag, deadline=deadline).items()):
        if isinstance(one, Obstacle):
            obstacles.append((name, one))
        else:
            documents.append(Imported(one, (source,)))
    obstacles.sort(key=lambda pair: pair[0] or "")
    # Of a group that is named, its own line says what was not listed.
    if choice.unmatched or found:
        obstacles += [(None, Obstacle(f"{why}: groups there are not listed")) for why in silent]
    obstacles += [(None, _unmatched(pattern, listed)) for pattern in choice.unmatched]
    return Captured(tuple(documents), tuple(_failure(source, *pair) for pair in obstacles))


def _once_loaded(cluster: Cluster, deadline: float) -> Listing:
    while True:
        found = listing.list_groups(cluster)
        if not found.loading or time.monotonic() >= deadline:
            return found
        time.sleep(rounds.PAUSE_SECONDS)


def _unmatched(pattern: str, listed: Listing) -> Obstacle:
    if not listed.groups:
        return Obstacle("no groups: the cluster has none, or none that may be seen")
    return Obstacle(f"no group matches {pattern!r}")


def _failure(source: str, group: str | None, obstacle: Obstacle) -> Failure:
    reason = "".join(c if c.isprintable() else "?" for c in obstacle.reason)
    return Failure(source, source, reason, group, not_to_be_had=obstacle.not_to_be_had)
