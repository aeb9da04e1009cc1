"""Wire: requests and responses of Kafka's protocol, in kafka-python's types, as bytes."""

from __future__ import annotations

import struct
import warnings
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

METADATA, JOIN_GROUP, HEARTBEAT, LEAVE_GROUP, SYNC_GROUP = 3, 11, 12, 13, 14
FETCH, LIST_OFFSETS, OFFSET_COMMIT, OFFSET_FETCH = 1, 2, 8, 9
FIND_COORDINATOR, API_VERSIONS = 10, 18
NONE, UNKNOWN_TOPIC, INCONSISTENT_PROTOCOL = 0, 3, 23
REBALANCE_IN_PROGRESS, GROUP_AUTHORIZATION_FAILED, UNSUPPORTED_VERSION = 27, 30, 35

# The highest versions are those before the flexible ones: every client speaks them, and they are
# the shortest. A version of ApiVersions that is too high is answered with an error in version 0.
VERSIONS: dict[int, tuple[int, int]] = {
    FETCH: (4, 11),
    LIST_OFFSETS: (1, 5),
    METADATA: (0, 8),
    OFFSET_COMMIT: (2, 7),
    OFFSET_FETCH: (1, 5),
    FIND_COORDINATOR: (0, 2),
    JOIN_GROUP: (0, 5),
    HEARTBEAT: (0, 3),
    LEAVE_GROUP: (0, 3),
    SYNC_GROUP: (0, 3),
    API_VERSIONS: (0, 3),
}

MOST_CHARACTERS = 120


class Malformed(Exception):
    """Bytes that are no request which the probe can read; the text says why in one line."""


@dataclass(frozen=True)
class Request:
    """One request of a client.

    Attributes
    ----------
    key, version : which API, one of `VERSIONS`
    correlation : number by which the client recognises the answer
    client_id : what the client calls itself, "" where it does not
    body : kafka-python's object; None where the version is not spoken
    """

    key: int
    version: int
    correlation: int
    client_id: str
    body: Any


@cache
def types() -> Any:
    """Return kafka-python's message classes, by name; loading them takes a while."""
    with warnings.catch_warnings():
        # It reads its schemas by a function that Python 3.11 calls deprecated.
        warnings.simplefilter("ignore", DeprecationWarning)
        from kafka.coordinator.assignors.sticky import user_data
        from kafka.protocol import consumer, metadata

    return SimpleNamespace(**(_classes(consumer) | _classes(metadata) | _classes(user_data)))


def _classes(module: Any) -> dict[str, Any]:
    return {name: found for name, found in vars(module).items() if isinstance(found, type)}


@cache
def _messages() -> dict[int, tuple[Any, Any]]:
    """Return kafka-python's classes of request and response by API."""
    names = {
        FETCH: "Fetch",
        LIST_OFFSETS: "ListOffsets",
        METADATA: "Metadata",
        OFFSET_COMMIT: "OffsetCommit",
        OFFSET_FETCH: "OffsetFetch",
        FIND_COORDINATOR: "FindCoordinator",
        JOIN_GROUP: "JoinGroup",
        HEARTBEAT: "Heartbeat",
        LEAVE_GROUP: "LeaveGroup",
        SYNC_GROUP: "SyncGroup",
        API_VERSIONS: "ApiVersions",
    }
    return {
        key: (getattr(types(), f"{name}Request"), getattr(types(), f"{name}Response"))
        for key, name in names.items()
    }


def spoken() -> list[object]:
    """Return the APIs and their versions, as an ApiVersions response lists them."""
    return [
        types().ApiVersionsResponse.ApiVersion(api_key=key, min_version=low, max_version=high)
        for key, (low, high) in sorted(VERSIONS.items())
    ]


def reason(error: Exception) -> str:
    """Return the class and the beginning of the message of an exception, in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:MOST_CHARACTERS]


def decode_request(frame: bytes) -> Request:
    """Read a request without its length.

    Raises
    ------
    Malformed
        Where it is none, or of an API or a version that is not spoken.
    """
    if len(frame) < 8:
        raise Malformed(f"{len(frame)} bytes, too few for a request")
    key, version, correlation = struct.unpack_from(">hhi", frame)
    if key not in VERSIONS:
        raise Malformed(f"asks for API {key}, which the probe does not speak")
    low, high = VERSIONS[key]
    if not low <= version <= high:
        if key == API_VERSIONS:
            return Request(key, version, correlation, "", None)
        raise Malformed(f"asks for API {key} in version {version}, expected {low} to {high}")
    try:
        body = _messages()[key][0].decode(frame, version=version, header=True)
        client_id = str(body.header.client_id or "")
    except Exception as error:
        cause = reason(error)
        raise Malformed(f"API {key} in version {version} cannot be read: {cause}") from None
    return Request(key, version, correlation, client_id, body)


def encode_response(request: Request, fields: Mapping[str, object]) -> bytes:
    """Return the answer to a request, with its length.

    Parameters
    ----------
    fields : of kafka-python's response, by name
    """
    version = request.version if request.body is not None else 0
    response = _messages()[request.key][1](version=version, **fields)
    response.with_header(correlation_id=request.correlation)
    return bytes(response.encode(header=True, framed=True))
