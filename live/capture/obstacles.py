"""Obstacles: why a group cannot be captured, or not yet."""

from __future__ import annotations

from dataclasses import dataclass

import kafka.errors

from groups.importers.seen import absent

TOPIC_AUTHORIZATION_FAILED = 29
_COORDINATOR_LOADS = 14
_COORDINATOR_AWAY = 15
_COORDINATOR_MOVED = 16
_INVALID_GROUP = 24
_GROUP_AUTHORIZATION_FAILED = 30
_GROUP_NOT_FOUND = 69
# Errors of a coordinator that may be ready in a moment.
PASSING = {
    _COORDINATOR_LOADS: "its coordinator is still loading",
    _COORDINATOR_AWAY: "its coordinator is not available",
    _COORDINATOR_MOVED: "its coordinator has moved",
}


@dataclass(frozen=True)
class Obstacle:
    """Why a group cannot be captured.

    Attributes
    ----------
    reason : one sentence that names the group
    passing : whether asking again in a moment may help
    not_to_be_had : whether the state or the kind of the group is the reason
    """

    reason: str
    passing: bool = False
    not_to_be_had: bool = False


def obstacle_of(group: str, code: int) -> Obstacle | None:
    """Return the meaning of the error code in a group's description; None for 0."""
    if code == 0:
        return None
    if code in PASSING:
        return Obstacle(f"group {group!r}: {PASSING[code]}: capture it again", passing=True)
    if code in (_GROUP_NOT_FOUND, _INVALID_GROUP):
        return Obstacle(absent(group), not_to_be_had=True)
    if code == _GROUP_AUTHORIZATION_FAILED:
        return Obstacle(f"group {group!r} may not be described: allow Describe on it")
    if code == TOPIC_AUTHORIZATION_FAILED:
        return Obstacle(
            f"group {group!r}: a topic that it reads may not be described: "
            "allow Describe on its topics"
        )
    return Obstacle(f"group {group!r}: the broker answers with {error_named(code)}")


def topic_obstacle(group: str, topic: str, code: int) -> Obstacle:
    """Return the meaning of the error code of a topic that members of a group read or hold."""
    if code == TOPIC_AUTHORIZATION_FAILED:
        reason = f"group {group!r}: topic {topic!r} may not be described: allow Describe on it"
        return Obstacle(reason)
    reason = f"group {group!r}: topic {topic!r} cannot be described: {error_named(code)}"
    return Obstacle(reason, passing=True)


def error_named(code: int) -> str:
    """Return an error code with its name in Kafka's protocol.

    Examples
    --------
    >>> error_named(30), error_named(12345)
    ('error 30 (GROUP_AUTHORIZATION_FAILED)', 'error 12345')
    """
    known = kafka.errors.kafka_errors.get(code)
    return f"error {code}" if known is None else f"error {code} ({known.message})"
