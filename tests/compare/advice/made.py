"""Small seeded groups, a change of one made by hand, and what it comes to by counting."""

import json
import random
from itertools import combinations


def document_of(seed: int) -> dict:
    """Up to 5 members and 4 topics; subscriptions differ in two of three; claims are valid."""
    rng = random.Random(seed)
    topics = {f"t{i}": rng.randint(1, 6) for i in range(rng.randint(1, 4))}
    alike = rng.random() < 1 / 3
    members: dict = {}
    for m in range(rng.randint(1, 5)):
        read = [t for t in topics if alike or rng.random() < 0.6]
        members[f"c{m}"] = {"subscription": read, "owned": {}}
    favourite = rng.random() < 0.5
    for topic, count in topics.items():
        readers = [said for said in members.values() if topic in said["subscription"]]
        for number in range(count):
            if readers:
                one = readers[0] if favourite and rng.random() < 0.5 else rng.choice(readers)
                one["owned"].setdefault(topic, []).append(number)
    return {"format": "assay-group/1", "group": "g", "topics": topics, "members": members}


def with_lag(document: dict, seed: int) -> dict:
    """The same with some lag on every partition, of a few much more than of most."""
    rng = random.Random(seed)
    lags = {
        topic: {"partitions": count, "lag": [int(10 * rng.paretovariate(1)) for _ in range(count)]}
        for topic, count in document["topics"].items()
    }
    return document | {"topics": lags}


def without_subscriptions(document: dict, seed: int) -> dict:
    """The same as a console tool shows it: of some members nobody says what they read."""
    rng = random.Random(seed)
    members = {
        m: said | {"subscription": None} if rng.random() < 0.7 else said
        for m, said in document["members"].items()
    }
    return document | {"members": members}


def least_load(document: dict) -> int:
    """The least that the busiest can hold, by Hall's theorem: counted over all sets of members.

    Whatever only some of them read is with them.
    """
    reads = {m: set(said["subscription"]) for m, said in document["members"].items()}
    found = 0
    for size in range(1, len(reads) + 1):
        for some in combinations(reads, size):
            others = set().union(*(reads[m] for m in reads if m not in some))
            theirs = set().union(*(reads[m] for m in some)) - others
            count = sum(document["topics"][t] for t in theirs)
            found = max(found, -(-count // size))
    return found


def load_now(document: dict) -> int:
    return max(sum(map(len, said["owned"].values())) for said in document["members"].values())


def reads_of(document: dict, member: str) -> list:
    return document["members"][member]["subscription"]


def topics_read(document: dict) -> list:
    return sorted({t for m in document["members"] for t in reads_of(document, m)})


def copied(document: dict) -> dict:
    return json.loads(json.dumps(document))


def applied(document: dict, change) -> dict:
    """The snapshot in which the change is made, by hand."""
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
    """Each snapshot in which one member reads one topic more that somebody reads."""
    for member in document["members"]:
        for topic in {*topics_read(document)} - {*reads_of(document, member)}:
            made = copied(document)
            reads_of(made, member).append(topic)
            yield made
