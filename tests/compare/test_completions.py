"""What is said of a group with unknown subscriptions holds for every way to complete them."""

from __future__ import annotations

import re
from itertools import chain, combinations, product

import numpy as np
import pytest

from compare.fleet_scores import score_fleet_current
from compare.judged import judge
from compare.limits import beyond
from compare.scores import score_current, score_plan
from groups import Assignment, Group, values
from groups.fleet import Fleet
from groups.unknown import reading_least, settled
from optimal import solve
from optimal.solve import solve_fleet
from tests.optimal.small_groups import document, group_of

TIERS = ("balance", "stickiness")


def drawn(random: np.random.Generator) -> Group:
    """Return a small random group, some of whose subscriptions are unknown."""
    topics = {f"t{t}": int(random.integers(1, 4)) for t in range(random.integers(1, 4))}
    members = {}
    free = [(topic, p) for topic, count in topics.items() for p in range(count)]
    for m in range(int(random.integers(2, 4))):
        owned: dict[str, list[int]] = {}
        for pair in tuple(free):
            if random.random() < 0.35:
                free.remove(pair)
                owned.setdefault(pair[0], []).append(pair[1])
        known = random.random() < 0.4
        read = [topic for topic in topics if random.random() < 0.7] if known else None
        members[f"m{m}"] = {"subscription": read, "owned": owned}
    return Group.from_dict(document(topics, members))


def completions(group: Group) -> list[Group]:
    """Return the group for each way in which its members may read topics in demand."""
    least, ways = reading_least(group), []
    for m in np.flatnonzero(~group.subscription_known).tolist():
        may = sorted({*group.topics_in_demand.tolist()} - {*least.subscription(m).tolist()})
        some = chain.from_iterable(combinations(may, size) for size in range(len(may) + 1))
        ways.append([[(m, topic) for topic in topics] for topics in some])
    return [reading_least(group, [*chain(*pairs)]) for pairs in product(*ways)]


def test_a_subscription_is_settled_just_where_all_ways_of_reading_agree_on_it() -> None:
    random, seen = np.random.default_rng(11), set()
    for _ in range(100):
        group = drawn(random)
        if not len(group.claims.member):
            continue
        found, ways = settled(group), completions(group)
        for m, known in enumerate(group.subscription_known.tolist()):
            readings = {tuple(way.subscription(m).tolist()) for way in ways}
            assert bool(found.subscription_known[m]) == (known or len(readings) == 1)
            if found.subscription_known[m]:
                assert readings == {tuple(found.subscription(m).tolist())}
            seen.add((known, len(readings) == 1))
    assert seen == {(True, True), (False, True), (False, False)}


@pytest.mark.exhaustive
def test_a_sure_verdict_and_every_bound_hold_whoever_reads_what() -> None:
    random, seen = np.random.default_rng(7), set()
    for _ in range(150):
        group = drawn(random)
        (judged,) = judge([group])
        verdict, reference = judged.verdict, judged.reference
        seen.add((verdict.says, reference is not None and reference.status == "optimal"))
        for true in completions(group):
            optimum = tuple(term.value for term in solve(true).terms)
            now = Assignment.current(true)
            if reference is not None:
                for term, value in zip(reference.terms, optimum, strict=True):
                    assert term.bound is None or term.bound <= value
                    assert value <= term.value
                    if term.value != value:
                        break
                if reference.status == "optimal":
                    assert tuple(term.value for term in reference.terms) == optimum
            if judged.target is not None:
                assert Assignment(true, judged.target.owner).is_valid
            if verdict.says == "improvable" and verdict.sure:
                assert values(now, TIERS) > optimum
            if verdict.says == "as good as can be":
                assert values(now, TIERS) == optimum
    assert {says for says, _ in seen} >= {"improvable", "as good as can be", "not valid"}


def test_a_group_is_scored_balanced_or_not_just_where_all_ways_of_reading_agree_on_it() -> None:
    random, seen = np.random.default_rng(5), set()
    every = (drawn(random) for _ in range(150))
    groups = [group for group in every if len(group.claims.member)]
    worlds = [reading_least(group) for group in groups]
    most = [group.with_equal_subscriptions() for group in groups]
    solution = solve_fleet(Fleet.of(worlds))
    by_columns = score_fleet_current(solution, Fleet.of(most)).facts
    for at, group in enumerate(groups):
        row = score_current(worlds[at], solution.solution(at), most[at])
        ways = [Assignment.current(true) for true in completions(group)]
        assert {now.is_valid for now in ways} == {row.valid}
        said = {now.balanced() for now in ways}
        assert row.balanced == (said.pop() if row.valid and len(said) == 1 else None)
        told = by_columns["valid"].tolist()[at], by_columns["balanced"].tolist()[at]
        assert told == (row.valid, row.balanced)
        seen.add((row.balanced, group.subscription_known.all()))
    assert seen >= {(True, False), (False, False), (None, False), (True, True)}


def test_a_plan_is_valid_and_within_its_excess_for_all_ways_of_reading_or_says_who_has_to_read():
    random, seen = np.random.default_rng(9), set()
    for _ in range(90):
        group = drawn(random)
        (judged,) = judge([group])
        ways = completions(group)
        bests = [solve(true) for true in ways]
        for _ in range(4 if judged.reference is not None else 0):
            most = group.with_equal_subscriptions()
            readers = [most.subscribers(topic) for topic in range(len(most.topics))]
            owner = np.array(
                [random.choice(readers[t]) if len(readers[t]) else -1 for t in most.topic],
                np.int32,
            )
            row = score_plan(group, Assignment(group, owner), judged.reference, "plan")
            plans = [Assignment(true, owner) for true in ways]
            valid = {plan.is_valid for plan in plans}
            seen.add((row.status, row.valid))
            if row.status == "refused":
                pairs = re.findall(r"(m\d) reads (t\d)", row.reason)
                for plan, true in zip(plans, ways, strict=True):
                    found = all(
                        topic in true.to_dict()["members"][m]["subscription"] for m, topic in pairs
                    )
                    assert plan.is_valid == found or (found and " more" in row.reason)
                continue
            assert valid == {row.valid}
            for best in bests if row.valid else ():
                for term, least in zip(row.terms, best.terms, strict=True):
                    more = term.value - least.value
                    low, high = (
                        term.excess if isinstance(term.excess, tuple) else (term.excess,) * 2
                    )
                    assert term.excess is None or low <= more <= (more if high is None else high)
                    if term.excess != 0:
                        break
    assert seen >= {("refused", None), ("scored", True)}


def test_a_limit_is_kept_or_broken_whoever_reads_what_if_that_is_said() -> None:
    """A limit of balance let pass any peak lag where balance depended on who reads what."""
    random, seen = np.random.default_rng(13), set()
    tiers = ("balance", "peak_lag", "stickiness")
    for _ in range(300):
        document = drawn(random).to_dict()
        for topic, partitions in document["topics"].items():
            lag = random.integers(0, 9, partitions).tolist()
            document["topics"][topic] = {"partitions": partitions, "lag": lag}
        group = Group.from_dict(document)
        (judged,) = judge([group], tiers)
        if judged.reference is None or not judged.now.is_valid:
            continue
        limited = random.permutation(tiers)[: random.integers(1, 4)].tolist()
        limits = {tier: int(random.choice([0, 2, 30])) for tier in limited}
        row, best = score_current(judged.reference.group, judged.reference), judged.reference.terms
        kept, broken = (
            not beyond([row], limits, best),
            bool(beyond([row], limits, best, sure=True)),
        )
        ways = completions(group)
        for true in ways:
            optimum = solve(true, tiers)
            beyond_it = beyond([score_current(true, optimum)], limits, optimum.terms, sure=True)
            assert not (beyond_it if kept else broken and not beyond_it)
        seen.add((kept, broken, len(ways) > 1))
    assert seen >= {(True, False, True), (False, True, True), (False, False, True)}


def test_a_topic_that_a_known_member_reads_may_be_read_by_the_others() -> None:
    topics, reads = {"t0": 5, "t2": 1, "t3": 1}, {"m0": None, "m1": ["t0", "t2", "t3"]}
    (judged,) = judge([group_of(topics, reads, {"m0": {"t2": [0]}})])
    assert judged.reference is not None
    assert judged.reference.status == "feasible"
    assert [term.bound for term in judged.reference.terms] == [1, None]


@pytest.mark.parametrize(
    ("owned", "known"),
    [
        ([{"t0": [0]}, {"t0": [1, 2]}], True),
        ([{"t0": [0, 1, 2]}, {}], False),
        ([{"t0": [0], "t1": [0]}, {"t0": [1, 2]}], False),
        ([{"t0": [0], "t1": [0]}, {"t0": [1, 2], "t1": [1]}], True),
    ],
)
def test_subscriptions_are_known_where_everybody_holds_a_part_of_every_topic(
    owned: list[dict[str, list[int]]], known: bool
) -> None:
    held = {f"m{m}": of_one for m, of_one in enumerate(owned)}
    group = group_of({"t0": 3, "t1": 2}, dict.fromkeys(held), held)
    found = settled(group)
    assert found.subscription_known.all() == known == (len(completions(group)) == 1)
    assert any("subscription of 2 members" in line for line in found.assumed) == known
