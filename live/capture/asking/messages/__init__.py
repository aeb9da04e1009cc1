"""The messages of KIP-848's ConsumerGroupDescribe, which kafka-python does not have itself.

The JSON files say which fields go over the wire, in order, in the form in which kafka-python reads
its own messages (KIP-848, API key 69; version 1 adds the kind of a member, KIP-1099).
"""

from __future__ import annotations

from kafka.protocol.api_message import ApiMessage

__all__ = ["ConsumerGroupDescribeRequest", "ConsumerGroupDescribeResponse"]


class ConsumerGroupDescribeRequest(ApiMessage, load_json=__name__):  # type: ignore[misc, call-arg]
    """Which groups to describe."""


class ConsumerGroupDescribeResponse(ApiMessage, load_json=__name__):  # type: ignore[misc, call-arg]
    """Their members, epochs, current and target assignments."""
