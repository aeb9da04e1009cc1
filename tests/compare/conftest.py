from pathlib import Path

CAPTURES = Path(__file__).parents[1] / "groups" / "captures"
HOSTILE = "<script>alert(1)</script>"
CLOSING = "</script><b>bold</b>"


def snapshot(group: str, topics: dict, members: dict, **more) -> dict:
    return {
        "format": "assay-group/1",
        "group": group,
        "topics": topics,
        "members": members,
        **more,
    }


def lopsided(name: str = "lopsided", topic: str = "t1", member: str = "c1") -> dict:
    """A group whose optimum has balance 1 and stickiness 2; its present owners have balance 5."""
    owned = {"t0": [0, 1], topic: [0, 1, 2]}
    members = {
        "c0": {"subscription": ["t0", topic], "owned": owned},
        member: {"subscription": [topic]},
    }
    return snapshot(name, {"t0": 2, topic: 3}, members)
