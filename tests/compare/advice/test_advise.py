"""Every change that is advised is made, and what it then comes to is counted by other means."""

import json
import random
from fractions import Fraction
from itertools import combinations

import pytest

from assay import Assignment, Group, advise
from compare.advice.advice import CHEAPEST_FIRST

SEEDS = range(300)


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


def least_share(document: dict, topic: str, was: int) -> Fraction:
    """The least of today's partitions that the busiest can have: every way to deal is tried."""
    members, topics = list(document["members"]), document["topics"]
    states = {(Fraction(0),) * len(members)}
    for name, count in topics.items():
        part = Fraction(was, count) if name == topic else Fraction(1)
        readers = [i for i, m in enumerate(members) if name in reads_of(document, m)]
        for _ in range(count if readers else 0):
            states = {
                (*loads[:i], loads[i] + part, *loads[i + 1 :]) for loads in states for i in readers
            }
    return min(max(loads) for loads in states)


def reads_of(document: dict, member: str) -> list:
    return document["members"][member]["subscription"]


def topics_read(document: dict) -> list:
    return sorted({t for m in document["members"] for t in reads_of(document, m)})


def applied(document: dict, change) -> dict:
    """The snapshot in which the change is made, by hand."""
    made = json.loads(json.dumps(document))
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


def load_now(document: dict) -> int:
    return max(sum(map(len, said["owned"].values())) for said in document["members"].values())


@pytest.fixture(scope="module")
def advised() -> list:
    documents = [one for one in map(document_of, SEEDS) if topics_read(one)]
    return [
        (document, advise(Group.from_dict(document), assignors=(), time_limit=None))
        for document in documents
    ]


def test_each_kind_of_change_is_advised_for_many_groups(advised):
    kinds = [change.kind for _, found in advised for change in (*found.changes, *found.same_peak)]
    for kind in set(CHEAPEST_FIRST) - {"assignor"}:
        assert kinds.count(kind) >= 20, kind


def test_the_least_now_is_what_counting_says(advised):
    for document, found in advised:
        assert found.now == load_now(document)
        assert found.best.value == found.best.bound == least_load(document)


def test_a_change_that_is_made_comes_to_what_was_promised(advised):
    for document, found in advised:
        for change in (*found.changes, *found.same_peak):
            made = applied(document, change)
            assert change.after.proved
            if change.kind == "partitions":
                if sum(made["topics"].values()) > 12 or len(made["members"]) > 3:
                    continue
                least = least_share(made, change.topic, change.partitions_now)
                assert Fraction(change.after.value, change.after.per) == least
            else:
                assert change.after.value == least_load(made)
            before = load_now(document) if change.kind == "rebalance" else least_load(document)
            assert Fraction(change.before.value, change.before.per) == before


def test_the_assignment_of_a_change_is_valid_and_moves_what_is_said(advised):
    for document, found in advised:
        for change in (*found.changes, *found.same_peak):
            group = Group.from_dict(applied(document, change))
            there = Assignment.from_dict(group, change.assignment.to_dict())
            assert there.is_valid
            assert len(there.moved) == change.moves == len(change.to_dict()["moves"])
            if change.kind != "partitions":
                assert there.loads.max() == change.after.value


def test_nothing_is_advised_that_promises_nothing_and_the_greatest_gain_comes_first(advised):
    for _, found in advised:
        gains = [change.at_least for change in found.changes]
        assert all(gain > 0 for gain in gains)
        assert gains == sorted(gains, reverse=True)
        assert all(change.at_least == 0 for change in found.same_peak)


def test_no_gain_is_said_only_of_what_gains_nothing(advised):
    for document, found in advised:
        least = least_load(document)
        kinds = {change.kind for change in found.changes}
        said = {one.kind: one for one in found.no_gain}
        assert not kinds & said.keys()
        assert kinds | said.keys() == {"rebalance", "subscription", "members", "partitions"}
        if "rebalance" in said:
            assert load_now(document) == least
        if "subscription" in said and said["subscription"].proved:
            for m in document["members"]:
                for t in set(topics_read(document)) - {*reads_of(document, m)}:
                    made = json.loads(json.dumps(document))
                    reads_of(made, m).append(t)
                    assert least_load(made) == least
        if "members" in said:
            assert said["members"].proved
            assert least <= 1


def test_no_other_subscription_gains_more(advised):
    for document, found in advised:
        for change in found.changes:
            if change.kind != "subscription":
                continue
            for m in document["members"]:
                for t in set(topics_read(document)) - {*reads_of(document, m)}:
                    made = json.loads(json.dumps(document))
                    reads_of(made, m).append(t)
                    assert least_load(made) >= change.after.value


def test_fewer_members_more_would_not_do_and_fewer_members_less_would(advised):
    for document, found in advised:
        now = len(document["members"])
        for change in found.changes:
            if change.kind == "members" and change.members - now > 1:
                made = applied(document, change)
                made["members"].popitem()
                assert least_load(made) == change.before.value
        for change in found.same_peak:
            made = applied(document, change)
            made["members"].popitem()
            assert not made["members"] or least_load(made) > change.before.value
