"""Patterns of KIP-848 subscriptions: matched where Python and RE2 agree, and in a short time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.capture.topics import matching
from tests.growth import calls

NAMES = ["audit", "orders", "orders-v1", "orders.eu", "t0", "t0x", "t1"]


@pytest.mark.parametrize(
    ("pattern", "matched"),
    [
        ("t[0-9]", ["t0", "t1"]),
        ("^t.*", ["t0", "t0x", "t1"]),
        ("(^t[0-9])", ["t0", "t1"]),
        (r"(^orders(\..*)?)|(^t0$)", ["orders", "orders.eu", "t0"]),
        ("(?:t0|t1)x?", ["t0", "t0x", "t1"]),
        (r"\w+[.-]\w+", ["orders-v1", "orders.eu"]),
        (r"t\d", ["t0", "t1"]),
        ("[^t][a-z]*", ["audit", "orders"]),
        ("t0|", ["t0"]),
        ("nothing", []),
    ],
)
def test_a_pattern_matches_whole_names(pattern, matched):
    assert matching(pattern, NAMES) == tuple(matched)


@pytest.mark.parametrize(
    "pattern",
    [
        "(?i)T0", r"\p{L}+", "[[:alpha:]]+", "t{1,2}", "(a+)+", "t*?", "a++", r"\x41", r"(a)\1",
        "(?=t)t0", "t[", "(t", "[9-0]", "t\n", "a" * 301, "(((((t)))))",
        ".*a.*b.*c.*", "(a|b)" * 30, "a?" * 30,
    ],
)  # fmt: skip
def test_of_a_pattern_that_may_mean_something_else_or_take_long_nothing_is_known(pattern):
    assert matching(pattern, NAMES) is None


@given(st.text("ta0.*+?()[]|^$\\-dw", max_size=40))
def test_every_pattern_is_answered(pattern):
    names = ["a" * 249, "t" * 248 + "0", *NAMES]
    found = matching(pattern, names)
    assert found is None or set(found) <= set(names)


@pytest.mark.parametrize("pattern", ["(" * 300, "(a(a(a(" * 42, "[" * 300, "a|" * 150, "(a*" * 99])
def test_looking_at_a_hostile_pattern_takes_little_work(pattern):
    assert calls(matching, pattern, NAMES) < 100_000
