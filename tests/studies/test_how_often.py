"""How often: the services that are drawn, their weeks, and the rates with their intervals."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from heuristics import Assignor, catalogue
from heuristics.time_limit import TimeLimit
from optimal import solve
from studies.how_often.rate import AMONG, SHARES, counts_of, play, rate
from studies.how_often.rate import AMONG_KINDS as KIND_NAMES
from studies.how_often.service import KINDS, MOST, TOPICS, service
from studies.how_often.week import WHAT, Week, judged, weeks
from studies.page import read
from tests.heuristics.assignors import misbehaving

PAGE = Path(__file__).parents[2] / "docs" / "findings" / "how-often.md"
RECORDS = read(PAGE.with_suffix(".csv"))
SERVICES = [service(1, number) for number in range(40)]


def reads(stage):
    return [set(said["subscription"]) for said in stage["members"].values()]


def is_static(service):
    return all("instance_id" in said for said in service.stages[0]["members"].values())


def is_alike(stage):
    return len({*map(frozenset, reads(stage))}) == 1


def counted(**kinds):
    """What was counted in services: of each kind rebalances, and in how many what is wrong."""
    columns = {
        kind: pd.DataFrame({"rebalances": rebalances, "hang": events})
        for kind, (rebalances, events) in kinds.items()
    }
    return pd.concat(columns)


def test_the_same_seed_and_number_are_the_same_week():
    assert [service(1, number) for number in range(40)] == SERVICES
    assert service(2, 0) != SERVICES[0]


def test_services_are_ordinary():
    for one in SERVICES:
        first = one.stages[0]
        assert 2 <= len(first["members"]) <= min(MOST, max(first["topics"].values()))
        for stage in one.stages:
            assert 1 <= len(stage["topics"]) <= 6
            assert all(3 <= count <= 100 for count in stage["topics"].values())
            assert set.union(*reads(stage)) == stage["topics"].keys()
    assert max(len(one.stages[0]["members"]) for one in SERVICES) > 20


def test_the_page_says_how_many_services_have_one_topic():
    assert "three in ten of the services have one" in TEXT
    without_roles = SHARES["alike"] + SHARES["new-topic"]
    assert without_roles * TOPICS[0] == pytest.approx(0.3, abs=0.01)


def test_subscriptions_differ_never_or_in_one_deployment_or_by_role():
    by_kind = {kind: [s for s in SERVICES if s.kind == kind] for kind in KINDS}
    assert all(is_alike(stage) for one in by_kind["alike"] for stage in one.stages)
    for one in by_kind["new-topic"]:
        kinds = [is_alike(stage) for stage in one.stages]
        changes = sum(a != b for a, b in pairwise(kinds))
        assert changes in (0, 2)  # before, during and after the one deployment
        assert len(one.stages[-1]["topics"]) == len(one.stages[0]["topics"]) + 1
    assert not any(is_alike(one.stages[0]) for one in by_kind["roles"])
    shared = [set.intersection(*reads(one.stages[0])) for one in by_kind["roles"]]
    assert all(shared)


def test_where_roles_overlap_no_topic_is_read_by_all_and_each_by_some():
    for number in range(20):
        first = service(1, number, "overlapping").stages[0]
        assert not set.intersection(*reads(first))
        assert set.union(*reads(first)) == first["topics"].keys()
        assert not is_alike(first)


def test_a_rolling_restart_leaves_the_number_of_members_and_replaces_each():
    one = next(s for s in SERVICES if s.kind == "alike" and not is_static(s))
    before, after = (one.stages[at]["members"].keys() for at in (0, -1))
    assert not before & after  # at least one deployment a week
    for a, b in pairwise(one.stages):
        assert a != b


def test_a_static_member_that_restarts_with_the_same_topics_costs_no_rebalance():
    static = [*filter(is_static, SERVICES)]
    assert static
    for one in static:
        for a, b in pairwise(one.stages):
            said = [(len(stage["members"]), reads(stage), stage["topics"]) for stage in (a, b)]
            assert said[0] != said[1]


def test_who_stays_claims_what_the_last_plan_gave_it_and_who_is_new_nothing():
    week = Week(SERVICES[0])
    assert not (week.group.owner >= 0).any()
    last = None
    held: dict[tuple[str, int], str] = {}
    while (group := week.group) is not None:
        for p, m in enumerate(group.owner.tolist()):
            key = group.topics[group.topic[p]], int(group.number[p])
            there = held.get(key) in group.members
            assert (group.members[m] if m >= 0 else None) == (held[key] if there else None)
        if last is not None:
            new = [g for n, g in zip(group.members, group.generation, strict=True)
                   if n not in last.members]  # fmt: skip
            assert set(new) <= {-1}
        made = solve(group).assignment
        held = {
            (group.topics[group.topic[p]], int(group.number[p])): group.members[m]
            for p, m in enumerate(made.owner.tolist())
        }
        last = group
        week.follow(made)


def test_after_a_hang_the_leader_is_gone_until_the_next_rebalance_of_the_week():
    one = next(s for s in SERVICES if len(s.stages[1]["members"]) > 3)
    week = Week(one)
    week.follow(solve(week.group).assignment)
    before = week.group
    week.lose_leader()
    (leader,) = set(before.members) - set(week.group.members)
    assert before.generation[before.members.index(leader)] >= 0  # it had been there before
    assert (week.group.owner >= 0).sum() < (before.owner >= 0).sum()
    week.follow(solve(week.group).assignment)
    assert week.group.members == tuple(one.stages[2]["members"])
    if leader in week.group.members:
        back = week.group.members.index(leader)
        assert week.group.generation[back] == -1
        assert back not in week.group.owner


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "alike", "differing"),
    [
        ("roundrobin", [0, 0, 0, 0, 0, 99], [0, 0, 0, 0, 298, 0]),
        ("kip-54-sticky", [0, 0, 0, 0, 0, 38], [0, 0, 0, 0, 0, 100]),
        ("kip-54-fairest", [0, 0, 0, 0, 74, 0], [0, 0, 0, 0, 235, 0]),
    ],
)
def test_what_is_counted_of_a_small_fleet_is_pinned(name, alike, differing):
    with TimeLimit(10) as limit:
        found = weeks(SERVICES[:12], name, limit, limit)
    for kind, expected in (("alike", alike), ("differing", differing)):
        assert [sum(week.tallies[kind][what] for week in found) for what in WHAT] == expected
    for week in found:
        kinds = [is_alike(stage) for stage in week.service.stages]
        asked = [week.tallies[kind]["rebalances"] for kind in ("alike", "differing")]
        assert asked == [kinds.count(True), kinds.count(False)]


@pytest.mark.exhaustive
def test_what_hangs_raises_or_is_invalid_is_counted_and_the_week_goes_on(monkeypatch):
    bad = {
        "hangs": misbehaving.loop,
        "stumbles": misbehaving.stumble,
        "twice": misbehaving.hand_out_twice,
    }
    known = {n: Assignor(n, "written", "a test", None, f) for n, f in bad.items()}
    monkeypatch.setattr(catalogue, "WRITTEN", {**catalogue.WRITTEN, **known})
    short = next(one for one in SERVICES if len(one.stages[0]["members"]) == 2)
    short = replace(short, stages=short.stages[:1])
    with TimeLimit(0.2) as limit:
        (hung,) = weeks([short], "hangs", limit, limit)
        (raised,) = weeks([short], "stumbles", limit, limit)
        (invalid,) = weeks([short], "twice", limit, limit)
    for week, what in ((raised, "exception"), (invalid, "invalid")):
        assert sum(week.tallies.values(), Counter()) == {"rebalances": 1, what: 1}
    # One leader after the other, until nobody is left.
    asked = sum(len(stage["members"]) for stage in short.stages)
    assert sum(hung.tallies.values(), Counter()) == {"rebalances": asked, "hang": asked}


def test_who_beats_the_optimum_is_an_error_of_ours():
    group = Week(SERVICES[0]).group
    with TimeLimit(5) as limit:
        made = limit.plan(group, "kip-54-sticky")
    with pytest.raises(RuntimeError, match="better than the optimum: service-0-0"):
        judged(made, [10**9, 0])


@pytest.mark.parametrize(
    ("services", "events", "per_million", "low", "high"),
    [
        pytest.param(300, 0, 0, 0, 3 / 300 / 10 * 1e6, id="the rule of three over services"),
        # One of 1000: 0.0025% to 0.556%.
        pytest.param(1000, 1, 100, 2.5, 556, id="the interval of Clopper and Pearson"),
    ],
)
def test_few_events_have_a_known_interval(services, events, per_million, low, high):
    hangs = [1] * events + [0] * (services - events)
    found = rate(counted(alike=([10] * services, hangs)), "hang", {"alike": 1.0}, 1)
    assert found.per_million == pytest.approx(per_million)
    assert found.low == pytest.approx(low, rel=0.5)
    assert found.high == pytest.approx(high, rel=0.15 if events else 0.1)


def test_intervals_hold_the_truth_as_often_as_they_say():
    rng, held = np.random.default_rng(7), 0
    for trial in range(200):
        sick = rng.random(200) < 0.05
        events = np.where(sick, rng.integers(1, 4, 200), 0).tolist()
        found = rate(counted(alike=([20] * 200, events)), "hang", {"alike": 1.0}, trial)
        held += found.low <= 0.05 * 2 / 20 * 1e6 <= found.high
    assert held >= 186  # 95% of 200 and 2 less for chance


def test_kinds_count_by_their_shares_and_not_by_how_many_were_played():
    kinds = counted(alike=([10] * 100, [0] * 100), roles=([30] * 50, [3] * 50))
    found = rate(kinds, "hang", {"alike": 0.5, "roles": 0.5}, 1)
    assert found.per_million == pytest.approx(3 / 40 * 1e6)
    assert found.low < found.per_million < found.high
    only = rate(kinds, "hang", {"roles": 1.0}, 1)
    assert (only.per_million, only.services) == (100_000, 50)

    with pytest.raises(ValueError, match="no service was played of a kind that has a share"):
        rate(kinds, "hang", {"new-topic": 1.0}, 1)


def test_a_study_that_was_stopped_goes_on_where_its_file_ends(tmp_path):
    for services in (3, 5):
        play(["roundrobin"], services, tmp_path)
    counts = counts_of(pd.read_csv(tmp_path / "roundrobin.csv"))
    assert counts.groupby("kind").size().to_dict() == {
        "alike": 2, "new-topic": 1, "overlapping": 5, "roles": 2
    }  # fmt: skip
    mixed = counts.drop("overlapping").rebalances.sum()
    assert mixed == sum(len(one.stages) for one in SERVICES[:5])


def test_each_assignor_has_a_record_of_each_thing_that_may_happen():
    by_name: dict[tuple[str, ...], list[str]] = {}
    for one in RECORDS:
        name = one["client"], one["assignor"], one["version"]
        by_name.setdefault(name, []).append(one["what"])
        assert float(one["low"]) <= float(one["per_million"]) <= float(one["high"])
        assert int(one["affected"]) <= min(int(one["services"]), int(one["events"]))
    assert all(tuple(what) == WHAT for what in by_name.values())
    assert ("kafka-java", "sticky", "4.4.0") in by_name


STICKY = ("sticky", "cooperative-sticky", "uniform")
TEXT = " ".join(PAGE.read_text().split())
PARTS = read(PAGE.with_name("how-often-parts.csv"))


def parts(of, **asked):
    """Return the records of a part that have these values."""
    return [r for r in PARTS if r["of"] == of and asked.items() <= r.items()]


def test_the_page_says_what_the_records_say_of_equal_subscriptions():
    assert "If all members read the same topics there is nothing to worry about" in TEXT
    alike = [r for r in parts(AMONG["alike"]) if r["assignor"] in STICKY]
    assert len({(r["client"], r["assignor"], r["what"]) for r in alike}) > 6 * 6
    assert not any(int(r["events"]) for r in alike)


def test_the_page_says_what_the_records_say_of_kafkas_hangs():
    rows = [r for r in RECORDS if r["client"] == "kafka-java" and r["what"] == "hang"
            and r["assignor"] in STICKY]  # fmt: skip
    assert sum(int(r["events"]) for r in rows) == 0
    assert len({r["version"] for r in rows}) == 3
    played = sum(int(r["rebalances"]) for r in rows)
    assert f"in the {round(played, -4):,} rebalances that were played" in TEXT
    overlapping = {"client": "kafka-java", "version": "4.4.0", "what": "hang"}
    newest = parts(KIND_NAMES["overlapping"], **overlapping)
    hung, among = (sum(int(r[key]) for r in newest) for key in ("events", "rebalances"))
    assert f"4.4.0 hung {hung} times in {round(among, -3):,} rebalances" in TEXT


def test_the_page_says_what_the_records_say_of_needless_moves_and_missed_balance():
    found = {
        (r["client"], r["assignor"], r["version"], r["what"]): float(r["per_million"])
        for r in parts(AMONG["differing"])
    }
    oldest = ("kafka-java", "sticky", "2.8.2")
    assert "(`sticky` of 2.8.2 in two thirds), `uniform` in a tenth, franz-go" in TEXT
    assert found[*oldest, "needless_moves"] / 1e6 == pytest.approx(2 / 3, abs=0.03)
    assert "in 1 to 2% of rebalances (`sticky` of 2.8.2 in 6%)" in TEXT
    assert found[*oldest, "missed_balance"] / 1e6 == pytest.approx(0.06, abs=0.005)
    for (client, assignor, version, what), often in found.items():
        if assignor not in STICKY or (client, assignor, version) == oldest:
            continue
        if what == "needless_moves":
            expected = {"kafka-broker": 0.1, "franz-go": 0}.get(client, 1 / 3)
            assert often / 1e6 == pytest.approx(expected, abs=0.03), client
        elif what == "missed_balance" and client == "franz-go":
            assert often == 0
        elif what == "missed_balance":
            assert 0.01 <= often / 1e6 <= 0.02, client
    apart = parts(KIND_NAMES["overlapping"], what="missed_balance")
    assert "if no topic is read by all, Kafka's miss it in one of twelve" in TEXT
    assert len(apart) > 6
    for r in apart:
        assert float(r["per_million"]) / 1e6 == pytest.approx(1 / 12, abs=0.01), r


def test_the_page_says_what_the_records_say_of_librdkafkas_deaths():
    (died,) = parts(AMONG["differing"], client="librdkafka", what="exception")
    said = (
        f"{died['events']} of {int(died['rebalances']):,} rebalances with differing "
        f"subscriptions, in {died['affected']} of {died['services']} services"
    )
    assert said in TEXT
