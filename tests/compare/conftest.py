from pathlib import Path

import pytest

from tests.clients import keeping_processes
from tests.optimal.small_groups import document

CAPTURES = Path(__file__).parents[1] / "groups" / "captures"
HOSTILE = "<script>alert(1)</script>"
CLOSING = "</script><b>bold</b>"


def snapshot(group: str, topics: dict, members: dict, **more) -> dict:
    return document(topics, members, group=group, **more)


def holding(topic: int | list[int | None], owned: dict[str, list[int]], **more) -> dict:
    """A group whose members read the topic t, and own these of its partitions.

    topic : its number of partitions, or the lag of each
    """
    if isinstance(topic, list):
        topic = {"partitions": len(topic), "lag": topic}
    members = {m: {"subscription": ["t"], "owned": {"t": held}} for m, held in owned.items()}
    return document({"t": topic}, members, **more)


def lopsided(name: str = "lopsided", topic: str = "t1", member: str = "c1") -> dict:
    """A group whose optimum has balance 1 and stickiness 2; its present owners have balance 5."""
    owned = {"t0": [0, 1], topic: [0, 1, 2]}
    members = {
        "c0": {"subscription": ["t0", topic], "owned": owned},
        member: {"subscription": [topic]},
    }
    return snapshot(name, {"t0": 2, topic: 3}, members)


@pytest.fixture(scope="module", autouse=True)
def kept_processes():
    """Start Kafka's classes once for all tests that score with them."""
    with keeping_processes():
        yield
