"""Drawn groups: within their limits, of every kind, the same for a seed."""

from itertools import islice

from compare.samples.drawn import drawn


def test_drawn_groups_are_within_their_limits_and_of_every_kind():
    groups = list(islice(drawn(3), 400))
    assert [g.to_dict() for g in islice(drawn(3), 20)] == [g.to_dict() for g in groups[:20]]
    assert {len(g.members) for g in groups} == set(range(2, 9))
    assert max(g.n_partitions for g in groups) <= 36
    rivals = [g for g in groups if len(g.claims.member) > len(set(
        zip(g.claims.topic.tolist(), g.claims.partition.tolist(), strict=True)))]  # fmt: skip
    assert rivals
    assert any(len(set(g.generation.tolist())) > 1 for g in groups)
    assert any((g.owner < 0).all() for g in groups)
    assert any((g.owner >= 0).all() for g in groups)
