"""KIP-169's example and what its text leaves open."""

import pytest

from groups import Refused
from groups.tiers import load_of
from heuristics import assign
from tests.optimal.small_groups import group_of


def with_lag(subscriptions, **lags):
    topics = {topic: {"partitions": len(lag), "lag": lag} for topic, lag in lags.items()}
    return group_of(topics, subscriptions)


def lag_records(assignment):
    return load_of(assignment, assignment.group.lag_records)


def test_the_table_of_the_proposal_holds_but_for_round_robin():
    group = with_lag({"c0": ["t0"], "c1": ["t0"]}, t0=[100_000, 60_000, 50_000])
    ranged = assign(group, "range")
    assert ranged.to_dict() == {"c0": {"t0": [0, 1]}, "c1": {"t0": [2]}}
    assert lag_records(ranged) == [160_000, 50_000]
    by_lag = assign(group, "kip-169-lag")
    assert by_lag.to_dict() == {"c0": {"t0": [0]}, "c1": {"t0": [1, 2]}}
    assert lag_records(by_lag) == [100_000, 110_000]
    # The table is wrong about round robin.
    assert lag_records(assign(group, "roundrobin")) == [150_000, 60_000]


def test_totals_start_anew_with_each_topic():
    members = {"a": ["t", "u"], "b": ["t", "u"]}
    assignment = assign(with_lag(members, t=[9], u=[9]), "kip-169-lag")
    assert assignment.to_dict() == {"a": {"t": [0], "u": [0]}, "b": {}}


def test_fewest_partitions_come_before_least_lag():
    members = {"a": ["t"], "b": ["t"]}
    assignment = assign(with_lag(members, t=[1, 90, 1, 1]), "kip-169-lag")
    assert assignment.to_dict() == {"a": {"t": [1, 3]}, "b": {"t": [0, 2]}}


def test_least_lag_decides_among_some_that_have_fewest_not_only_among_all():
    members = {"a": ["t"], "b": ["t"], "c": ["t"]}
    assignment = assign(with_lag(members, t=[50, 40, 30, 20, 10]), "kip-169-lag")
    assert assignment.to_dict() == {"a": {"t": [0]}, "b": {"t": [1, 4]}, "c": {"t": [2, 3]}}


def test_an_unknown_lag_is_refused_where_somebody_reads_its_topic():
    group = with_lag({"a": ["t", "u"]}, t=[1, 2], u=[3, None, None])
    with pytest.raises(Refused, match=r"^the lag of u-1 is unknown \(and of 1 more\)$"):
        assign(group, "kip-169-lag")
    assert assign(group.with_unknown_lag(0), "kip-169-lag").is_valid
    with pytest.raises(Refused, match=r"^the lag of t-0 is unknown$"):
        assign(group_of({"t": 1}, {"a": ["t"]}), "kip-169-lag")
    assert assign(with_lag({"a": ["t"]}, t=[1], u=[None]), "kip-169-lag").is_valid
