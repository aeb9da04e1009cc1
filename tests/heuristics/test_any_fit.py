"""The twelve rules of elastic groups, on groups small enough to follow by hand."""

import random

from heuristics.any_fit import RULES, any_fit


def plan(rule: str, speeds: list[int], owner: list[int] | None = None) -> list[int]:
    return any_fit(RULES[rule], speeds, 10, owner or [-1] * len(speeds), range(len(speeds)))


def test_each_rule_of_bin_packing_packs_one_list_in_its_own_way():
    speeds = [6, 7, 3, 4, 2, 8]
    assert {rule: plan(rule, speeds) for rule in ("NF", "FF", "BF", "WF")} == {
        "NF": [0, 1, 1, 2, 2, 3],
        "FF": [0, 1, 0, 2, 1, 3],
        "BF": [0, 1, 1, 0, 2, 2],
        "WF": [0, 1, 0, 2, 2, 3],
    }
    # The fastest first: 8, 7, 6, 4, 3, 2.
    assert {rule: plan(rule, speeds) for rule in ("NFD", "FFD", "BFD", "WFD")} == {
        "NFD": [2, 1, 3, 2, 3, 0],
        "FFD": [2, 1, 1, 2, 0, 0],
        "BFD": [2, 1, 1, 2, 0, 0],
        "WFD": [2, 1, 1, 2, 0, 0],
    }


def test_a_new_member_is_the_one_that_holds_the_partition_or_the_lowest_that_is_free():
    assert plan("FF", [6, 6, 6], [4, 4, -1]) == [4, 0, 1]
    assert plan("NF", [6, 6], [3, 0]) == [3, 0]


def test_a_modified_rule_sends_the_slowest_away_and_keeps_the_fastest():
    # Member 1 (9 in all) comes first and keeps 5 and 4. 1 of member 0 fits there, 3 does not.
    assert plan("MWF", [5, 4, 3, 1, 4], [1, 1, 0, 0, 0]) == [1, 1, 0, 1, 0]
    # By the fastest partition member 0 (6) comes first, although member 1 has more in all: 1 fits
    # beside 6, 4 does not.
    assert plan("MBFP", [6, 5, 4, 1], [0, 1, 1, 1]) == [0, 1, 1, 0]
    assert plan("MBF", [6, 5, 4, 1], [0, 1, 1, 1]) == [0, 1, 1, 1]


def test_what_a_member_cannot_keep_comes_last_the_fastest_first():
    # 6 and 5 do not fit: 5 and what follows it, 4 too, are packed at the end.
    assert plan("MWF", [6, 5, 4], [0, 0, 0]) == [0, 1, 1]
    assert plan("MBF", [6, 5, 4], [0, 0, 0]) == [0, 1, 0]
    assert plan("MWF", [6, 5, 5], [0, 0, -1]) == [0, 1, 1]


def test_no_rule_fills_a_member_above_its_capacity_except_by_one_partition():
    rng = random.Random(1)
    for _ in range(200):
        speeds = [rng.randint(0, 12) for _ in range(12)]
        owner = [rng.randint(-1, 5) for _ in speeds]
        order = rng.sample(range(12), 12)
        for name, rule in RULES.items():
            found = any_fit(rule, speeds, 10, owner, order)
            for member in set(found):
                mine = [speeds[p] for p in range(12) if found[p] == member]
                assert min(found) >= 0
                assert sum(mine) <= 10 or len(mine) == 1, name


def test_modified_rules_leave_alone_what_fits_in_as_few_members_as_there_are():
    speeds, owner = [6, 6, 7], [0, 1, 2]
    for name, rule in RULES.items():
        if rule.keeps:
            assert any_fit(rule, speeds, 10, owner, range(3)) == owner, name
