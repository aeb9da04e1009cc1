import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.assignor.rebalance import FORMAT, MOST_BYTES, Claim, Note, claim_after, packed, unpacked

CLAIM = Claim(owned={"t0": [3, 1]}, generation=7, member="c0", holds=True)


def test_what_was_packed_is_unpacked_again():
    assert unpacked(packed(CLAIM), Claim) == CLAIM
    note = Note(generation=3, member="c1", unfinished=True)
    assert unpacked(packed(note), Note) == note


def test_a_thousand_partitions_take_less_than_two_bytes_each():
    """The brokers keep what all members say in one record of about a megabyte."""
    claim = Claim(owned={"orders": list(range(0, 3000, 3))})
    assert len(packed(claim)) < 2000


@pytest.mark.parametrize(
    "user_data",
    [
        None,
        b"",
        b"\x00",
        "text",
        FORMAT,
        FORMAT + b"not compressed",
        FORMAT + zlib.compress(b"not JSON"),
        FORMAT + zlib.compress(b"[" * 100_000),
        FORMAT + zlib.compress(b'{"later": ' + b"[" * 100_000),
        FORMAT + zlib.compress(b'{"later": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
        FORMAT + zlib.compress(b'{"owned": {"t0": [-1]}}'),
        FORMAT + zlib.compress(b'{"owned": {"t0": [2147483648]}}'),
        FORMAT + zlib.compress(b'{"generation": 9007199254740993}'),
        FORMAT + zlib.compress(b'{"owned": {"t0": null}}'),
        FORMAT + zlib.compress(b'{"member": "\xff"}'),
        FORMAT + zlib.compress(b" " * (MOST_BYTES + 1)),
        FORMAT + packed(CLAIM)[1:-9],
        b"\x02" + packed(CLAIM)[1:],
    ],
)
def test_what_is_no_claim_claims_nothing(user_data):
    assert unpacked(user_data, Claim) is None


@given(st.binary())
def test_no_bytes_whatever_raise(user_data):
    for sent in (user_data, FORMAT + user_data, FORMAT + zlib.compress(user_data)):
        found = unpacked(sent, Claim)
        assert found is None or isinstance(found, Claim)


def test_a_later_version_may_say_more():
    sent = FORMAT + zlib.compress(b'{"owned": {"t0": [1]}, "rack": "a"}')
    assert unpacked(sent, Claim) == Claim(owned={"t0": [1]})


def test_a_member_claims_only_what_it_still_subscribes_to():
    said = Claim(owned={"t0": [1], "t1": [2]}, generation=4).about({"t1"}, holds=True)
    assert said == Claim(owned={"t1": [2]}, generation=4, holds=True)


def test_what_came_without_a_note_is_claimed_from_no_generation():
    assert claim_after([("t0", (2, 3))], b"") == Claim(owned={"t0": [2, 3]})
