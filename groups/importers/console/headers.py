"""Headers of ``kafka-consumer-groups.sh --describe``, Kafka 2.0 to 4.x, and their views.

``kafka.admin.ConsumerGroupCommand`` up to 3.7, ``org.apache.kafka.tools.consumer.group`` from 3.8.
Before 2.2 there is no GROUP column.
"""

from __future__ import annotations

_AFTER_PARTITION = "CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID"
_OFFSETS = (
    f"TOPIC PARTITION {_AFTER_PARTITION}",
    f"TOPIC PARTITION LEADER-EPOCH {_AFTER_PARTITION}",
)
_EPOCHS = "CURRENT-EPOCH CURRENT-ASSIGNMENT TARGET-EPOCH TARGET-ASSIGNMENT"
_MEMBERS = tuple(
    f"CONSUMER-ID {instance}HOST CLIENT-ID #PARTITIONS{verbose}"
    for instance in ("", "GROUP-INSTANCE-ID ")
    for verbose in ("", " ASSIGNMENT", f" {_EPOCHS}", f" {_EPOCHS} UPGRADED")
)
_STATES = (
    "COORDINATOR (ID) ASSIGNMENT-STRATEGY STATE #MEMBERS",
    "COORDINATOR (ID) ASSIGNMENT-STRATEGY STATE GROUP-EPOCH TARGET-ASSIGNMENT-EPOCH #MEMBERS",
)
# Of kafka-streams-groups.sh, from 4.2.
_OFFSETS_OF_STREAMS = (
    "TOPIC PARTITION OFFSET-LAG",
    "TOPIC PARTITION CURRENT-OFFSET LEADER-EPOCH LOG-END-OFFSET OFFSET-LAG",
)
_MEMBERS_OF_STREAMS = (
    "MEMBER PROCESS CLIENT-ID ASSIGNMENTS",
    "TARGET-ASSIGNMENT-EPOCH TOPOLOGY-EPOCH MEMBER MEMBER-PROTOCOL MEMBER-EPOCH PROCESS CLIENT-ID "
    "ASSIGNMENTS",
)
_STATES_OF_STREAMS = tuple(
    f"COORDINATOR (ID) {assignor}STATE {epochs}#MEMBERS"
    for assignor in ("ASSIGNOR ", "")
    for epochs in ("GROUP-EPOCH TARGET-ASSIGNMENT-EPOCH ", "")
)
_KINDS = {
    f"{group}{header}": kind
    for group in ("GROUP ", "")
    for kind, headers in (("offsets", _OFFSETS), ("members", _MEMBERS), ("states", _STATES))
    for header in headers
} | {
    f"GROUP {header}": f"streams {kind}"
    for kind, headers in (
        ("offsets", _OFFSETS_OF_STREAMS),
        ("members", _MEMBERS_OF_STREAMS),
        ("states", _STATES_OF_STREAMS),
    )
    for header in headers
}
VIEWS = frozenset(_KINDS.values())
_SHARED = {"START-OFFSET", "MEMBER-EPOCH", "ASSIGNMENT-EPOCH"}
_STREAMS = {"MEMBER", "MEMBER-PROTOCOL", "PROCESS", "OFFSET-LAG", "TOPOLOGY-EPOCH"}
_LIST = {"GROUP", "TYPE", "PROTOCOL", "STATE"}
STARTS = ("GROUP", "TOPIC", "CONSUMER-ID", "COORDINATOR")
COLUMNS = frozenset({c for header in _KINDS for c in header.split()} | _SHARED | _STREAMS | _LIST)
LONG = frozenset(header for header in _KINDS if header.startswith("GROUP "))
"""The headers with a GROUP column, cells one blank apart."""


def is_header(line: str) -> bool:
    """Return whether a line is the header of a table, complete or not."""
    words = line.split(None, 20)
    return len(words) > 1 and words[0] in STARTS and words[1] in COLUMNS


def kind_of(columns: list[str]) -> str:
    """Return the kind of view of a header.

    It is ``offsets``, ``members`` or ``states``, with ``streams`` before it for Kafka Streams;
    ``shared``, ``streams`` or ``either`` for a table of share or Streams groups that is no such
    view; ``list`` for a list of groups; or ``none``.
    """
    found = _KINDS.get(" ".join(columns))
    if found is not None:
        return found
    shown = set(columns)
    if shown & _STREAMS:
        return "streams"
    if shown & _SHARED:
        return "shared"
    if {"COORDINATOR", "#MEMBERS"} <= shown and "ASSIGNMENT-STRATEGY" not in shown:
        return "either"
    return "list" if "GROUP" in shown and shown <= _LIST else "none"
