"""Token: what OAUTHBEARER shows, given as it is."""

from __future__ import annotations

from live.connection.loading import load_kafka_python


def fixed_token(token: object) -> object:
    """Return kafka-python's provider of one token; whoever gives it has to renew it."""
    load_kafka_python()
    from kafka.net.sasl.oauth import AbstractTokenProvider

    class _Fixed(AbstractTokenProvider):  # type: ignore[misc]
        def token(self) -> str:
            # The client formats it, and a secret would format as stars.
            return str.__str__(token)

    return _Fixed()
