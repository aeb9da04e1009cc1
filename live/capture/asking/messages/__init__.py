"""The messages of KIP-848's ConsumerGroupDescribe, which kafka-python does not have itself.

Both JSON files are Apache Kafka's own schemas, as kafka-clients 4.3.1 carries them.
"""

from __future__ import annotations

from kafka.protocol.api_message import ApiMessage

__all__ = ["ConsumerGroupDescribeRequest", "ConsumerGroupDescribeResponse"]


class ConsumerGroupDescribeRequest(ApiMessage, load_json=__name__):  # type: ignore[misc, call-arg]
    """Which groups to describe."""


class ConsumerGroupDescribeResponse(ApiMessage, load_json=__name__):  # type: ignore[misc, call-arg]
    """Their members, epochs, current and target assignments."""
