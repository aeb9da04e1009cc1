"""Small seeded groups, changes applied to them by hand, and their least load by counting."""

import json
import random
from itertools import combinations


def document_of(seed: int) -> dict:
    """A group of up to 5 members and 4 topics; in two of three groups subscriptions may differ.

    Members own only partitions that they read, each partition at most once.
    """
    rng = random.Random(seed)
    topics = {f"t{i}": rng.randint(1, 6) for i in range(rng.randint(1, 4))}
    alike = rng.random() < 1 / 3
    members: dict = {}
    for m in range(rng.randint(1, 5)):
        read = [t for t in topics if alike or rng.random() < 0.6]
        members[f"c{m}"] = {"subscription": read, "owned": {}}
    favourite = rng.random() < 0.5
    for topic, count in topics.items():
        readers = [member for member in members.values() if topic in member["subscription"]]
        for number in range(count):
            if readers:
                owner = readers[0] if favourite and rng.random() < 0.5 else rng.choice(readers)
                owner["owned"].setdefault(topic, []).append(number)
    return {"format": "assay-group/1", "group": "g", "topics": topics, "members": members}


def with_lag(document: dict, seed: int) -> dict:
    """The same group with lag on every partition: much on a few, little on most."""
    rng = random.Random(seed)
    lags = {
        topic: {"partitions": count, "lag": [int(10 * rng.paretovariate(1)) for _ in range(count)]}
        for topic, count in document["topics"].items()
    }
    return document | {"topics": lags}


def without_subscriptions(document: dict, seed: int) -> dict:
    """The same group as a console tool shows it: some members' subscriptions are unknown."""
    rng = random.Random(seed)
    members = {
        m: member | {"subscription": None} if rng.random() < 0.7 else member
        for m, member in document["members"].items()
    }
    return document | {"members": members}


def least_load(document: dict) -> int:
    """The least load of the busiest member, by Hall's theorem over all sets of members.

    A set of members must hold all partitions of the topics that only its members read.
    """
    reads = {m: set(member["subscription"]) for m, member in document["members"].items()}
    least = 0
    for size in range(1, len(reads) + 1):
        for chosen in combinations(reads, size):
            others = set().union(*(reads[m] for m in reads if m not in chosen))
            theirs = set().union(*(reads[m] for m in chosen)) - others
            count = sum(document["topics"][t] for t in theirs)
            least = max(least, -(-count // size))
    return least


def load_now(document: dict) -> int:
    return max(sum(map(len, member["owned"].values())) for member in document["members"].values())


def reads_of(document: dict, member: str) -> list:
    return document["members"][member]["subscription"]


def topics_read(document: dict) -> list:
    return sorted({t for m in document["members"] for t in reads_of(document, m)})


def copied(document: dict) -> dict:
    return json.loads(json.dumps(document))


def applied(document: dict, change) -> dict:
    """Return the snapshot with a change of the advice applied to it."""
    made = copied(document)
    members = made["members"]
    if change.kind == "members":
        for i in range(change.members - len(members)):
            members[f"new-{i + 1}"] = {"subscription": topics_read(document)}
    elif change.kind == "fewer members":
        for member in change.leaves:
            del members[member]
        assert len(members) == change.members
    elif change.kind == "subscription":
        assert change.topic not in reads_of(made, change.member)
        reads_of(made, change.member).append(change.topic)
    elif change.kind == "partitions":
        assert change.partitions > change.partitions_now == made["topics"][change.topic]
        made["topics"][change.topic] = change.partitions
    return made


def with_one_more_subscription(document: dict):
    """Yield each snapshot in which one member also reads a topic that another member reads."""
    for member in document["members"]:
        for topic in {*topics_read(document)} - {*reads_of(document, member)}:
            made = copied(document)
            reads_of(made, member).append(topic)
            yield made
