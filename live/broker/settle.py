"""Settle: wait until the consumers of a group hold each partition exactly once."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from live.broker.consumer import Consumer, Held

LOOK_SECONDS = 0.05


class NotSettled(OSError):
    """Consumers that do not come to hold each partition exactly once; with what they hold."""


def settle(
    consumers: Sequence[Consumer],
    topics: Mapping[str, int],
    seconds: float = 2.0,
    timeout: float = 120.0,
) -> list[Held]:
    """Wait until all are members and each partition has had exactly one of them for some time.

    Parameters
    ----------
    consumers : all that are alive
    topics : partition count of each topic that counts; others are not looked at
    seconds : for which nothing may change
    timeout : seconds after which it is given up

    Returns
    -------
    What each consumer holds of these topics, in the order of the consumers.

    Raises
    ------
    NotSettled
        Where they do not come to that in time.
    ConsumerDied
        Where one of them has ended.
    """
    wanted = sorted((topic, number) for topic in topics for number in range(topics[topic]))
    end = time.monotonic() + timeout
    since, before = time.monotonic(), None
    while True:
        # One that joins has to wait for what the others give up.
        told = [consumer.held() for consumer in consumers]
        joined = [one is not None for one in told]
        held = [_of(topics, one or {}) for one in told]
        now = time.monotonic()
        if (joined, held) != before:
            since, before = now, (joined, held)
        has = sorted((topic, n) for each in held for topic in each for n in each[topic])
        if all(joined) and has == wanted and now - since >= seconds:
            return held
        if now > end:
            each = dict(zip([c.client_id for c in consumers], held, strict=True))
            raise NotSettled(f"not settled after {timeout:g} s: {json.dumps(each)}")
        time.sleep(LOOK_SECONDS)


def _of(topics: Mapping[str, int], held: Held) -> Held:
    return {topic: numbers for topic, numbers in sorted(held.items()) if topic in topics}
